"""Does an action catch as many frames as it was armed for, answer them, and ask for what an answer says?"""

import pytest

from fault_injection.wire.content import Content
from fault_injection.wire.gate import GateError
from fault_injection.wire.gate_events import HoldStatus
from fault_injection.wire.points import Point
from fault_injection.wire.views import FetchedPartition, ProducedPartition, ProduceRequestView
from tests.fault_injection.wire.gate_transcript import Paper, answer_of, asked, fetch_of

REQUEST = Point("fetch_request", source=2)
RESPONSE = Point("fetch_response", source=2)
NOT_LEADER = 6


@pytest.fixture
def paper() -> Paper:
    return Paper()


def with_high_watermark(offset: int) -> FetchedPartition:
    return FetchedPartition("t", None, 0, 0, offset)


def test_every_matching_request_is_caught_until_the_action_is_disarmed(paper: Paper) -> None:
    paper.arm("all", REQUEST, "drop", frames_max=None)
    assert [paper.fetch(1) for _ in range(3)] == ["drop all#1", "drop all#2", "drop all#3"]
    assert (paper.gate.status("all"), paper.gate.frames("all")) == (HoldStatus.ARMED, 3)
    paper.gate.disarm("all", 90)
    assert paper.fetch(1) == "forward"
    assert paper.gate.status("all") is HoldStatus.DISARMED


def test_a_limit_ends_an_action(paper: Paper) -> None:
    paper.arm("two", REQUEST, "drop", frames_max=2)
    assert [paper.fetch(1) for _ in range(3)] == ["drop two#1", "drop two#2", "forward"]
    assert paper.gate.status("two") is HoldStatus.DROPPED
    assert paper.story() == ["two armed", "two#1 caught", "two#1 dropped", "two#2 caught", "two#2 dropped"]


def test_several_frames_begin_with_the_nth_and_leave_none_out(paper: Paper) -> None:
    paper.arm("late", Point("fetch_request", nth=2), "drop", frames_max=None)
    outcomes = [paper.fetch(1), paper.answer(NOT_LEADER), paper.fetch(1), paper.answer(), paper.fetch(1)]
    assert outcomes == ["forward", "forward", "forward", "forward", "drop late#1"]  # a retry is not the second
    assert paper.fetch(1) == "drop late#2"


def test_frames_of_several_connections_are_held_at_once_and_end_one_by_one(paper: Paper) -> None:
    paper.arm("all", Point("fetch_request"), frames_max=3)
    assert [paper.fetch(1, connection=2), paper.fetch(1, connection=3)] == ["hold all#1", "hold all#2"]
    assert paper.gate.release("all#2", 90) == ("all#2",)
    assert paper.fetch(2, connection=3) == "hold all#3"
    assert paper.gate.status("all") is HoldStatus.CAUGHT
    assert paper.gate.release("all", 91) == ("all#1", "all#3")
    assert paper.gate.status("all") is HoldStatus.RELEASED
    with pytest.raises(GateError, match="no frame is held"):
        paper.gate.release("all", 92)


def test_frames_stay_held_when_the_action_is_disarmed(paper: Paper) -> None:
    paper.arm("all", REQUEST, frames_max=None)
    paper.fetch(1)
    paper.gate.disarm("all", 90)
    with pytest.raises(GateError, match="already"):
        paper.arm("all", REQUEST)
    assert paper.gate.drop("all", 91) == ("all#1",)
    assert paper.gate.status("all") is HoldStatus.DISARMED


def test_only_the_frames_of_a_lost_connection_are_discharged(paper: Paper) -> None:
    paper.arm("all", Point("fetch_request"), frames_max=None)
    paper.fetch(1, connection=2)
    paper.fetch(1, connection=3)
    assert paper.lose(connection=3) == ("all#2",)
    assert paper.gate.status("all") is HoldStatus.ARMED
    assert paper.gate.release("all", 90) == ("all#1",)


def test_every_answer_is_caught_also_one_that_says_try_again(paper: Paper) -> None:
    paper.arm("all", RESPONSE, "drop", frames_max=None)
    outcomes = [outcome for error in (0, NOT_LEADER, 0) for outcome in (paper.fetch(1), paper.answer(error))]
    # the first retriable error before any catch would be stutter; here an answer was caught before
    assert outcomes == ["forward", "drop all#1", "forward", "drop all#2", "forward", "drop all#3"]


def test_a_request_is_answered_and_its_retry_is_let_through(paper: Paper) -> None:
    paper.arm("refused", REQUEST, "answer", error=NOT_LEADER)
    assert paper.fetch(1) == "answer refused"
    assert paper.gate.status("refused") is HoldStatus.ANSWERED
    assert paper.fetch(1) == "forward"


def test_a_retry_of_what_the_gate_answered_is_stutter_to_others(paper: Paper) -> None:
    paper.arm("refused", REQUEST, "answer", error=NOT_LEADER)
    paper.arm("second", Point("fetch_request", nth=2))
    assert [paper.fetch(1), paper.fetch(1), paper.answer(), paper.fetch(2)] == [
        "answer refused",
        "forward",
        "forward",
        "hold second",
    ]


def test_no_response_point_waits_for_what_the_gate_answered(paper: Paper) -> None:
    paper.arm("late", RESPONSE)
    paper.arm("refused", REQUEST, "answer", error=NOT_LEADER)
    paper.fetch(1)
    assert [paper.fetch(1), paper.answer()] == ["forward", "hold late"]


def test_a_held_frame_can_be_answered(paper: Paper) -> None:
    paper.arm("gap", REQUEST)
    paper.fetch(1)
    assert paper.gate.answer("gap", NOT_LEADER, 90) == ("gap",)
    assert paper.gate.status("gap") is HoldStatus.ANSWERED


def test_a_held_request_that_nobody_awaits_an_answer_to_cannot_be_answered(paper: Paper) -> None:
    paper.arm("gap", Point("produce_request"))
    paper.request(ProduceRequestView(0, 1000, (ProducedPartition("t", None, 0, record_bytes=70),)), api_key=0)
    with pytest.raises(GateError, match="hold 'gap' cannot be answered: its sender waits for no answer"):
        paper.gate.answer("gap", NOT_LEADER, 90)
    assert paper.gate.close_connection("gap", 91) == ("gap",)


def test_the_answer_that_came_can_be_replaced(paper: Paper) -> None:
    paper.arm("refused", RESPONSE, "answer", error=NOT_LEADER)
    assert [paper.fetch(1), paper.answer()] == ["forward", "answer refused"]


def test_a_request_that_nobody_answers_ends_its_connection_instead(paper: Paper) -> None:
    view = ProduceRequestView(0, 1000, (ProducedPartition("t", None, 0, record_bytes=70),))
    paper.arm("refused", Point("produce_request"), "answer", error=20)
    paper.arm("late", Point("produce_response"))
    assert paper.request(view, api_key=0) == "close refused"
    assert paper.request(view, api_key=0) == "forward"
    assert paper.respond(None) == "forward"  # an answer that belongs to another request


def test_a_produce_is_refused_whatever_the_error_says(paper: Paper) -> None:
    view = ProduceRequestView(1, 1000, (ProducedPartition("t", None, 0, record_bytes=70),))
    paper.arm("second", Point("produce_request", nth=2))
    assert paper.request(view, api_key=0) == "forward"
    paper.respond(answer_of(error=NOT_LEADER))
    assert paper.request(view, api_key=0) == "hold second"


def test_a_response_point_asks_for_what_the_answer_says(paper: Paper) -> None:
    paper.arm("risen", Point("fetch_response", answered=Content(high_watermark=2), nth=2))
    outcomes = []
    for offset in (0, 2, 1, 2):
        outcomes += [paper.fetch(1), paper.respond(answer_of(with_high_watermark(offset)))]
    assert outcomes == ["forward"] * 7 + ["hold risen"]


def test_an_answer_to_a_request_before_arming_is_not_asked(paper: Paper) -> None:
    paper.fetch(1)
    paper.arm("risen", Point("fetch_response", answered=Content(high_watermark=2)))
    assert paper.respond(answer_of(with_high_watermark(2))) == "forward"


def test_an_error_that_is_asked_for_is_no_stutter(paper: Paper) -> None:
    paper.arm("refused", Point("fetch_response", answered=Content(error=NOT_LEADER)))
    assert [paper.fetch(1), paper.answer(), paper.fetch(1), paper.answer(NOT_LEADER)] == ["forward"] * 3 + [
        "hold refused"
    ]


def test_a_lost_connection_is_waited_for_no_more(paper: Paper) -> None:
    paper.arm("risen", Point("fetch_response", answered=Content(high_watermark=2)))
    paper.fetch(1)
    paper.lose()
    assert paper.respond(answer_of(with_high_watermark(2))) == "forward"


def test_frames_that_pass_are_remembered_for_whoever_asks_what_came_instead(paper: Paper) -> None:
    paper.arm("gap", Point("fetch_request", fetch_offset=9))
    for offset in range(7):
        paper.fetch(offset)
    paper.fetch(9, connection=3)
    passed = [request.partitions for request, _ in paper.gate.passed("gap")]
    assert passed == [(asked(offset),) for offset in range(2, 7)]
    caught = paper.gate.caught("gap")
    assert caught is not None
    assert caught.view == fetch_of(asked(9), follower=3)


@pytest.mark.parametrize(
    ("name", "action", "error", "frames_max"),
    [("a", "answer", None, 1), ("a", "hold", 6, 1), ("a", "hold", None, 0), ("a#1", "hold", None, 1)],
)
def test_what_makes_no_sense_is_refused(
    paper: Paper, name: str, action: str, error: int | None, frames_max: int
) -> None:
    with pytest.raises(ValueError, match=r"answer needs an error|at least one"):
        paper.arm(name, REQUEST, action, error=error, frames_max=frames_max)  # type: ignore[arg-type] # literals
