"""What becomes of a caught frame, and of a hold whose connection, name or purpose is gone?"""

import pytest

from fault_injection.wire.gate import GateError
from fault_injection.wire.gate_events import FORWARD, HoldStatus
from fault_injection.wire.points import Point
from tests.fault_injection.wire.gate_transcript import Paper

REQUEST = Point("fetch_request", source=2, destination=1, topic="t", partition=0)
RESPONSE = Point("fetch_response", source=2, destination=1, topic="t", partition=0)
RETRIABLE = [3, 5, 6, 9, 74, 75, 78, 100, 103]


@pytest.fixture
def paper() -> Paper:
    return Paper()


def at(point: Point, fetch_offset: int | None = None, nth: int = 1) -> Point:
    return Point(point.name, 2, 1, "t", 0, fetch_offset=fetch_offset, nth=nth)


@pytest.mark.parametrize(("action", "status"), [("drop", HoldStatus.DROPPED), ("close", HoldStatus.CLOSED)])
def test_drop_and_close_act_at_once(paper: Paper, action: str, status: HoldStatus) -> None:
    paper.arm("now", REQUEST, action=action)  # type: ignore[arg-type] # the parameter lists the literals
    assert paper.fetch(1) == f"{action} now"
    assert paper.gate.status("now") is status
    assert paper.story() == ["now armed", "now caught", f"now {status}"]
    assert paper.fetch(1) == "forward"


def test_delay_says_until_when(paper: Paper) -> None:
    paper.arm("slow", REQUEST, action="delay", delay_ms=20)
    paper.fetch(1)
    caught = paper.gate.caught("slow")
    assert caught is not None
    later = Paper()
    later.arm("slow", REQUEST, action="delay", delay_ms=20)
    decision = later.gate.on_request(caught.request, 1_000)
    assert (decision.action, decision.until_ns) == ("delay", 1_000 + 20_000_000)


def test_a_held_frame_can_be_dropped_or_its_connection_closed(paper: Paper) -> None:
    paper.arm("a", REQUEST)
    paper.fetch(1)
    paper.gate.drop("a", 90)
    paper.arm("b", REQUEST)
    paper.fetch(1)
    paper.gate.close_connection("b", 91)
    assert paper.gate.holds() == {"a": HoldStatus.DROPPED, "b": HoldStatus.CLOSED}


def test_a_frame_whose_connection_ends_is_discharged(paper: Paper) -> None:
    paper.arm("gap", REQUEST)
    paper.fetch(1)
    assert paper.lose(connection=3) == ()
    assert paper.lose(connection=2) == ("gap",)
    with pytest.raises(GateError, match="'gap' is discharged: no frame is held that could be released"):
        paper.release("gap")
    assert paper.story() == ["gap armed", "gap caught", "gap discharged"]


def test_a_response_hold_waits_on_when_the_connection_of_its_request_ends(paper: Paper) -> None:
    paper.arm("late", at(RESPONSE, nth=1))
    paper.fetch(1)
    assert paper.lose() == ()
    assert [paper.fetch(1), paper.answer()] == ["forward", "hold late"]


def test_an_unanswered_request_of_a_lost_connection_is_not_counted(paper: Paper) -> None:
    paper.arm("second", at(RESPONSE, nth=2))
    paper.fetch(1)
    paper.lose()
    assert [paper.fetch(1), paper.answer(), paper.fetch(2), paper.answer()] == ["forward"] * 3 + ["hold second"]


def test_a_request_hold_counts_requests_whether_answered_or_not(paper: Paper) -> None:
    paper.arm("second", at(REQUEST, nth=2))
    paper.fetch(1)
    paper.lose()
    assert paper.fetch(1) == "hold second"


def test_a_lost_connection_leaves_ended_holds_alone(paper: Paper) -> None:
    paper.arm("gap", REQUEST)
    paper.fetch(1)
    paper.release("gap")
    assert paper.lose() == ()
    assert paper.gate.status("gap") is HoldStatus.RELEASED


def test_a_disarmed_action_catches_nothing(paper: Paper) -> None:
    paper.arm("gap", REQUEST)
    paper.gate.disarm("gap", 5)
    assert paper.fetch(1) == "forward"
    with pytest.raises(GateError, match="disarmed"):
        paper.gate.disarm("gap", 6)


def test_a_name_in_use_is_refused_and_stays_as_it_is(paper: Paper) -> None:
    paper.arm("gap", REQUEST)
    with pytest.raises(GateError, match="armed already"):
        paper.arm("gap", RESPONSE)
    assert paper.fetch(1) == "hold gap"
    with pytest.raises(GateError, match="caught already"):
        paper.arm("gap", RESPONSE)
    paper.release("gap")
    paper.arm("gap", REQUEST)
    assert paper.gate.caught("gap") is None
    assert paper.fetch(2) == "hold gap"


def test_an_unknown_name_is_an_error(paper: Paper) -> None:
    for verb in (paper.gate.status, paper.gate.caught):
        with pytest.raises(GateError, match="no hold is named 'nobody'"):
            verb("nobody")
    with pytest.raises(GateError, match="no hold is named 'nobody'"):
        paper.release("nobody")


def test_only_a_held_frame_can_be_released(paper: Paper) -> None:
    paper.arm("gap", REQUEST)
    with pytest.raises(GateError, match="armed"):
        paper.release("gap")


def test_forward_names_no_action() -> None:
    assert (FORWARD.name, FORWARD.until_ns) == (None, None)
