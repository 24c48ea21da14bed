"""Clusters that the contract tests share: one per backend and release, healthy before each test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fault_injection.cluster.backend import Backend
from fault_injection.cluster.backends.docker import DockerBackend, problem_with_docker
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import find_release, jars_of

NewBackend = Callable[[], Backend]


def new_docker_backend() -> Backend:
    problem = problem_with_docker(None)
    if problem is not None:
        pytest.skip(problem)
    return DockerBackend()


BACKENDS = [
    pytest.param(ProcessBackend, id="process"),
    pytest.param(new_docker_backend, id="docker", marks=pytest.mark.docker),
]
RELEASES = ("0.10.2", "4.3")


def spec_of(version: str, broker_ids: tuple[int, ...] = (1, 2, 3)) -> ClusterSpec:
    release = find_release(version)
    return ClusterSpec(release, release.default_metadata_mode, broker_ids=broker_ids)


@pytest.fixture(scope="module", params=BACKENDS)
def new_backend(request: pytest.FixtureRequest) -> NewBackend:
    chosen: NewBackend = request.param
    return chosen


@pytest.fixture
def backend(new_backend: NewBackend) -> Iterator[Backend]:
    backend = new_backend()
    yield backend
    backend.close()


@contextmanager
def running_cluster(spec: ClusterSpec, new_backend: NewBackend, directory: Path) -> Iterator[Cluster]:
    backend = new_backend()
    try:
        with Cluster.start(spec, jars_of(spec.release), backend, DirectRelay(), directory) as cluster:
            yield cluster
    finally:
        backend.close()


def made_healthy(cluster: Cluster) -> Cluster:
    for broker in cluster.spec.broker_ids:
        if not cluster.is_alive(broker):
            await_unregistered(cluster, broker)
            cluster.start_broker(broker)
        elif broker not in cluster.live_brokers:
            cluster.resume(broker)
    await_registered(cluster, *cluster.spec.broker_ids)
    return cluster


@pytest.fixture(scope="module", params=RELEASES)
def shared_cluster(
    request: pytest.FixtureRequest,
    new_backend: NewBackend,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Cluster]:
    with running_cluster(spec_of(request.param), new_backend, tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Cluster:
    return made_healthy(shared_cluster)
