"""Do brokers of the ZooKeeper era meet a cut link as they would meet a partition, and recover when it heals?"""

from collections.abc import Iterator

import pytest

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.cluster.relay import CLIENTS, ZOOKEEPER
from fault_injection.faults.account import FaultAccount
from fault_injection.faults.fault import FaultEvent, FaultStage
from fault_injection.faults.network import cut
from fault_injection.releases import MetadataMode
from fault_injection.waiting import until
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.cluster.topics import consume, produce
from tests.fault_injection.faults.relayed_cluster import (
    DEADLINE_S,
    Client,
    await_partition,
    new_topic,
    partition_at,
    relayed_cluster,
)

pytestmark = pytest.mark.broker


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, GateProxy]]:
    directory = tmp_path_factory.mktemp("cluster")
    with relayed_cluster("2.8.2", MetadataMode.ZOOKEEPER, ProcessBackend, directory) as running:
        yield running


@pytest.fixture
def cluster(both: tuple[Cluster, GateProxy]) -> Cluster:
    return both[0]


@pytest.fixture
def gate(both: tuple[Cluster, GateProxy]) -> GateProxy:
    return both[1]


@pytest.mark.parametrize(("sender", "both_ways"), [(1, False), (1, True)], ids=["deaf", "cut off"])
def test_a_follower_that_does_not_hear_its_leader_falls_out_of_the_isr_and_comes_back(
    cluster: Cluster, gate: GateProxy, sender: int, *, both_ways: bool
) -> None:
    topic = new_topic(cluster, f"lag-{both_ways}")
    until(
        lambda: any(not finished.error for finished in gate.rounds_since(0, topic=topic, follower=2)),
        deadline_s=DEADLINE_S,
        what="the follower fetches, and its leader knows that it leads",
    )
    events: list[FaultEvent] = []
    with FaultAccount(cluster, events.append) as account:
        unreachable = account.inject(cut(gate, sender, 2, both_ways=both_ways, kind="replication"))
        assert Client(cluster, topic, acks="1").outcome(b"m0") == ""  # acks=all would time out: KAFKA-13091
        await_partition(cluster, 1, topic, leader=1, isr={1})
        assert gate.last_forwarded_fetch_offset(2, 1, topic, 0) == 0
        account.heal(unreachable)
        await_partition(cluster, 1, topic, leader=1, isr={1, 2})
        until(
            lambda: gate.last_forwarded_fetch_offset(2, 1, topic, 0) == 1, deadline_s=DEADLINE_S, what="the record came"
        )
    assert [event.stage for event in events] == [FaultStage.ARMED, FaultStage.FIRED, FaultStage.HEALED]
    assert events[1].frame is not None
    assert events[1].frame.api == "Fetch"


@pytest.mark.parametrize(("sender", "receiver", "is_appended"), [(CLIENTS, 1, False), (1, CLIENTS, True)])
def test_a_client_that_is_cut_off_gets_no_answer_while_replication_goes_on(
    cluster: Cluster, gate: GateProxy, sender: int, receiver: int, *, is_appended: bool
) -> None:
    topic = new_topic(cluster, f"client-{sender}")
    client = Client(cluster, topic)
    assert client.outcome(b"heard") == ""
    with FaultAccount(cluster) as account:
        account.inject(fault := cut(gate, sender, receiver, at_heal="reset"))
        assert client.outcome(b"unheard") == "_MSG_TIMED_OUT"
        produce(cluster, topic, b"of another client")
        values = [b"heard", *([b"unheard"] if is_appended else []), b"of another client"]
        assert consume(cluster, topic, len(values)) == values
        frame = fault.fired()
        assert frame is not None
        assert (frame.api, frame.direction) == ("Produce", "response" if is_appended else "request")
    assert client.outcome(b"heard again") == ""


def test_a_leader_that_loses_zookeeper_is_a_zombie_until_it_heals(cluster: Cluster, gate: GateProxy) -> None:
    topic = new_topic(cluster, "zombie")
    with FaultAccount(cluster) as account:
        account.inject(fault := cut(gate, 1, ZOOKEEPER, both_ways=True))
        await_unregistered(cluster, 1, unreachable=lambda: frozenset({1}))
        await_partition(cluster, 2, topic, leader=2, isr={2})
        assert partition_at(cluster, 1, topic) == (1, frozenset({1, 2}))
        assert fault.evidence().has_fired
    await_registered(cluster, 1)
    for broker in (1, 2):
        await_partition(cluster, broker, topic, leader=2, isr={1, 2})
