"""Does every protocol point of a release catch a real frame, and do brokers take error answers as Kafka's own?"""

import re
import time
from collections.abc import Iterator

import pytest

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered, brokers_known_to
from fault_injection.faults import gate_faults
from fault_injection.faults.account import FaultAccount
from fault_injection.faults.catalogue import points_of
from fault_injection.releases import MetadataMode
from fault_injection.waiting import until
from fault_injection.wire.content import Content
from fault_injection.wire.points import POINTS, Point
from fault_injection.wire.proxy import GateProxy
from fault_injection.wire.views import FetchResponseView
from tests.fault_injection.faults.gated_topic import GatedTopic, gated_topic
from tests.fault_injection.faults.relayed_cluster import DEADLINE_S, LAG_MS, relayed_cluster

pytestmark = pytest.mark.broker

ZOOKEEPER, KRAFT = ("2.7", MetadataMode.ZOOKEEPER), ("4.3", MetadataMode.KRAFT)
on_kraft_only = pytest.mark.parametrize("both", [KRAFT], ids=["4.3-kraft"], indirect=True)
"""What is the same in both, and takes seconds."""

NOT_LEADER_OR_FOLLOWER, NOT_ENOUGH_REPLICAS_AFTER_APPEND, NOT_CONTROLLER = 6, 20, 41
FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, INVALID_UPDATE_VERSION = 74, 75, 95


@pytest.fixture(scope="module", params=[ZOOKEEPER, KRAFT], ids=["2.7-zookeeper", "4.3-kraft"])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Cluster, GateProxy]]:
    version, mode = request.param
    with relayed_cluster(version, mode, ProcessBackend, tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def topic(both: tuple[Cluster, GateProxy], request: pytest.FixtureRequest) -> GatedTopic:
    cluster, gate = both
    await_registered(cluster, 1, 2)
    return gated_topic(cluster, gate, re.sub(r"[^\w.-]", "-", request.node.name))


def test_every_point_of_a_release_catches_a_frame(topic: GatedTopic) -> None:
    cluster, gate = topic.cluster, topic.gate
    names = points_of(cluster.spec)
    assert {POINTS[name].api_key for name in names} >= {0, 1, 56}
    assert topic.produce() == ""
    with FaultAccount(cluster) as account:  # it raises for every point that caught nothing
        for name in names:
            account.inject(gate_faults.delay(gate, name, Point(name), 5))
        topic.commit_with_offsets()
        victim = gated_topic(cluster, gate, "deleted")
        assert victim.produce() == ""
        assert victim.records() == [b"m"]
        victim.delete()
        cluster.stop(2)
        topic.await_isr(1)
        cluster.start_broker(2)
        topic.await_isr(1, 2)
        until(lambda: waiting(gate) == [], deadline_s=DEADLINE_S, what="every point caught a frame")
    assert gate.failures == ()


def waiting(gate: GateProxy) -> list[str]:
    return [name for name in POINTS if name in gate.holds() and gate.caught(name) is None]


def test_a_follower_whose_fetches_are_refused_tries_again(topic: GatedTopic) -> None:
    error = UNKNOWN_LEADER_EPOCH if topic.cluster.spec.is_kraft else NOT_LEADER_OR_FOLLOWER
    with FaultAccount(topic.cluster) as account:
        refused = gate_faults.answer(topic.gate, "refused", topic.point("fetch_request"), error, frames_max=2)
        account.inject(refused)
        until(lambda: topic.gate.frames("refused") == 2, deadline_s=DEADLINE_S, what="it tried again")
        assert topic.produce() == ""
    topic.await_isr(1, 2)
    assert topic.records() == [b"m"]


@on_kraft_only
def test_a_fenced_follower_fetches_no_more_until_it_is_appointed_again(topic: GatedTopic) -> None:
    with FaultAccount(topic.cluster) as account:
        fenced = gate_faults.answer(topic.gate, "fenced", topic.point("fetch_request"), FENCED_LEADER_EPOCH)
        account.inject(fenced)
        fired = until(fenced.fired, deadline_s=DEADLINE_S, what="the fetch was refused")
        assert topic.produce(acks="1") == ""
        topic.await_isr(1)
        assert topic.fetches_since(fired.at_ns) == 0
        topic.cluster.stop(2)
        topic.cluster.start_broker(2)
        topic.await_isr(1, 2)


def test_the_high_watermark_that_an_answer_carries_can_be_waited_for(topic: GatedTopic) -> None:
    risen = topic.point("fetch_response", answered=Content(high_watermark=2))
    with FaultAccount(topic.cluster) as account:
        held = account.inject(gate_faults.hold(topic.gate, "risen", risen))
        assert [topic.produce(), topic.produce()] == ["", ""]
        caught = until(lambda: topic.gate.caught("risen"), deadline_s=DEADLINE_S, what="it has risen")
        assert isinstance(caught.view, FetchResponseView)
        assert [entry.high_watermark for entry in caught.view.partitions if entry.topic == topic.name] == [2]
        account.heal(held)


@on_kraft_only
def test_a_leader_asks_another_controller_again(topic: GatedTopic) -> None:
    joined = topic.point("alter_partition_request", asked=Content(isr=frozenset({1, 2})))
    with FaultAccount(topic.cluster) as account:
        silent = account.inject(gate_faults.hold(topic.gate, "silent", topic.point("fetch_request")))
        assert topic.produce(acks="1") == ""
        topic.await_isr(1)
        account.inject(gate_faults.answer(topic.gate, "refused", joined, NOT_CONTROLLER))
        account.heal(silent)
        topic.await_isr(1, 2)


@on_kraft_only
def test_a_leader_whose_epoch_is_out_of_date_awaits_metadata(topic: GatedTopic) -> None:
    alone = topic.point("alter_partition_request", asked=Content(isr=frozenset({1})))
    with FaultAccount(topic.cluster) as account:
        account.inject(gate_faults.answer(topic.gate, "refused", alone, INVALID_UPDATE_VERSION, frames_max=None))
        account.inject(gate_faults.hold(topic.gate, "silent", topic.point("fetch_request")))
        assert topic.produce(acks="1") == ""
        until(lambda: topic.gate.caught("refused"), deadline_s=DEADLINE_S, what="the leader proposes itself alone")
        until_ns = time.monotonic_ns() + LAG_MS * 1_000_000
        until(lambda: time.monotonic_ns() > until_ns, deadline_s=DEADLINE_S, what="the follower lags once more")
        assert topic.gate.frames("refused") == 1
        topic.await_isr(1, 2)  # what the controller committed


@on_kraft_only
def test_a_broker_whose_heartbeats_are_dropped_is_fenced(topic: GatedTopic) -> None:
    cluster, gate = topic.cluster, topic.gate
    with FaultAccount(cluster) as account:
        account.inject(gate_faults.drop(gate, "dead", Point("broker_heartbeat_request", source=2), frames_max=None))
        until(
            lambda: brokers_known_to(cluster.client_address(1)) == frozenset({1}),
            deadline_s=DEADLINE_S,
            what="the controller fenced the broker",
        )
    await_registered(cluster, 1, 2)


def test_a_producer_is_refused_before_or_after_the_append(topic: GatedTopic) -> None:
    error = NOT_ENOUGH_REPLICAS_AFTER_APPEND
    with FaultAccount(topic.cluster) as account:
        account.inject(gate_faults.answer(topic.gate, "before", topic.point("produce_request"), error))
        assert topic.produce(b"never") == "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
        account.inject(gate_faults.answer(topic.gate, "after", topic.point("produce_response"), error))
        assert topic.produce(b"kept") == "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
        account.inject(
            gate_faults.answer(topic.gate, "read", topic.point("client_fetch_request"), NOT_LEADER_OR_FOLLOWER)
        )
        assert topic.records() == [b"kept"]
