"""FE-03: turns are read from fetches, in a session or not, and one who starves shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.examining.partition_order import (
    _after_hold,
    _answers,
    _in_order_of_coming,
    _in_order_of_request,
    _orders,
)
from tests.conformance.examining.fetch_frames import fetch

if TYPE_CHECKING:
    from conformance.wire_trace.fetches import FollowerFetch

ORDER = "fetcher 0: order of the partitions, request by request"
GIVEN = "fetcher 0: whose records came, answer by answer"


def answers_of(seen: list[FollowerFetch]) -> dict[str, object]:
    taken = _after_hold(seen, 0)
    answers = (*_answers(0, taken, _in_order_of_request(taken)), _orders(0, taken))
    return {answer.what: answer.value for answer in answers}


def test_taken_turns_are_positions_in_the_first_request() -> None:
    answers = answers_of([fetch(4, 0, 7, 1), fetch(4, 0, 7, 1, given=7), fetch(4, 0, 1, 7, given=1), fetch(4, 0, 7, 1)])

    assert (answers["partitions of fetcher 0"], answers[GIVEN]) == ([1, 7], [0, 1])
    assert answers[ORDER] == [[0, 1], [1, 0], [0, 1]]


def test_a_starving_partition_shows() -> None:
    answers = answers_of([fetch(4, 0, 7, 1, given=7), fetch(4, 0, 7, 1, given=7), fetch(4, 0, 7, 1)])

    assert answers[GIVEN] == [0, 0]


def test_nothing_seen_is_no_answer_that_was_predicted() -> None:
    answers = answers_of([])

    assert (answers["partitions of fetcher 0"], answers[ORDER]) == ([], [])


def test_in_a_session_partitions_are_numbered_as_they_come() -> None:
    seen = [fetch(4, 0, 1, 7, given=given) for given in (7, 1, 7, 7)] + [fetch(4, 0, 1, 7)]
    taken = _after_hold(seen, 0)
    answers = {answer.what: answer.value for answer in _answers(0, taken, _in_order_of_coming(taken))}

    assert answers[GIVEN] == [0, 1, 0, 0]
