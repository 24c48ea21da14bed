"""Can frames between real brokers be stopped where a protocol point says, and is the rest left alone?"""

from itertools import count
from pathlib import Path

import pytest

from fault_injection.cluster.readiness import await_registered, await_unregistered, brokers_known_to
from fault_injection.releases import MetadataMode
from fault_injection.waiting import until
from fault_injection.wire.controller_views import AlterPartitionView, LeaderAndIsrView
from fault_injection.wire.gate_events import CaughtFrame, HoldStatus
from fault_injection.wire.impairments import LinkCut, around
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from fault_injection.wire.views import FetchPartition, FetchResponseView
from tests.fault_injection.wire.real_cluster import (
    DEADLINE_S,
    TOPIC,
    await_caught,
    cluster_of,
    create_topic,
    fetch_point,
    produce,
    traced,
)

pytestmark = pytest.mark.broker


@pytest.mark.parametrize("version", ["0.10.2", "4.3"])
def test_each_step_of_replication_can_be_stopped(version: str, tmp_path: Path) -> None:
    with cluster_of(version, tmp_path) as (cluster, proxy):
        create_topic(cluster, proxy)
        proxy.arm("first", fetch_point("fetch_request", 0))
        await_caught(proxy, "first")
        produce(cluster, b"m0")

        proxy.arm("appended", fetch_point("fetch_request", 1))
        proxy.release("first")
        appended = await_caught(proxy, "appended")
        assert (appended.fetch_offset, appended.request.source) == (1, 2)
        assert proxy.last_forwarded_fetch_offset(2, 1, TOPIC, 0) == 0

        proxy.arm("committed", fetch_point("fetch_response", 1))
        proxy.release("appended")
        committed = await_caught(proxy, "committed")
        assert high_watermark(committed) == 1
        assert proxy.last_forwarded_fetch_offset(2, 1, TOPIC, 0) == 1
        (carried,) = [one for one in proxy.rounds_since(0, topic=TOPIC, follower=2) if one.record_bytes]
        assert (carried.fetch_offset, carried.first_offset, carried.last_offset) == (0, 0, 0)
        assert carried.high_watermark == 0

        proxy.release("committed")
        until(
            lambda: len(proxy.rounds_since(committed.caught_ns, topic=TOPIC)) > 1,
            deadline_s=DEADLINE_S,
            what="replication goes on",
        )
        assert proxy.undecodable == 0
        assert {line["hold"] for line in traced(proxy, tmp_path)} == {None, "first", "appended", "committed"}


def high_watermark(caught: CaughtFrame) -> int:
    assert isinstance(caught.view, FetchResponseView)
    (given,) = (entry for entry in caught.view.partitions if entry.topic == TOPIC)
    return given.high_watermark


@pytest.mark.parametrize(("version", "mode"), [("2.8", MetadataMode.ZOOKEEPER), ("4.3", MetadataMode.KRAFT)])
def test_a_returning_follower_shows_the_isr_its_leader_proposes(
    version: str, mode: MetadataMode, tmp_path: Path
) -> None:
    with cluster_of(version, tmp_path, mode=mode) as (cluster, proxy):
        create_topic(cluster, proxy)
        produce(cluster, b"m0")
        proxy.arm("dying", Point("fetch_request", source=2))
        await_caught(proxy, "dying")
        cluster.kill(2)
        assert proxy.status("dying") is HoldStatus.DISCHARGED
        await_unregistered(cluster, 2)

        proxy.arm("refetch", Point("fetch_request", source=2, topic=TOPIC))
        proxy.arm("expand", Point("alter_partition_request", source=1, destination=100))
        cluster.start_broker(2)
        assert await_caught(proxy, "refetch").fetch_offset in (0, 1)
        proxy.release("refetch")
        proposal = await_caught(proxy, "expand").view
        assert isinstance(proposal, AlterPartitionView)
        assert [set(entry.new_isr) for entry in proposal.partitions] == [{1, 2}]
        proxy.release("expand")
        await_registered(cluster, 2)
        assert proxy.undecodable == 0


@pytest.mark.parametrize("version", ["0.10.2", "1.1", "2.8"])
def test_a_follower_fetches_only_when_the_controller_made_it_one(version: str, tmp_path: Path) -> None:
    with cluster_of(version, tmp_path, mode=MetadataMode.ZOOKEEPER) as (cluster, proxy):
        proxy.arm("appointed", Point("leader_and_isr", source=100, destination=2, topic=TOPIC))
        create_topic(cluster, proxy)
        appointed = await_caught(proxy, "appointed")
        assert isinstance(appointed.view, LeaderAndIsrView)
        assert [(entry.leader, entry.isr) for entry in appointed.view.partitions] == [(1, (1, 2))]
        assert proxy.last_forwarded_fetch_offset(2, 1, TOPIC, 0) is None
        proxy.release("appointed")
        until(
            lambda: proxy.last_forwarded_fetch_offset(2, 1, TOPIC, 0) == 0,
            deadline_s=DEADLINE_S,
            what="the follower fetches",
        )
        assert proxy.undecodable == 0


@pytest.mark.parametrize("version", ["1.1", "2.8", "4.3"])
def test_a_partition_that_fetch_sessions_leave_out_is_seen_all_the_same(version: str, tmp_path: Path) -> None:
    with cluster_of(version, tmp_path) as (cluster, proxy):
        create_topic(cluster, proxy)
        create_topic(cluster, proxy, "busy")
        for number in range(3):
            produce(cluster, b"m%d" % number, "busy")
        until(
            lambda: proxy.last_forwarded_fetch_offset(2, 1, "busy", 0) == 3,
            deadline_s=DEADLINE_S,
            what="the follower has all records",
        )
        names = map(str, count())
        idle = until(
            lambda: left_out(proxy, next(names)), deadline_s=DEADLINE_S, what="a fetch that leaves the partition out"
        )
        assert (idle.topic, idle.fetch_offset) == (TOPIC, 0)
        until(
            lambda: last_rounds(proxy) == {(0, 0, 0)}, deadline_s=DEADLINE_S, what="two fetch rounds at the log's end"
        )
        assert proxy.undecodable == 0


def last_rounds(proxy: GateProxy) -> set[tuple[int, int, int]]:
    """Return error, high watermark and fetch offset of the partition's last two rounds."""
    rounds = proxy.rounds_since(0, topic=TOPIC)
    return {(one.error, one.high_watermark, one.fetch_offset) for one in rounds[-2:]}


def left_out(proxy: GateProxy, name: str) -> FetchPartition | None:
    """Hold the follower's next fetch; give what it says of the partition, unless it lists it."""
    proxy.arm(name, fetch_point("fetch_request", 0))
    partition = await_caught(proxy, name).partition
    assert isinstance(partition, FetchPartition)
    proxy.release(name)
    return None if partition.is_listed else partition


def test_a_broker_without_its_metadata_does_not_learn_of_a_topic(tmp_path: Path) -> None:
    with cluster_of("4.3", tmp_path) as (cluster, proxy):
        proxy.arm("stale", Point("controller_fetch_request", source=2))
        await_caught(proxy, "stale")
        create_topic(cluster, proxy)
        produce(cluster, b"m0")
        assert proxy.last_forwarded_fetch_offset(2, 1, TOPIC, 0) is None
        proxy.release("stale")
        until(
            lambda: proxy.last_forwarded_fetch_offset(2, 1, TOPIC, 0) == 1,
            deadline_s=DEADLINE_S,
            what="the follower has the record",
        )


def test_an_isolated_broker_is_fenced_and_comes_back(tmp_path: Path) -> None:
    with cluster_of("4.3", tmp_path) as (cluster, proxy):
        create_topic(cluster, proxy)
        proxy.network.impose("alone", LinkCut(around(2), by="reset"))
        until(
            lambda: brokers_known_to(cluster.client_address(1)) == frozenset({1}),
            deadline_s=DEADLINE_S,
            what="the controller fenced the broker",
        )
        proxy.network.lift("alone")
        await_registered(cluster, 2)
        produce(cluster, b"m0")
        until(
            lambda: proxy.last_forwarded_fetch_offset(2, 1, TOPIC, 0) == 1,
            deadline_s=DEADLINE_S,
            what="the follower has the record",
        )
