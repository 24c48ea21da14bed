"""Clusters that the faults are tried on: one of each generation as processes, the newest in containers too."""

from collections.abc import Iterator

import pytest

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from tests.fault_injection.cluster.conftest import (
    NewBackend,
    made_healthy,
    new_docker_backend,
    running_cluster,
    spec_of,
)

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
    with running_cluster(spec, new_backend, tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Cluster:
    return made_healthy(shared_cluster)
