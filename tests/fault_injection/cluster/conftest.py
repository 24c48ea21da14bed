"""Clusters that the contract tests share: one per backend and release, healthy before each test."""

from collections.abc import Callable, Iterator

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


@pytest.fixture(scope="module", params=RELEASES)
def shared_cluster(
    request: pytest.FixtureRequest,
    new_backend: NewBackend,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Cluster]:
    spec = spec_of(request.param)
    backend = new_backend()
    try:
        directory = tmp_path_factory.mktemp("cluster")
        with Cluster.start(spec, jars_of(spec.release), backend, DirectRelay(), directory) as cluster:
            yield cluster
    finally:
        backend.close()


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Cluster:
    for broker in shared_cluster.spec.broker_ids:
        if not shared_cluster.is_alive(broker):
            await_unregistered(shared_cluster, broker)
            shared_cluster.start_broker(broker)
        elif broker not in shared_cluster.live_brokers:
            shared_cluster.resume(broker)
    await_registered(shared_cluster, *shared_cluster.spec.broker_ids)
    return shared_cluster
