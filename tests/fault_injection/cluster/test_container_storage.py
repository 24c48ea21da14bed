"""Is a container stopped by a full or read-only volume, and is what it wrote there still there when it is gone?"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import docker
import pytest

from fault_injection.cluster.backends import container_storage
from fault_injection.cluster.backends.container_files import archive, put_file
from fault_injection.cluster.backends.container_image import LOCAL_JRE_IMAGE
from fault_injection.cluster.backends.container_shell import OWNER_LABEL, swept
from fault_injection.cluster.backends.container_storage import NodeVolumes
from fault_injection.cluster.backends.docker import problem_with_docker
from fault_injection.cluster.errors import ClusterError
from fault_injection.cluster.owner import Owner
from fault_injection.cluster.spec import Node, ProcessRole
from tests.fault_injection.cluster.namespaces import in_another_namespace

pytestmark = pytest.mark.docker
BLOCK = 4096
DATA = Path("/node/data")
NODE = Node(ProcessRole.BROKER, 1)
DEAD_OWNER = {OWNER_LABEL: str(replace(Owner.of_this_process(), pid=4194999, started="1"))}


@pytest.fixture
def client() -> Iterator[Any]:
    problem = problem_with_docker(None)
    if problem is not None:
        pytest.skip(problem)
    client = docker.from_env()
    yield client
    swept(client)
    client.close()


@pytest.fixture
def ended(client: Any) -> Any:  # noqa: ANN401
    """A container that has ended, with a file of two blocks in its data directory."""
    container = started(client, "mkdir -p /node/data")
    container.wait()
    put_file(container, DATA / "0.log", b"x" * 2 * BLOCK)
    return container


def started(client: Any, script: str, **options: Any) -> Any:  # noqa: ANN401
    return client.containers.run(
        LOCAL_JRE_IMAGE, entrypoint=["sh", "-c"], command=[script], labels=DEAD_OWNER, detach=True, **options
    )


def writes(client: Any, volumes: NodeVolumes, script: str) -> str:  # noqa: ANN401
    """Run a script in the node's next container, which ends with it; give what it complained about."""
    volume = volumes.of_next(NODE)
    assert volume is not None
    container = started(client, script, volumes={volume.volume.name: volume.mount})
    container.wait()
    said = str(container.logs().decode())
    container.remove()
    return said


def test_a_volume_of_limited_size_outlives_the_containers_that_fill_it(client: Any, ended: Any) -> None:  # noqa: ANN401
    volumes = NodeVolumes(client, DEAD_OWNER)
    volumes.limit(NODE, ended, DATA, 2 * BLOCK)
    assert volumes.proof(NODE, DATA) == f"a volume in memory, size={4 * BLOCK}, on data"
    assert not volumes.is_settled(NODE)
    volumes.settle(NODE)
    assert writes(client, volumes, f"head -c {2 * BLOCK} /dev/zero > /node/data/a") == ""
    assert "No space left on device" in writes(client, volumes, "head -c 1 /dev/zero > /node/data/b")
    assert "/node/data/a" in writes(client, volumes, "ls /node/data/*")
    assert volumes.restore(NODE, DATA)
    assert volumes.of_next(NODE) is None
    volumes.settle(NODE)
    assert not volumes.restore(NODE, DATA)
    assert client.volumes.list(filters={"label": f"{OWNER_LABEL}={DEAD_OWNER[OWNER_LABEL]}"}) == []


def test_a_read_only_volume_has_what_the_directory_had(client: Any, ended: Any) -> None:  # noqa: ANN401
    volumes = NodeVolumes(client, DEAD_OWNER)
    volumes.protect(NODE, ended, DATA)
    assert volumes.proof(NODE, DATA) == "a volume mounted read-only on data"
    assert "Read-only file system" in writes(client, volumes, "echo no > /node/data/a; wc -c < /node/data/0.log")
    assert str(2 * BLOCK) in writes(client, volumes, "wc -c < /node/data/0.log")
    volumes.remove(NODE)
    assert volumes.proof(NODE, DATA) is None


@pytest.mark.alone
def test_what_a_dead_tester_left_is_swept(client: Any, ended: Any) -> None:  # noqa: ANN401
    volumes = NodeVolumes(client, DEAD_OWNER)
    volumes.limit(NODE, ended, DATA, BLOCK)
    volume = volumes.of_next(NODE)
    assert volume is not None
    assert len(archive(volume.keeper, DATA)) > 2 * BLOCK
    assert {volume.volume.name, str(volume.keeper.name)} <= set(swept(client))
    assert client.volumes.list(filters={"label": f"{OWNER_LABEL}={DEAD_OWNER[OWNER_LABEL]}"}) == []


def test_a_volume_that_could_not_be_filled_is_removed(
    client: Any,  # noqa: ANN401
    ended: Any,  # noqa: ANN401
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(container_storage, "archive", lambda *_: b"no archive" * 512)
    with pytest.raises(ClusterError, match="no container can keep a volume"):
        NodeVolumes(client, DEAD_OWNER).protect(NODE, ended, DATA)
    assert client.volumes.list(filters={"label": f"{OWNER_LABEL}={DEAD_OWNER[OWNER_LABEL]}"}) == []


def test_nothing_is_left_of_a_volume_that_no_container_got(client: Any, ended: Any) -> None:  # noqa: ANN401
    volumes = NodeVolumes(client, DEAD_OWNER)
    volumes.limit(NODE, ended, DATA, BLOCK)
    volumes.close()
    assert client.volumes.list(filters={"label": f"{OWNER_LABEL}={DEAD_OWNER[OWNER_LABEL]}"}) == []


def test_a_tester_in_another_pid_namespace_removes_nothing_of_ours(client: Any) -> None:  # noqa: ANN401
    name = f"kafka-conformance-of-a-living-tester-{os.getpid()}"
    volume = client.volumes.create(name, labels={OWNER_LABEL: str(Owner.of_this_process())})
    try:
        sweeping = "from fault_injection.cluster.backends.container_shell import sweep; print(*sweep())"
        assert name not in in_another_namespace(sweeping).split()
        assert client.volumes.get(name).name == name
    finally:
        volume.remove()
