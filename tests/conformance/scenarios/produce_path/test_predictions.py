"""What is predicted of produces that wait for replicas, and is the wait measured?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.questions import NotSeenError, agrees
from conformance.questions.one_row import waited
from tests.conformance.questions.hand_made_runs import HandMadeRun
from tests.conformance.scenarios.ladder_predictions import (
    LINES,
    answer,
    fates,
    high_watermarks,
    kraft,
    outcomes,
    where_it_holds,
)

if TYPE_CHECKING:
    from pathlib import Path

FROZEN = {f"{version} {mode.value}" for version, mode in LINES if tuple(map(int, version.split("."))) >= (3, 7)}
"""The lines on which the high watermark stands still below the minimum (KAFKA-15583)."""


def test_a_record_whose_time_is_up_stays() -> None:
    for line in LINES:
        assert outcomes("AC-03/timeout", line)["m1"] == "REQUEST_TIMED_OUT"
        assert fates("AC-03/timeout", line)["m1"] == "present"


def test_the_wait_ends_by_the_second_fetch() -> None:
    assert {tuple(high_watermarks("AC-03/replicated", line)) for line in LINES} == {(1, 2)}


def test_after_the_append_there_are_too_few_or_time_is_up() -> None:
    assert where_it_holds("AC-05", lambda line: outcomes("AC-05", line)["m1"] == "REQUEST_TIMED_OUT") == FROZEN
    too_few = where_it_holds("AC-05", lambda line: outcomes("AC-05", line)["m1"] == "NOT_ENOUGH_REPLICAS_AFTER_APPEND")
    assert len(too_few) + len(FROZEN) == len(LINES)
    assert {fates("AC-05", line)["m1"] for line in LINES} == {"present"}


def test_a_replica_that_is_back_in_time_ends_the_wait_where_it_goes_on() -> None:
    name = "AC-05/back-in-time"
    assert where_it_holds(name, lambda line: outcomes(name, line)["m1"] == "acknowledged") == FROZEN


def test_acks_1_below_the_minimum_is_invisible_from_3_7_on() -> None:
    assert where_it_holds("AC-06", lambda line: high_watermarks("AC-06", line) == [1, 1, 3]) == FROZEN
    assert len(where_it_holds("AC-06", lambda line: high_watermarks("AC-06", line) == [2, 3, 3])) + len(FROZEN) == len(
        LINES
    )


@pytest.mark.parametrize(("ms", "is_right"), [(5_900, False), (6_000, True), (6_500, True), (6_501, False)])
def test_the_wait_is_measured(tmp_path: Path, ms: int, is_right: bool) -> None:
    made = HandMadeRun(tmp_path / "run")
    made.mark(1_000, "step_started", "produce", step=3)
    made.mark(1_020, "record_sent", "m1", step=3)
    made.observe(1_100, "outcome", label="m0")
    made.observe(1_000 + ms, "outcome", label="m1")

    assert waited(made.run, "m1").ms == ms
    assert agrees(answer("AC-03/timeout", kraft("4.3.1"), "milliseconds"), ms) is is_right


def test_a_record_without_an_outcome(tmp_path: Path) -> None:
    made = HandMadeRun(tmp_path / "run")
    made.mark(1_000, "step_started", "produce", step=3)
    made.mark(1_020, "record_sent", "m1", step=3)

    with pytest.raises(NotSeenError, match="no outcome of m1"):
        waited(made.run, "m1")
