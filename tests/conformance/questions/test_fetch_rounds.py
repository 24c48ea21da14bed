"""Does each measure find its number, and refuse to answer where there is none?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.questions import NotSeenError, agrees
from conformance.questions.fetch_rounds import (
    high_watermark_with,
    last_offset_reported,
    median_answer_with,
    offset_caught,
    parked_before_sent,
    records_delivered_before,
    requests_between,
    rounds_to_learn,
    shortest_idle_wait,
)
from conformance.scenarios.high_watermark.hw_11_waiting_fetch import AT_ONCE, AT_THE_LIMIT
from tests.conformance.questions.hand_made_fetches import Fetches, hand_made

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.questions.fetch_rounds import Measure

ON_LINK = {"follower": 2, "leader": 1}


@pytest.fixture
def made(tmp_path: Path) -> Fetches:
    """Return a run of two rounds: m1 comes with the old high watermark, the next answer has the new one."""
    made = hand_made(tmp_path)
    made.checkpoint("before", at=5)
    made.mark("hold_caught", "report", at=40, offset=2)
    made.fetch(1, sent=10, answered=30, high_watermark=1, records=(1, 1))
    made.checkpoint("between", at=35)
    made.fetch(2, sent=40, reached=60, answered=65, high_watermark=2)
    made.checkpoint("after", at=70)
    return made


@pytest.mark.parametrize(
    ("measure", "found"),
    [
        (last_offset_reported("between", **ON_LINK), 1),
        (last_offset_reported("after", **ON_LINK), 2),
        (offset_caught("report"), 2),
        (requests_between("between", "after", **ON_LINK), [2]),
        (requests_between("before", "between", **ON_LINK), [1]),
        (records_delivered_before("after", leader=1, followers=(2, 3), first=1), 1),
        (records_delivered_before("before", leader=1, followers=(2, 3), first=1), 0),
        (records_delivered_before("after", leader=1, followers=(2, 3), first=2), 0),
        (high_watermark_with(1, **ON_LINK), 1),
        (rounds_to_learn(1, **ON_LINK), 2),
        (median_answer_with((1,), **ON_LINK), 20),
    ],
)
def test_a_measure_finds_its_number(made: Fetches, measure: Measure, found: object) -> None:
    assert measure(made.run) == found


@pytest.mark.parametrize(
    ("measure", "text"),
    [
        (last_offset_reported("before", **ON_LINK), "had reached broker 1 at 'before'"),
        (offset_caught("another"), "no hold_caught of another"),
        (high_watermark_with(2, **ON_LINK), "carried the record at offset 2"),
        (shortest_idle_wait(**ON_LINK), "without records and news"),
    ],
)
def test_what_is_not_there_is_not_seen(made: Fetches, measure: Measure, text: str) -> None:
    with pytest.raises(NotSeenError, match=text):
        measure(made.run)


def test_a_commit_that_the_first_answer_tells_takes_one_round(tmp_path: Path) -> None:
    made = hand_made(tmp_path)
    made.fetch(1, sent=10, answered=30, high_watermark=2, records=(1, 1))

    assert rounds_to_learn(1, **ON_LINK)(made.run) == 1


def test_a_commit_that_no_answer_tells_is_not_seen(tmp_path: Path) -> None:
    made = hand_made(tmp_path)
    made.fetch(1, sent=10, answered=30, high_watermark=1, records=(1, 1))

    with pytest.raises(NotSeenError, match="above 1"):
        rounds_to_learn(1, **ON_LINK)(made.run)


def waits(tmp_path: Path, *waits_ms: int) -> Fetches:
    """Return a run whose fetches get one record each after these times; m0 is sent at 0, m1 when its fetch waits."""
    made, at = hand_made(tmp_path), 0
    for offset, wait in enumerate(waits_ms):
        made.fetch(offset, sent=at, answered=at + wait, records=(offset, offset))
        made.mark("record_sent", f"m{offset}", at=at + wait // 2 if offset else 0)
        at += wait + 10
    return made


def test_waits_are_summed_up(tmp_path: Path) -> None:
    made = waits(tmp_path, 20, 40, 600)

    assert median_answer_with((0, 1), **ON_LINK)(made.run) == 20
    assert median_answer_with((0, 1, 2), **ON_LINK)(made.run) == 40
    assert not agrees(AT_ONCE, median_answer_with((2,), **ON_LINK)(made.run))


def test_a_fetch_was_parked_if_its_record_was_sent_later(tmp_path: Path) -> None:
    made = waits(tmp_path, 20, 40)

    assert parked_before_sent((("m0", 0), ("m1", 1)), **ON_LINK)(made.run) == 1


def test_a_producer_that_is_late_still_sent_after_the_fetch_had_arrived(tmp_path: Path) -> None:
    made = hand_made(tmp_path)
    made.fetch(1, sent=10, answered=500)
    made.mark("record_sent", "m1", at=40)
    made.fetch(1, sent=501, answered=540, records=(1, 1))

    assert parked_before_sent((("m1", 1),), **ON_LINK)(made.run) == 1


def test_a_fetch_that_was_answered_before_the_record_was_sent_did_not_wait_for_it(tmp_path: Path) -> None:
    """A fetch that carries the record always arrives before the answer that commits it; that says nothing."""
    made = hand_made(tmp_path)
    made.fetch(1, sent=10, answered=11)
    made.mark("record_sent", "m1", at=40)
    made.fetch(1, sent=45, answered=46, records=(1, 1))

    assert parked_before_sent((("m1", 1),), **ON_LINK)(made.run) == 0


@pytest.mark.parametrize(("wait", "is_at_the_limit"), [(480, False), (490, True), (999, True), (1_000, False)])
def test_an_idle_wait_is_that_of_a_fetch_without_news(tmp_path: Path, wait: int, is_at_the_limit: bool) -> None:
    made = hand_made(tmp_path)
    made.fetch(1, sent=0, answered=20, records=(1, 1), high_watermark=1)
    made.fetch(2, sent=30, answered=40, high_watermark=2)
    made.fetch(2, sent=50, answered=50 + wait, high_watermark=2)

    shortest = shortest_idle_wait(**ON_LINK)(made.run)
    assert shortest == wait
    assert agrees(AT_THE_LIMIT, shortest) is is_at_the_limit


def test_a_fetch_that_was_never_answered_has_no_wait(tmp_path: Path) -> None:
    made = hand_made(tmp_path)
    made.fetch(1, sent=0)

    with pytest.raises(NotSeenError):
        median_answer_with((1,), **ON_LINK)(made.run)
