"""Which replicas must be in sync in a healthy cluster, when a broker may be down?"""

import pytest

from fault_injection.cluster.health import MetadataResponse, _out_of_sync

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
