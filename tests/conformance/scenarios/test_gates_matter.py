"""Is it the gate that makes the state? A high watermark or truncation row without its holds is another prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.registry import SCENARIOS
from oracle.predict import predict
from oracle.steps.frames import Hold
from oracle.steps.step import ScheduleError
from tests.conformance.scenarios.ladder_predictions import LINES, Line, rules
from tests.oracle.schedules import without_holds

if TYPE_CHECKING:
    from conformance.catalogue.scenario import Scenario

ABOUT_TIME = {"HW-11"}
"""Rows whose holds decide when an answer comes, and no number."""
AREAS = ("HW", "TR")
GATED = [
    entry
    for entry in SCENARIOS
    if entry.name.startswith(AREAS) and any(isinstance(step, Hold) for step in entry.schedule.steps)
]
SAMPLE = (LINES[1], LINES[-1])


def numbers(entry: Scenario, line: Line, *, gated: bool) -> object:
    """Return what can be measured; the reason instead where nothing can be predicted."""
    schedule = entry.schedule if gated else without_holds(entry.schedule)
    try:
        prediction = predict(schedule, rules(line))
    except ScheduleError as refused:
        return str(refused)
    moments = [(moment.name, moment.replicas, moment.leader, moment.isr) for moment in prediction.checkpoints]
    return moments, [(record.label, record.fate, record.offset) for record in prediction.records], prediction.answers


@pytest.mark.parametrize("entry", GATED, ids=lambda entry: entry.name)
def test_without_its_holds_a_row_predicts_something_else(entry: Scenario) -> None:
    lines = [line for line in SAMPLE if entry.where.reason_not_to_run(*line) is None]
    differing = [line for line in lines if numbers(entry, line, gated=True) != numbers(entry, line, gated=False)]

    assert (differing == []) is (entry.name in ABOUT_TIME), entry.name


def test_there_are_such_rows() -> None:
    assert len(GATED) >= 20
