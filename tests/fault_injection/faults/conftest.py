"""Clusters that the faults are tried on: one of each generation as processes, the newest in containers too."""

from collections.abc import Iterator

import pytest

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.cluster.relay import DirectRelay
from fault_injection.releases import jars_of
from tests.fault_injection.cluster.conftest import NewBackend, new_docker_backend, spec_of

RELEASES = ("0.10.2.2", "2.8.2", "3.9.2", "4.3.1")
CLUSTERS = [
    *(pytest.param((ProcessBackend, version), id=f"process-{version}") for version in RELEASES),
    pytest.param((new_docker_backend, "4.3.1"), id="docker-4.3.1", marks=pytest.mark.docker),
]


@pytest.fixture(scope="module", params=CLUSTERS)
def shared_cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    chosen: tuple[NewBackend, str] = request.param
    new_backend, version = chosen
    spec = spec_of(version, broker_ids=(1, 2))
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
    await_registered(shared_cluster, *shared_cluster.spec.broker_ids)
    return shared_cluster
