"""Does a wait end at once on success, and say what it saw on failure?"""

import threading
import time

import pytest

from fault_injection.waiting import DeadlineExceededError, NotYetError, until


def test_a_condition_that_holds_is_asked_once_and_nothing_is_slept() -> None:
    asked: list[int] = []

    def here() -> str:
        asked.append(1)
        return "here"

    began = time.monotonic()
    assert until(here, deadline_s=5, what="it", interval_s=2) == "here"
    assert asked == [1]
    assert time.monotonic() - began < 1


def test_no_sleep_follows_success() -> None:
    answers = iter([None, False, 0])
    began = time.monotonic()
    assert until(lambda: next(answers), deadline_s=5, what="zero counts as held", interval_s=0.05) == 0
    assert time.monotonic() - began < 1


def test_a_missed_deadline_names_the_state_and_what_was_seen() -> None:
    def never() -> str:
        raise NotYetError(["isr", 1])

    with pytest.raises(DeadlineExceededError, match="isr of t-0 is 1, 2") as missed:
        until(never, deadline_s=0.05, what="isr of t-0 is 1, 2", interval_s=0.01)
    assert missed.value.last_seen == ["isr", 1]
    assert missed.value.deadline_s == 0.05


def test_the_condition_is_asked_even_when_the_deadline_is_zero() -> None:
    assert until(lambda: 7, deadline_s=0, what="it") == 7


def test_another_exception_of_the_condition_is_not_swallowed() -> None:
    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        until(broken, deadline_s=1, what="it")


def test_a_tester_that_stood_still_says_for_how_long() -> None:
    gaps = iter([0.0, 0.3, 0.0])

    def slow() -> None:
        threading.Event().wait(next(gaps, 0.0))

    with pytest.raises(DeadlineExceededError) as missed:
        until(slow, deadline_s=0.4, what="it", interval_s=0.01)
    assert 0.25 < missed.value.longest_gap_s < 5
