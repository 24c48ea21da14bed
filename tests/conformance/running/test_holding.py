"""Does a run know which frames its holds stop, and whom that keeps from what?"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.interruption import HarnessError
from conformance.running.holding import Holding, fields_of, point_of
from fault_injection.wire.gate_events import HoldStatus
from fault_injection.wire.points import Point
from oracle.steps.frames import Delay, Hold
from oracle.vocabulary import BrokerId, Offset, PointName

TWO, ONE = BrokerId(2), BrokerId(1)
POINTS: list[tuple[Hold | Delay, Point]] = [
    (
        Hold("gap", PointName.FETCH_RESPONSE, TWO, ONE, Offset(3), 2),
        Point("fetch_response", source=2, destination=1, topic="t", partition=0, fetch_offset=3, nth=2),
    ),
    (
        Delay(PointName.FETCH_REQUEST, TWO, ONE, 5),
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
def test_a_step_names_a_protocol_point(step: Hold | Delay, point: Point) -> None:
    assert point_of(step, "t") == point


def test_the_timeline_says_where_a_hold_stands() -> None:
    deaf = Hold("deaf", PointName.LEADER_AND_ISR, broker=TWO)
    assert fields_of(deaf) == {"broker": 2, "point": "leader_and_isr"}
    gap = Hold("gap", PointName.FETCH_REQUEST, TWO, ONE)
    assert fields_of(gap) == {"follower": 2, "leader": 1, "point": "fetch_request"}
    assert fields_of(None) == {}


class LosingGate:
    """A gate whose held frame has gone with its connection."""

    failures: tuple[str, ...] = ()

    def status(self, _name: str) -> HoldStatus:
        return HoldStatus.DISCHARGED


def holding_that_has_lost(leader: int | None) -> Holding:
    account = SimpleNamespace(inject=lambda fault: fault, heal=lambda _fault: None)
    holding = Holding(cast("Any", LosingGate()), "t", faults=cast("Any", account))
    holding.arm(Hold("gap", PointName.FETCH_REQUEST, TWO, ONE))
    holding.leader = lambda: leader
    return holding


def test_a_frame_that_goes_with_a_connection_to_the_leader_is_a_failure() -> None:
    with pytest.raises(HarnessError, match="hold 'gap' lost its frame"):
        holding_that_has_lost(ONE).require_undisturbed()


@pytest.mark.parametrize("leader", [TWO, 3, None])
def test_a_frame_goes_with_the_connection_to_a_former_leader(leader: int | None) -> None:
    holding = holding_that_has_lost(leader)
    holding.require_undisturbed()
    holding.leader = lambda: ONE
    holding.require_undisturbed()
    assert not holding.blocked_links()
