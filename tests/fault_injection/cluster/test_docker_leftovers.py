"""Does a later tester remove the containers of one that was killed, and only those?"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker
import pytest

from fault_injection.cluster.backends.container_shell import OWNER_LABEL, sweep
from fault_injection.cluster.backends.docker import DockerBackend, problem_with_docker
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.releases import find_release, jars_of
from tests.fault_injection.cluster.conftest import spec_of

pytestmark = [pytest.mark.docker, pytest.mark.broker, pytest.mark.alone]
REPOSITORY = Path(__file__).parents[3]
TESTER = f"""
import sys, threading
sys.path.insert(0, {str(REPOSITORY)!r})
from pathlib import Path
from fault_injection.cluster.backends.docker import DockerBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.releases import jars_of
from tests.fault_injection.cluster.conftest import spec_of
spec = spec_of("0.10.2", (1,))
cluster = Cluster.start(spec, jars_of(spec.release), DockerBackend(), DirectRelay(), Path.cwd())
print("up", flush=True)
threading.Event().wait()
"""


@pytest.fixture(autouse=True)
def daemon() -> None:
    problem = problem_with_docker(None)
    if problem is not None:
        pytest.skip(problem)


@pytest.fixture
def client() -> Iterator[Any]:
    client = docker.from_env()
    yield client
    client.close()


def owned_by(client: Any, pid: int) -> list[str]:  # noqa: ANN401 - untyped library
    filters = {"label": OWNER_LABEL}
    containers = [(one.name, one.labels) for one in client.containers.list(all=True, filters=filters)]
    networks = [(one.name, one.attrs["Labels"]) for one in client.networks.list(filters=filters)]
    return [name for name, labels in containers + networks if f"-{pid}-" in labels[OWNER_LABEL]]


def test_the_containers_of_a_killed_tester_are_swept(client: Any, tmp_path: Path) -> None:  # noqa: ANN401
    ours = DockerBackend()
    with subprocess.Popen([sys.executable, "-c", TESTER], cwd=tmp_path, stdout=subprocess.PIPE) as tester:
        assert tester.stdout is not None
        assert tester.stdout.readline() == b"up\n"
        left_behind = owned_by(client, tester.pid)
        assert len(left_behind) == 4
        assert not set(left_behind) & set(sweep())
        tester.kill()
    assert set(left_behind) <= set(sweep())
    assert owned_by(client, tester.pid) == []
    assert len(owned_by(client, os.getpid())) >= 1
    ours.close()


def test_an_image_that_brings_kafka_is_used_as_it_is(client: Any, tmp_path: Path) -> None:  # noqa: ANN401
    spec = spec_of("0.10.2", broker_ids=(1,))
    first = DockerBackend()
    with Cluster.start(spec, jars_of(find_release("0.10.2")), first, DirectRelay(), tmp_path / "first"):
        pass
    first.close()
    client.images.get("kafka-conformance/kafka:0.10.2.2").tag("kafka-conformance/named", "test")
    named = DockerBackend(kafka_image="kafka-conformance/named:test")
    with Cluster.start(spec, jars_of(spec.release), named, DirectRelay(), tmp_path / "named") as cluster:
        assert {1, 100} == set(cluster.live_brokers)
    named.close()
    client.images.remove("kafka-conformance/named:test")
