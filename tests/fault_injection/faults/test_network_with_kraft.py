"""Do brokers of the KRaft era meet a cut or slow link as they would meet one, and recover when it heals?"""

import time
from collections.abc import Iterator

import pytest

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered, brokers_known_to
from fault_injection.cluster.relay import CLIENTS, ZOOKEEPER
from fault_injection.faults.account import FaultAccount, FaultAccountError
from fault_injection.faults.fault import FaultError
from fault_injection.faults.network import cut, delay, isolate
from fault_injection.releases import MetadataMode
from fault_injection.waiting import until
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.cluster.topics import produce
from tests.fault_injection.faults.relayed_cluster import (
    DEADLINE_S,
    Client,
    await_partition,
    new_topic,
    relayed_cluster,
)

pytestmark = pytest.mark.broker

CONTROLLER = 100


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, GateProxy]]:
    directory = tmp_path_factory.mktemp("cluster")
    with relayed_cluster("4.3.1", MetadataMode.KRAFT, ProcessBackend, directory) as running:
        yield running


@pytest.fixture
def cluster(both: tuple[Cluster, GateProxy]) -> Cluster:
    await_registered(both[0], 1, 2)
    return both[0]


@pytest.fixture
def gate(both: tuple[Cluster, GateProxy]) -> GateProxy:
    return both[1]


def test_a_broker_that_the_controller_does_not_hear_is_fenced_until_it_heals(cluster: Cluster, gate: GateProxy) -> None:
    topic = new_topic(cluster, "fenced")
    with FaultAccount(cluster) as account:
        account.inject(unheard := cut(gate, 1, CONTROLLER))
        await_partition(cluster, 2, topic, leader=2, isr={2})
        assert brokers_known_to(cluster.client_address(2)) == frozenset({2})
        assert unheard.evidence().has_fired
    await_partition(cluster, 1, topic, leader=2, isr={1, 2})


def test_a_produce_takes_longer_by_the_delays_on_its_way(cluster: Cluster, gate: GateProxy) -> None:
    client = Client(cluster, new_topic(cluster, "far"), timeout_ms=30_000)
    delay_ms = 300
    seconds(client)
    direct_s = min(seconds(client) for _ in range(3))
    with FaultAccount(cluster) as account:
        account.inject(delay(gate, None, 1, delay_ms, kind="client"))
        delayed_s = min(seconds(client) for _ in range(2))
        account.inject(delay(gate, 1, 2, delay_ms, kind="replication"))
        twice_s = min(seconds(client) for _ in range(2))
    assert delay_ms / 1000 <= delayed_s < direct_s + 1.5 * delay_ms / 1000
    assert twice_s >= 2 * delay_ms / 1000


def seconds(client: Client) -> float:
    begun = time.monotonic()
    assert client.outcome(b"m") == ""
    return time.monotonic() - begun


def test_an_isolated_broker_is_fenced_and_its_connections_end_once_it_is_back(
    cluster: Cluster, gate: GateProxy
) -> None:
    topic = new_topic(cluster, "alone")
    with FaultAccount(cluster) as account:
        account.inject(isolate(gate, 2, at_heal="reset"))
        until(
            lambda: brokers_known_to(cluster.client_address(1)) == frozenset({1}),
            deadline_s=DEADLINE_S,
            what="the controller fenced the broker",
        )
        await_partition(cluster, 1, topic, leader=1, isr={1})
    await_partition(cluster, 2, topic, leader=1, isr={1, 2})
    produce(cluster, topic, b"m0")


def test_a_cut_that_nothing_meets_is_an_error_of_the_tester(cluster: Cluster, gate: GateProxy) -> None:
    nothing = r"cut never fired: it awaited traffic on clients→2; nothing came that way; 0 connections have it"
    with pytest.raises(FaultAccountError, match=nothing), FaultAccount(cluster) as account:
        account.inject(cut(gate, CLIENTS, 2))
    assert gate.network.imposed() == {}


def test_a_link_that_does_not_lead_through_the_relay_is_not_available(cluster: Cluster, gate: GateProxy) -> None:
    for fault, obstacle in (
        (cut(gate, 1, ZOOKEEPER), "no broker reaches ZooKeeper through the relay"),
        (cut(gate, 1, 7), "there is no node 7"),
    ):
        assert obstacle in fault.available(cluster).obstacle
        with pytest.raises(FaultError, match=obstacle):
            fault.inject(cluster)
    with GateProxy() as other:
        assert "not started with this relay" in cut(other, 1, 2).available(cluster).obstacle
    cut(gate, 1, 2).inject(cluster)
    assert "imposed already" in cut(gate, 1, 2).available(cluster).obstacle
    cut(gate, 1, 2).heal(cluster)
    assert cut(gate, 1, 2).heal(cluster) is None
