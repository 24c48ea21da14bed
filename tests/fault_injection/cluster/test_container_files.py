"""Is a container's directory read exactly, whether it runs, stands still or is dead, and without any mount?"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker
import pytest

from fault_injection.cluster.backends.container_files import ContainerFiles
from fault_injection.cluster.backends.container_image import LOCAL_JRE_IMAGE, PUBLIC_JRE_IMAGE
from fault_injection.cluster.backends.container_shell import OWNER_LABEL, owner_of_this_process
from fault_injection.cluster.backends.docker import DockerBackend, problem_with_docker
from fault_injection.cluster.launches import LOG, OUTPUT, SETTINGS
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.releases import jars_of
from fault_injection.waiting import until
from tests.fault_injection.cluster.conftest import spec_of

pytestmark = pytest.mark.docker
DIRECTORY = Path("/node/1")
PREPARE = """
mkdir -p data/t-0 data/empty && echo log > server.log && echo x > data/.hidden && echo y > data/t-0/a.log
for i in $(seq 100000); do echo $i; done > data/t-0/large.log
while :; do echo "one line" > new && mv new replaced; printf 'another, longer line\\n' > new && mv new replaced; done
"""
NAMES = ["data/.hidden", "data/t-0/a.log", "data/t-0/large.log", "server.log"]
LARGE = "".join(f"{number}\n" for number in range(1, 100_001)).encode()


@pytest.fixture
def client() -> Iterator[Any]:
    problem = problem_with_docker(None)
    if problem is not None:
        pytest.skip(problem)
    client = docker.from_env()
    yield client
    client.close()


@pytest.fixture
def container(client: Any) -> Iterator[Any]:  # noqa: ANN401 - untyped library
    image = next(tag for tag in (LOCAL_JRE_IMAGE, PUBLIC_JRE_IMAGE) if client.images.list(tag))
    container = client.containers.run(
        image,
        ["-c", PREPARE],
        entrypoint=["sh"],
        working_dir=str(DIRECTORY),
        labels={OWNER_LABEL: owner_of_this_process()},
        detach=True,
    )
    yield container
    container.remove(force=True)


@pytest.fixture
def files(container: Any) -> Iterator[ContainerFiles]:  # noqa: ANN401 - untyped library
    files = ContainerFiles(container, DIRECTORY)
    until(lambda: "replaced" in files.names(), deadline_s=20, what="the prepared files")
    yield files
    files.forget()


def check(files: ContainerFiles) -> None:
    assert [name for name in files.names() if name not in ("new", "replaced")] == NAMES
    assert files.read("data/.hidden") == b"x\n"
    assert files.read("data/t-0/large.log") == LARGE
    for absent in ("data/none", "data/empty", "data/t-0"):
        with pytest.raises(FileNotFoundError, match="data/"):
            files.read(absent)


def test_files_are_the_same_running_paused_and_dead(container: Any, files: ContainerFiles) -> None:  # noqa: ANN401
    check(files)
    container.pause()
    check(files)
    container.unpause()
    files.forget()
    check(files)
    container.kill()
    check(files)
    assert files.names() == files.names()


def test_a_container_without_a_shell_is_read_through_archives(container: Any, files: ContainerFiles) -> None:  # noqa: ANN401
    files.forget()
    container.exec_run(["rm", "/bin/sh"])
    assert container.exec_run(["sh"])[0] != 0
    check(files)


def test_a_file_that_is_replaced_is_never_a_mixture(files: ContainerFiles) -> None:
    seen = {files.read("replaced") for _ in range(200)}
    assert seen == {b"one line\n", b"another, longer line\n"}


def test_a_container_that_was_started_again_is_read_afresh(container: Any, files: ContainerFiles) -> None:  # noqa: ANN401
    container.kill()
    with pytest.raises(FileNotFoundError):
        files.read("late")
    container.start()
    files.forget()
    exit_code, _ = container.exec_run(["sh", "-c", "echo late > late"])
    assert exit_code == 0
    assert files.read("late") == b"late\n"
    assert "late" in files.names()


@pytest.mark.broker
@pytest.mark.parametrize("version", ["0.10.2", "4.3"])
def test_nothing_is_mounted_and_logs_are_kept(version: str, client: Any, tmp_path: Path) -> None:  # noqa: ANN401
    spec = spec_of(version, broker_ids=(1,))
    backend = DockerBackend()
    assert backend.image_digest is None
    with Cluster.start(spec, jars_of(spec.release), backend, DirectRelay(), tmp_path) as cluster:
        filters = {"label": f"{OWNER_LABEL}={owner_of_this_process()}"}
        containers = client.containers.list(all=True, filters=filters)
        assert len(containers) == len(spec.nodes)
        for container in containers:
            assert container.attrs["Mounts"] == []
            assert not container.attrs["HostConfig"]["Binds"]
            assert container.image.id == backend.image_digest
        assert "meta.properties" in cluster.files(1)
        assert not (tmp_path / "1" / LOG).exists()
        directory = cluster.backend.files(spec.broker_nodes[-1])
        assert {LOG, SETTINGS} <= set(directory)
        started = "started (kafka.server.Kafka"  # which a broker logs a little after it answers
        until(lambda: started in cluster.log_text(1), deadline_s=30, what=f"{started!r} in its log")
        cluster.kill(1)
        logged = cluster.log_text(1)
    backend.close()
    kept = [(tmp_path / "1" / name).read_text() for name in (LOG, OUTPUT)]
    assert "".join(kept) == logged
    assert {file.stat().st_uid for file in (tmp_path / "1").rglob("*")} == {os.getuid()}
