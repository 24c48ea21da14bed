"""Does a fault at a protocol point lie in wait, prove by a frame that it fired, and heal?"""

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import pytest

from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import LinkName, Relay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.faults import gate_faults
from fault_injection.faults.account import FaultAccount, FaultAccountError
from fault_injection.faults.fault import FaultError
from fault_injection.faults.gate_faults import GateFault
from fault_injection.releases import find_release
from fault_injection.waiting import until
from fault_injection.wire.gate_events import HoldStatus
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.wire.frames_of import fetch_request, fetch_response
from tests.fault_injection.wire.stub_node import DEADLINE_S, StubNode, await_received, connected, is_reset, read

FETCH = Point("fetch_request", source=2, fetch_offset=3)
NOT_LEADER_OR_FOLLOWER = 6


@dataclass
class Paper:
    """As much of a cluster as a fault at the gate asks for: which relay it has, and of which release it is."""

    relay: Relay
    spec: ClusterSpec


@pytest.fixture
def gate() -> Iterator[GateProxy]:
    with GateProxy() as proxy:
        yield proxy


@pytest.fixture
def cluster(gate: GateProxy) -> Cluster:
    release = find_release("4.3")
    return cast("Cluster", Paper(gate, ClusterSpec(release, release.default_metadata_mode)))


@pytest.fixture
def leader() -> Iterator[StubNode]:
    node = StubNode()
    yield node
    node.close()


@pytest.fixture
def follower(gate: GateProxy, leader: StubNode) -> Iterator[socket.socket]:
    with connected(gate.open(LinkName.replication(1), leader.address)) as connection:
        yield connection


def fired(fault: GateFault) -> str:
    frame = until(fault.fired, deadline_s=DEADLINE_S, what="it fired")
    return frame.text


def test_a_hold_fires_on_its_frame_and_lets_it_go_when_it_heals(
    gate: GateProxy, cluster: Cluster, leader: StubNode, follower: socket.socket
) -> None:
    fault = gate_faults.hold(gate, "gap", FETCH)
    assert (fault.name, fault.fired(), fault.heal(cluster)) == ("hold_frame", None, None)
    assert fault.inject(cluster) == "hold at fetch_request, source 2, fetch_offset 3"
    assert not fault.available(cluster)
    follower.sendall(fetch_request(offset=2, correlation_id=7) + fetch_request(offset=3, correlation_id=8))
    assert fired(fault).startswith("Fetch request 8 of connection ")
    assert fired(fault).endswith(" at offset 3")
    assert '"fetch_offset": 2' in fault.came_instead()
    await_received(leader, fetch_request(offset=2, correlation_id=7))
    assert fault.heal(cluster) == f"{fault.text}: what it held was let go on"
    await_received(leader, fetch_request(offset=2, correlation_id=7) + fetch_request(offset=3, correlation_id=8))
    assert fault.heal(cluster) is None


@pytest.mark.parametrize("at_heal", ["drop", "close"])
def test_a_held_frame_can_end_otherwise(
    gate: GateProxy, cluster: Cluster, follower: socket.socket, at_heal: gate_faults.AtHeal
) -> None:
    fault = gate_faults.hold(gate, "gap", FETCH, at_heal=at_heal)
    fault.inject(cluster)
    follower.sendall(fetch_request(offset=3))
    fired(fault)
    healed = fault.heal(cluster)
    assert healed is not None
    assert ("dropped, connection" if at_heal == "drop" else "thrown away with its connection") in healed
    assert is_reset(follower)  # who waits for the answer to a dropped frame need not time out


def test_what_drops_every_frame_heals_by_a_reset(gate: GateProxy, cluster: Cluster, follower: socket.socket) -> None:
    fault = gate_faults.drop(gate, "deaf", FETCH, frames_max=None)
    fault.inject(cluster)
    follower.sendall(2 * fetch_request(offset=3))
    until(lambda: gate.frames("deaf") == 2, deadline_s=DEADLINE_S, what="both are dropped")
    healed = fault.heal(cluster)
    assert healed is not None
    assert "every frame: disarmed, connection" in healed
    assert is_reset(follower)


def test_every_connection_that_lost_a_frame_is_reset_once_and_no_other(
    gate: GateProxy, cluster: Cluster, leader: StubNode
) -> None:
    fault = gate_faults.drop(gate, "deaf", Point("fetch_request", fetch_offset=3), frames_max=None)
    fault.inject(cluster)
    address = gate.open(LinkName.replication(1), leader.address)
    with connected(address) as second, connected(address) as third, connected(address) as innocent:
        second.sendall(fetch_request(offset=3, replica=2))
        until(lambda: gate.frames("deaf") == 1, deadline_s=DEADLINE_S, what="the first is dropped")
        third.sendall(fetch_request(offset=3, replica=3))
        until(lambda: gate.frames("deaf") == 2, deadline_s=DEADLINE_S, what="both are dropped")
        innocent.sendall(fetch_request(offset=4, replica=3))
        await_received(leader, fetch_request(offset=4, replica=3))
        fault.heal(cluster)
        assert is_reset(second)
        assert is_reset(third)
        assert fault.heal(cluster) is None
        innocent.sendall(fetch_request(offset=4, replica=3))
        await_received(leader, 2 * fetch_request(offset=4, replica=3))


def test_an_answer_fires_and_leaves_nothing_to_heal(gate: GateProxy, cluster: Cluster, follower: socket.socket) -> None:
    fault = gate_faults.answer(gate, "refused", FETCH, NOT_LEADER_OR_FOLLOWER)
    assert fault.inject(cluster) == "answer with error 6 at fetch_request, source 2, fetch_offset 3"
    follower.sendall(fetch_request(offset=3))
    expected = fetch_response(error=NOT_LEADER_OR_FOLLOWER, high_watermark=-1)
    assert len(read(follower, len(expected))) == len(expected)
    assert fault.heal(cluster) is None
    assert gate.status("refused") is HoldStatus.ANSWERED


def test_delays_and_closes_fire(gate: GateProxy, cluster: Cluster, leader: StubNode, follower: socket.socket) -> None:
    late = gate_faults.delay(gate, "late", FETCH, 10)
    late.inject(cluster)
    follower.sendall(fetch_request(offset=3))
    await_received(leader, fetch_request(offset=3))
    last = gate_faults.close(gate, "last", FETCH)
    last.inject(cluster)
    follower.sendall(fetch_request(offset=3))
    assert is_reset(follower)
    assert fired(late)
    assert fired(last)


def test_a_fault_that_is_not_available_says_why(gate: GateProxy, cluster: Cluster) -> None:
    of_zookeeper = gate_faults.hold(gate, "gap", Point("leader_and_isr"))
    assert "KRaft" in of_zookeeper.available(cluster).obstacle
    with pytest.raises(FaultError, match="KRaft"):
        of_zookeeper.inject(cluster)
    with GateProxy() as other:
        assert "not started with this relay" in gate_faults.hold(other, "gap", FETCH).available(cluster).obstacle


def test_an_answer_that_could_not_be_made_is_refused(gate: GateProxy, cluster: Cluster) -> None:
    fault = gate_faults.answer(gate, "refused", Point("alter_partition_request"), 95)
    with pytest.raises(FaultError, match="without the schemas"):
        fault.inject(cluster)


def test_a_fault_that_never_fired_tells_what_it_awaited_and_what_came(
    gate: GateProxy, cluster: Cluster, leader: StubNode, follower: socket.socket
) -> None:
    def awaits_in_vain() -> None:
        with FaultAccount(cluster, checks_health=False) as account:
            account.inject(gate_faults.hold(gate, "gap", FETCH))
            follower.sendall(fetch_request(offset=5))
            await_received(leader, fetch_request(offset=5))

    awaited = r"awaited fetch_request, source 2, fetch_offset 3; what came was .*\"fetch_offset\": 5"
    with pytest.raises(FaultAccountError, match=awaited):
        awaits_in_vain()
    silent = gate_faults.hold(gate, "other", FETCH)
    silent.inject(cluster)
    assert silent.came_instead() == "no Fetch came that way"
