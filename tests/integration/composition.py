"""How does a test start a cluster of compose/, ask it as the tester asks its own, and end it?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import docker
import pytest

from fault_injection.cluster.backends.container_image import present_jre
from fault_injection.cluster.backends.container_shell import OWNER_LABEL, owner_of_this_process
from fault_injection.cluster.backends.docker import problem_with_docker
from fault_injection.cluster.composed import COMPOSE_FILE, ZOOKEEPER_PORT_HERE, client_address, composed_spec
from fault_injection.cluster.readiness import brokers_known_to
from fault_injection.releases import MetadataMode, jars_of
from fault_injection.waiting import until
from oracle.vocabulary import BrokerId
from tests.project.documents import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fault_injection.cluster.spec import ClusterSpec

BROKERS = (BrokerId(1), BrokerId(2), BrokerId(3))
UP_DEADLINE_S = 90.0
DOWN = ("down", "-v", "-t", "0")


@dataclass(frozen=True, slots=True)
class Composed:
    """A cluster that docker-compose started, as far as the tester's probes need to know it."""

    command: tuple[str, ...]
    environment: dict[str, str]
    spec: ClusterSpec

    @property
    def zookeeper_address(self) -> str | None:
        return None if self.spec.is_kraft else f"127.0.0.1:{ZOOKEEPER_PORT_HERE}"

    @property
    def addresses(self) -> list[str]:
        return [self.client_address(broker) for broker in BROKERS]

    def client_address(self, broker: int) -> str:
        host, port = client_address(broker)
        return f"{host}:{port}"

    def files(self, broker: int) -> Sequence[str]:
        listed = self._inside(broker, "cd /kafka/data && find . -type f")
        return [name.removeprefix("./") for name in listed.decode().splitlines()]

    def read_file(self, broker: int, path: str, beside: str = "") -> bytes:  # noqa: ARG002 - one log directory
        return self._inside(broker, f"cat /kafka/data/{path}")

    def compose(self, *arguments: str) -> bytes:
        done = subprocess.run([*self.command, *arguments], env=self.environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        return done.stdout

    def _inside(self, broker: int, script: str) -> bytes:
        return self.compose("exec", "-T", f"broker-{broker}", "sh", "-c", script)


def compose_command() -> tuple[str, ...]:
    """Return what docker-compose is called here; without it the test is skipped, and says what to install."""
    if shutil.which("docker-compose") is not None:
        return ("docker-compose",)
    plugin = ["docker", "compose", "version"]
    if shutil.which("docker") is not None and subprocess.run(plugin, capture_output=True, check=False).returncode == 0:
        return ("docker", "compose")
    pytest.skip("docker-compose is not installed: apt-get install docker-compose")


@contextmanager
def composed(folder: str, version: str, mode: MetadataMode) -> Iterator[Composed]:
    """Start a cluster of compose/, wait until every broker knows every other one, and remove it at the end."""
    command = compose_command()
    image = base_image()
    spec = composed_spec(version, mode)
    environment = os.environ | {"JRE_IMAGE": image, "KAFKA_JARS": str(jars_of(spec.release).directory)}
    with tempfile.TemporaryDirectory() as directory:
        files = [ROOT / "compose" / folder / COMPOSE_FILE, Path(directory) / "labels.yaml"]
        files[1].write_text(json.dumps(labelled(spec)), encoding="utf-8")
        named = [word for file in files for word in ("-f", str(file))]
        cluster = Composed((*command, "-p", f"kafka-conformance-{folder}", *named), environment, spec)
        with removed_at_the_end(cluster):
            cluster.compose("up", "-d")
            until(lambda: _is_up(cluster), deadline_s=UP_DEADLINE_S, what="all brokers to know each other")
            yield cluster


def base_image() -> str:
    """Return the image that the nodes run in; without one the test is skipped, and says how one is built."""
    problem = problem_with_docker(None)
    if problem is not None:
        pytest.skip(
            f"{problem}; make jre-image builds a base image without a registry" if "image" in problem else problem
        )
    with closing(docker.from_env()) as client:
        image = present_jre(client, None)
    return image or pytest.skip("no base image with a Java runtime is there: make jre-image")


def labelled(spec: ClusterSpec) -> dict[str, object]:
    """Return what is laid over a composed cluster, so that it is swept away if this process cannot remove it."""
    labels = {"labels": {OWNER_LABEL: owner_of_this_process()}}
    return {"services": {node.name: labels for node in spec.nodes}, "networks": {"default": labels}}


@contextmanager
def removed_at_the_end(cluster: Composed) -> Iterator[None]:
    """Remove a cluster; that it cannot be removed does not hide what failed before."""
    try:
        yield
    except BaseException as failure:
        try:
            cluster.compose(*DOWN)
        except AssertionError as error:
            failure.add_note(f"besides, the cluster could not be removed: {error}")
        raise
    cluster.compose(*DOWN)


def _is_up(cluster: Composed) -> bool:
    return all((brokers_known_to(address) or frozenset()) == frozenset(BROKERS) for address in cluster.addresses)
