"""Does a mend that moves replicas say where to, leave in place what is well, and spread over racks?"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest

from conformance.audit.audited import Audited
from conformance.audit.cluster import NO_LEADER, ClusterSeen, NotSeen, PartitionSeen
from conformance.audit.mends import PLACE
from conformance.audit.reassigning import placement, reassign, reassigned
from conformance.audit.release_seen import release_seen
from tests.conformance.audit.made_clusters import audited, good, of_topic, partition, topic, with_topic


def of(cluster: ClusterSeen) -> Audited:
    return Audited(cluster, release_seen(cluster))


CLUSTER = of(good())
DOWN = of(replace(good(), fenced=(9,)))
UNTOLD = of(replace(good(), fenced=NotSeen("the release has no DescribeCluster that tells it")))


@pytest.mark.parametrize(
    ("replicas", "wanted", "placed"),
    [
        ((2,), 3, [2, 1, 3]),
        ((3, 1), 3, [3, 1, 2]),
        ((1, 2, 9), 3, [1, 2, 3]),
        ((1, 2, 3), 3, [1, 2, 3]),
        ((1,), 4, [1, 2, 3]),
    ],
)
def test_what_is_well_stays_and_what_is_missing_is_put_elsewhere(
    replicas: tuple[int, ...], wanted: int, placed: list[int]
) -> None:
    assert placement(partition(replicas), wanted, CLUSTER) == placed


@pytest.mark.parametrize("cluster", [DOWN, UNTOLD])
def test_a_replica_on_a_broker_that_may_come_back_stays(cluster: Audited) -> None:
    assert placement(partition((1, 9), (1,)), 3, cluster) == [1, 9, 2]
    assert placement(partition((9, 1, 2), (1, 2)), 3, cluster) == [9, 1, 2]


LEADS = replace(partition((1, 9)), leader=1)
"""Both are in sync, as far as the controller knows; one is down."""
LONE = replace(partition((9,)), leader=NO_LEADER)


@pytest.mark.parametrize("cluster", [CLUSTER, DOWN, UNTOLD])
@pytest.mark.parametrize(
    "last",
    [
        LONE,
        LEADS,
        replace(LEADS, leader=9),
        partition((1, 9), (), eligible=(9,)),
        partition((1, 9), (), last_known=(9,)),
        partition((1, 9), ()),
    ],
)
def test_nothing_is_moved_away_from_what_may_be_the_only_copy(cluster: Audited, last: PartitionSeen) -> None:
    lone = topic("orders", of_topic(), partition(), replace(last, number=1))
    assert reassign(lone, 3, cluster) is None
    told = "bring broker 9 back first: nobody else may have all records; then give it 3 replicas"
    assert reassigned("give it 3 replicas", lone, 3, cluster) == (told, None)


@pytest.mark.parametrize("cluster", [DOWN, UNTOLD])
def test_no_command_names_a_broker_that_is_down_since_kafkas_tool_takes_none(cluster: Audited) -> None:
    one_of_two = topic("orders", of_topic(), partition((1, 9), (1,)))
    told = "give it 3 replicas, once broker 9 is back, or unregistered"
    assert reassigned("give it 3 replicas", one_of_two, 3, cluster) == (told, None)
    assert "1,3,2" in (reassigned("give it 3 replicas", topic("o", of_topic(), partition((1, 3))), 3, cluster)[1] or "")


def test_nothing_is_moved_before_there_is_a_leader() -> None:
    waits = topic("orders", of_topic(), partition((1, 2), ()))
    told = "give it 3 replicas, once every partition has a leader"
    assert reassigned("give it 3 replicas", waits, 3, CLUSTER) == (told, None)


@pytest.mark.parametrize(("fenced", "checks"), [((), {"replicas-nowhere"}), ((9,), set())])
def test_no_check_moves_the_only_replica_away_from_a_broker_that_is_down(
    fenced: tuple[int, ...], checks: set[str]
) -> None:
    rows = audited(replace(with_topic(own=of_topic(1), parts=(LONE,))(), fenced=fenced)).rows
    moves = {row.finding.check: row.finding for row in rows if row.finding.check != "offline"}
    assert moves.keys() == {"replication-factor-1"} | checks
    assert {one.command for one in moves.values()} == {None}
    assert all(one.mend.startswith("bring broker 9 back first: ") for one in moves.values())


def test_replicas_in_one_rack_are_spread_by_one() -> None:
    first = good().brokers[0]
    brokers = tuple(replace(first, id=one, rack="near" if one < 4 else "far") for one in (1, 2, 3, 4, 5))
    cluster = of(replace(good(), brokers=brokers))
    assert placement(partition((3, 2, 1)), 3, cluster) == [3, 2, 4]
    assert placement(replace(partition((1, 2, 3)), number=4), 3, cluster) == [1, 2, 5]


def test_replicas_of_several_partitions_are_not_all_put_on_the_same_broker() -> None:
    added = [placement(replace(partition((1,)), number=number), 2, CLUSTER)[1] for number in range(3)]
    assert set(added) == {2, 3}


def test_the_command_writes_the_file_that_it_reads() -> None:
    command = reassign(topic("orders", of_topic(), partition((2,)), replace(partition((1,)), number=1)), 3, CLUSTER)
    assert command is not None
    echo, content, into, file, both, tool, *options = shlex.split(command)
    assert (echo, into, both, tool) == ("echo", ">", "&&", "kafka-reassign-partitions.sh")
    assert options == ["--bootstrap-server", PLACE, "--execute", "--reassignment-json-file", file]
    assert json.loads(content) == {
        "version": 1,
        "partitions": [
            {"topic": "orders", "partition": 0, "replicas": [2, 1, 3]},
            {"topic": "orders", "partition": 1, "replicas": [1, 2, 3]},
        ],
    }


def test_what_there_are_too_few_brokers_for_no_command_mends() -> None:
    cluster = with_topic(own=of_topic(1), parts=(partition((1,)),))()
    lonely = replace(cluster, brokers=cluster.brokers[:2])
    commands = [row.finding.command for row in audited(lonely).rows if row.finding.check == "replication-factor-1"]
    assert commands == [None]
