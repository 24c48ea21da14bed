"""Does a run know which frames its holds stop, and whom that keeps from what?"""

from __future__ import annotations

import struct
from threading import Timer
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.interruption import HarnessError, HoldNeverCaughtError
from conformance.running.holding import Holding, Place, place_of, point_of
from fault_injection.cluster.relay import LinkName
from fault_injection.faults import gate_faults
from fault_injection.faults.account import FaultAccount
from fault_injection.faults.gate_faults import GateFault
from fault_injection.wire.gate_events import HoldStatus
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from oracle.steps.frames import Close, DelayFrame, Drop, Hold, ReleaseHold
from oracle.vocabulary import BrokerId, Offset, PointName
from tests.fault_injection.wire.frames_of import fetch_request, framed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fault_injection.wire.passage import ConnectionState

TWO, ONE = BrokerId(2), BrokerId(1)
POINTS: list[tuple[Hold | DelayFrame, Point]] = [
    (
        Hold("gap", PointName.FETCH_RESPONSE, TWO, ONE, Offset(3), 2),
        Point("fetch_response", source=2, destination=1, topic="t", partition=0, fetch_offset=3, nth=2),
    ),
    (
        DelayFrame(PointName.FETCH_REQUEST, TWO, ONE, 5),
        Point("fetch_request", source=2, destination=1, topic="t", partition=0),
    ),
    (
        Hold("deaf", PointName.LEADER_AND_ISR, broker=TWO),
        Point("leader_and_isr", destination=2, topic="t", partition=0),
    ),
    (Hold("deaf", PointName.CONTROLLER_FETCH_RESPONSE, broker=TWO), Point("controller_fetch_response", source=2)),
    (
        Hold("wish", PointName.ALTER_PARTITION_REQUEST, broker=ONE),
        Point("alter_partition_request", source=1, topic="t", partition=0),
    ),
]


@pytest.mark.parametrize(("step", "point"), POINTS)
def test_a_step_names_a_protocol_point(step: Hold | DelayFrame, point: Point) -> None:
    assert point_of(step, "t") == point


@pytest.mark.parametrize(
    ("step", "place"),
    [
        (Hold("gap", PointName.FETCH_REQUEST, TWO, ONE), Place(follower=2, leader=1)),
        (DelayFrame(PointName.FETCH_REQUEST, TWO, ONE, 5), Place(follower=2, leader=1)),
        (Hold("deaf", PointName.LEADER_AND_ISR, broker=TWO), Place(broker=2)),
        (Hold("wish", PointName.ALTER_PARTITION_REQUEST, broker=ONE), Place(broker=1)),
    ],
)
def test_a_point_says_where_a_hold_stands(step: Hold | DelayFrame, place: Place) -> None:
    assert place_of(point_of(step, "t")) == place


class Bench:
    """Holds on a real gate, to which frames are shown without a socket."""

    def __init__(self, gate: GateProxy) -> None:
        self.gate = gate
        release = SimpleNamespace(is_at_least=lambda *_: True)
        cluster: Any = SimpleNamespace(relay=gate, spec=SimpleNamespace(is_kraft=False, release=release))
        self.faults = FaultAccount(cluster, checks_health=False)
        self.holding = Holding(gate, "t", faults=self.faults)

    def caught(self, name: str, leader: BrokerId = ONE) -> ConnectionState:
        """Hold a fetch of broker 2 and return its connection."""
        self.holding.arm(Hold(name, PointName.FETCH_REQUEST, TWO, leader))
        connection = self.gate.connected(LinkName.replication(leader))
        self.gate.request_arrived(connection, bytearray(fetch_request(offset=3)))
        self.holding.await_caught(name)
        return connection

    def standing(self) -> list[str]:
        return [entry.fault.hold for entry in self.faults.standing if isinstance(entry.fault, GateFault)]


@pytest.fixture
def bench() -> Iterator[Bench]:
    with GateProxy() as gate:
        yield Bench(gate)


def test_a_hold_blocks_its_link_from_the_frame_that_it_catches_to_its_release(bench: Bench) -> None:
    bench.holding.arm(Hold("later", PointName.FETCH_REQUEST, BrokerId(3), ONE))
    assert not bench.holding.blocked_links()
    bench.caught("gap")
    assert bench.holding.blocked_links() == {(2, 1)}
    assert bench.holding.silent()[TWO].fetch_offset == 3
    bench.holding.end(ReleaseHold("gap"))
    assert not bench.holding.blocked_links()
    assert bench.standing() == ["later"]


@pytest.mark.parametrize("end", [ReleaseHold("gap"), Drop("gap"), Close("gap")])
def test_a_frame_that_is_on_its_way_still_is_waited_for_before_it_is_let_go(
    bench: Bench, end: ReleaseHold | Drop | Close
) -> None:
    bench.holding.arm(Hold("gap", PointName.FETCH_REQUEST, TWO, ONE))
    connection = bench.gate.connected(LinkName.replication(1))
    frame = bytearray(fetch_request(offset=3))
    coming = Timer(0.1, bench.gate.request_arrived, (connection, frame))
    coming.start()
    bench.holding.end(end)
    coming.join()
    assert bench.gate.status("gap") in (HoldStatus.RELEASED, HoldStatus.DROPPED, HoldStatus.CLOSED)


def test_a_dropped_frame_is_waited_for_until_its_link_is_cut(bench: Bench) -> None:
    bench.caught("gap")
    bench.holding.end(Drop("gap"))
    assert (bench.holding.blocked_links(), bench.standing()) == ({(2, 1)}, ["gap"])
    bench.holding.discharge_link(BrokerId(3), ONE)
    assert bench.holding.blocked_links() == {(2, 1)}
    bench.holding.discharge_link(TWO, ONE)
    assert (bench.holding.blocked_links(), bench.standing()) == (frozenset(), [])


def test_what_ends_with_a_dead_broker_is_no_fault_any_more(bench: Bench) -> None:
    bench.gate.connection_lost(bench.caught("gap"))
    bench.holding.arm(Hold("later", PointName.FETCH_REQUEST, BrokerId(3), TWO))
    bench.holding.arm(Hold("other", PointName.FETCH_REQUEST, BrokerId(3), ONE))
    bench.holding.discharge(TWO)
    assert bench.standing() == ["other"]
    assert bench.gate.holds()["later"] is HoldStatus.DISARMED
    bench.holding.leader = lambda: ONE
    bench.holding.require_undisturbed()


UPDATE_METADATA, ALTER_PARTITION = 6, 56


@pytest.mark.parametrize(
    ("point", "api_key", "unreachable", "pending"),
    [
        (Point("update_metadata", destination=2), UPDATE_METADATA, {2}, set()),
        (Point("alter_partition_request", source=2), ALTER_PARTITION, set(), {2}),
    ],
)
def test_a_hold_on_a_channel_of_the_controller_makes_its_broker_deaf_or_its_wish_pending(
    bench: Bench, point: Point, api_key: int, unreachable: set[int], pending: set[int]
) -> None:
    bench.faults.inject(gate_faults.hold(bench.gate, "channel", point))
    assert not bench.holding.unreachable() | bench.holding.pending()
    link = LinkName.replication(2) if api_key == UPDATE_METADATA else LinkName.controller(100, 2)
    bench.gate.request_arrived(bench.gate.connected(link), bytearray(header_of(api_key)))
    assert (bench.holding.unreachable(), bench.holding.pending(), bench.holding.blocked_links()) == (
        unreachable,
        pending,
        set(),
    )


def header_of(api_key: int) -> bytes:
    """Return a request of which nothing but the header can be read."""
    return framed(struct.pack(">hhih", api_key, 0, 1, -1))


def test_a_frame_that_goes_with_a_connection_to_the_leader_is_a_failure(bench: Bench) -> None:
    bench.gate.connection_lost(bench.caught("gap"))
    bench.holding.leader = lambda: ONE
    with pytest.raises(HarnessError, match="hold 'gap' lost its frame"):
        bench.holding.require_undisturbed()


@pytest.mark.parametrize("leader", [TWO, 3, None])
def test_a_frame_goes_with_the_connection_to_a_former_leader(bench: Bench, leader: int | None) -> None:
    bench.gate.connection_lost(bench.caught("gap"))
    bench.holding.leader = lambda: leader
    bench.holding.require_undisturbed()
    bench.holding.leader = lambda: ONE
    bench.holding.require_undisturbed()
    assert not bench.holding.blocked_links()


def test_a_hold_that_catches_nothing_says_what_came(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.running.holding.CATCH_DEADLINE_S", 0.05)
    bench.holding.arm(Hold("gap", PointName.FETCH_REQUEST, TWO, ONE, Offset(7)))
    with pytest.raises(HoldNeverCaughtError, match=r"fetch_request of broker 2 at broker 1, fetch offset 7; .*: none"):
        bench.holding.await_caught("gap")
