"""Which replicas must be in sync in a healthy cluster, when a broker may be down, and which directories in use?"""

from dataclasses import replace
from pathlib import Path

import pytest

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.health import MetadataResponse, _out_of_sync, problems
from fault_injection.cluster.readiness import await_registered
from tests.fault_injection.cluster.conftest import running_cluster, spec_of

Partition = MetadataResponse.MetadataResponseTopic.MetadataResponsePartition
NOBODY: frozenset[int] = frozenset()
TWO = frozenset({2})


@pytest.mark.parametrize(
    ("leader", "isr", "excused", "missing"),
    [
        (1, [1, 2, 3], NOBODY, []),
        (1, [1, 3], NOBODY, [2]),
        (1, [1, 3], TWO, []),
        (1, [1], TWO, [3]),
        (3, [3], TWO, [1]),
        (-1, [2], TWO, []),
        (2, [2], TWO, []),
        (-1, [2], NOBODY, [1, 3]),
        (-1, [2], frozenset({4}), [1, 3]),
    ],
)
def test_who_could_be_in_sync_must_be(leader: int, isr: list[int], excused: frozenset[int], missing: list[int]) -> None:
    partition = Partition(partition_index=0, leader_id=leader, replica_nodes=[1, 2, 3], isr_nodes=isr)
    assert _out_of_sync(partition, excused) == missing


@pytest.mark.broker
def test_a_broker_that_gave_a_log_directory_up_is_not_healthy(tmp_path: Path) -> None:
    spec = replace(spec_of("4.3.1", broker_ids=(1,)), overrides={"log.dirs": "data,data2"})
    with running_cluster(spec, ProcessBackend, tmp_path) as cluster:
        assert problems(cluster) == ()
        cluster.kill(1)
        (directory,) = (plan.directory / "data2" for plan in cluster.plans if plan.node == cluster.node(1))
        directory.rename(directory.with_name("lost"))
        directory.write_bytes(b"no directory")

        cluster.start_broker(1)
        await_registered(cluster, 1)

        assert problems(cluster) == (f"broker 1 has given up the log directory {directory}",)
