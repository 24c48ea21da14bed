"""Does the gate catch the frame that was asked for, only that one, and end every hold the right way?"""

from uuid import UUID

import pytest

from fault_injection.wire.gate_events import HoldStatus
from fault_injection.wire.points import Point
from tests.fault_injection.wire.gate_transcript import Paper, answer_of, asked, fetch_of, given

REQUEST = Point("fetch_request", source=2, destination=1, topic="t", partition=0)
RESPONSE = Point("fetch_response", source=2, destination=1, topic="t", partition=0)
RETRIABLE = [3, 5, 6, 9, 74, 75, 78, 100, 103]


@pytest.fixture
def paper() -> Paper:
    return Paper()


def at(point: Point, fetch_offset: int | None = None, nth: int = 1) -> Point:
    return Point(point.name, 2, 1, "t", 0, fetch_offset=fetch_offset, nth=nth)


def test_nothing_armed_lets_everything_through(paper: Paper) -> None:
    assert [paper.fetch(0), paper.answer()] == ["forward", "forward"]
    assert paper.story() == []


def test_a_request_hold_catches_the_next_matching_request_and_only_that(paper: Paper) -> None:
    paper.arm("gap", at(REQUEST, fetch_offset=1))
    assert [paper.fetch(0), paper.answer(), paper.fetch(1)] == ["forward", "forward", "hold gap"]
    paper.release("gap")
    assert [paper.answer(), paper.fetch(1)] == ["forward", "forward"]
    assert paper.story() == ["gap armed", "gap caught", "gap released"]


def test_a_request_that_arrived_before_arming_is_not_caught(paper: Paper) -> None:
    assert paper.fetch(1) == "forward"
    paper.arm("gap", at(REQUEST, fetch_offset=1))
    assert paper.answer() == "forward"
    assert paper.gate.status("gap") is HoldStatus.ARMED


def test_a_response_hold_passes_over_a_fetch_parked_before_arming(paper: Paper) -> None:
    paper.fetch(1)
    paper.arm("late", at(RESPONSE, fetch_offset=1))
    assert paper.answer() == "forward"
    assert [paper.fetch(1), paper.answer()] == ["forward", "hold late"]


def test_a_request_held_while_a_response_hold_is_armed_counts_when_it_is_forwarded(paper: Paper) -> None:
    paper.arm("gap", REQUEST)
    assert paper.fetch(1) == "hold gap"
    paper.arm("late", RESPONSE)
    paper.release("gap")
    assert paper.answer() == "hold late"


def test_a_held_response_shows_what_it_said_when_it_left_the_leader(paper: Paper) -> None:
    paper.arm("late", RESPONSE)
    paper.fetch(4)
    paper.answer()
    caught = paper.gate.caught("late")
    assert caught is not None
    assert (caught.direction, caught.fetch_offset, caught.view) == ("response", 4, answer_of(given()))
    assert caught.partition == asked(4)


def test_a_held_request_shows_what_it_asked(paper: Paper) -> None:
    paper.arm("gap", REQUEST)
    paper.fetch(4)
    caught = paper.gate.caught("gap")
    assert caught is not None
    assert (caught.direction, caught.fetch_offset, caught.view) == ("request", 4, fetch_of(asked(4)))


@pytest.mark.parametrize("point", [REQUEST, RESPONSE])
def test_nth_counts_matching_frames_only(paper: Paper, point: Point) -> None:
    paper.arm("third", at(point, nth=3))
    outcomes = []
    for offset in range(4):
        outcomes += [paper.fetch(offset, connection=3), paper.answer(connection=3)]
        outcomes += [paper.fetch(offset), paper.answer()]
    assert [index for index, outcome in enumerate(outcomes) if outcome != "forward"] == [10 if point is REQUEST else 11]


@pytest.mark.parametrize("error", RETRIABLE)
def test_a_retry_is_not_counted(paper: Paper, error: int) -> None:
    paper.arm("second", at(REQUEST, nth=2))
    assert [paper.fetch(1), paper.answer(error), paper.fetch(1), paper.answer(error)] == ["forward"] * 4
    assert [paper.fetch(1), paper.answer()] == ["forward", "forward"]
    assert paper.fetch(2) == "hold second"


def test_the_same_request_after_an_answer_without_error_is_counted(paper: Paper) -> None:
    paper.arm("second", at(REQUEST, nth=2))
    assert [paper.fetch(1), paper.answer(), paper.fetch(1)] == ["forward", "forward", "hold second"]


def test_a_changed_request_after_an_error_is_counted(paper: Paper) -> None:
    paper.arm("second", at(REQUEST, nth=2))
    assert [paper.fetch(1, epoch=4), paper.answer(74), paper.fetch(1, epoch=5)] == ["forward", "forward", "hold second"]


def test_the_first_request_after_arming_is_caught_even_if_it_repeats_an_earlier_one(paper: Paper) -> None:
    assert [paper.fetch(1), paper.answer(6)] == ["forward", "forward"]
    paper.arm("gap", REQUEST)
    assert paper.fetch(1) == "hold gap"


@pytest.mark.parametrize("error", RETRIABLE)
def test_a_response_hold_passes_over_answers_that_only_say_try_again(paper: Paper, error: int) -> None:
    paper.arm("late", RESPONSE)
    assert [paper.fetch(1), paper.answer(error), paper.fetch(1), paper.answer()] == [
        "forward",
        "forward",
        "forward",
        "hold late",
    ]


def test_an_error_that_is_no_retry_is_caught(paper: Paper) -> None:
    paper.arm("late", RESPONSE)
    assert [paper.fetch(9), paper.answer(1)] == ["forward", "hold late"]


def test_a_top_level_error_is_a_retry_for_every_partition(paper: Paper) -> None:
    paper.arm("late", RESPONSE)
    assert [paper.fetch(1), paper.respond(answer_of(error=71))] == ["forward", "forward"]
    assert [paper.fetch(1), paper.answer()] == ["forward", "hold late"]


def test_a_retriable_error_of_another_partition_does_not_matter(paper: Paper) -> None:
    paper.arm("late", RESPONSE)
    paper.fetch(1)
    assert paper.respond(answer_of(given(6, topic="other"), given(0))) == "hold late"


def test_an_undecoded_answer_is_caught(paper: Paper) -> None:
    paper.arm("late", RESPONSE)
    paper.fetch(1)
    assert paper.respond(None) == "hold late"
    caught = paper.gate.caught("late")
    assert caught is not None
    assert caught.view is None


def test_an_undecoded_request_is_caught_by_a_point_that_names_no_partition(paper: Paper) -> None:
    paper.arm("gap", Point("leader_and_isr", source=2))
    assert paper.request(None, api_key=4) == "hold gap"
    caught = paper.gate.caught("gap")
    assert caught is not None
    assert (caught.partition, caught.fetch_offset) == (None, None)


def test_topics_known_by_id_are_told_apart(paper: Paper) -> None:
    paper.arm("late", RESPONSE)
    mine, other = UUID(int=7), UUID(int=8)
    paper.request(fetch_of(asked(1, topic_id=mine), asked(1, topic=None, topic_id=other)))
    assert paper.respond(answer_of(given(6, topic=None, topic_id=other), given(topic_id=mine))) == "hold late"


def test_two_holds_on_one_link_catch_one_frame_each(paper: Paper) -> None:
    paper.arm("a", REQUEST)
    paper.arm("b", REQUEST)
    assert paper.fetch(1) == "hold a"
    paper.release("a")
    assert [paper.answer(), paper.fetch(2)] == ["forward", "hold b"]


def test_two_response_holds_on_one_link_catch_one_answer_each(paper: Paper) -> None:
    paper.arm("a", RESPONSE)
    paper.arm("b", RESPONSE)
    assert [paper.fetch(1), paper.answer()] == ["forward", "hold a"]
    paper.release("a")
    assert [paper.fetch(2), paper.answer()] == ["forward", "hold b"]


def test_holds_on_two_links_are_independent(paper: Paper) -> None:
    paper.arm("two", REQUEST)
    paper.arm("three", Point("fetch_response", source=3))
    assert [paper.fetch(1), paper.fetch(1, connection=3)] == ["hold two", "forward"]
    assert paper.answer(connection=3) == "hold three"
    paper.release("two")
    assert paper.gate.holds() == {"two": HoldStatus.RELEASED, "three": HoldStatus.CAUGHT}


def test_a_wide_response_hold_takes_the_answer_to_the_first_matching_request(paper: Paper) -> None:
    paper.arm("any", Point("fetch_response"))
    paper.fetch(1, connection=2)
    paper.fetch(1, connection=3)
    assert [paper.answer(connection=3), paper.answer(connection=2)] == ["forward", "hold any"]


def test_an_answer_to_another_request_of_the_connection_is_let_through(paper: Paper) -> None:
    paper.arm("late", RESPONSE)
    paper.fetch(1)
    pipelined = paper.in_flight[2]
    paper.request(None, api_key=3)
    assert paper.answer() == "forward"
    paper.in_flight[2] = pipelined
    assert paper.answer() == "hold late"
