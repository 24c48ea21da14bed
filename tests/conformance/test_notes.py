"""Are a run's notes found by what they are about, the first or the last, and is what is not there not seen?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.questions import NotSeenError
from conformance.notes import checkpoints, first_at, last_at, marks, measured_at, outcome_at, step_began
from conformance.record.timeline import Event
from tests.conformance.questions.hand_made_runs import MS, HandMadeRun

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def made(tmp_path: Path) -> HandMadeRun:
    """Broker 2 is killed at 5 and 9 ms in step 3; a checkpoint is measured at 7 ms, m0 has its outcome at 8 ms."""
    made = HandMadeRun(tmp_path / "run")
    made.mark(4, "step_started", "kill", step=3)
    made.mark(5, "broker_killed", 2, step=3)
    made.observe(6, "numbers", leader_epoch=1)
    made.observe(7, "checkpoint", name="before", leader_epoch=2)
    made.observe(8, "outcome", label="m0")
    made.mark(9, "broker_killed", 2, step=3)
    return made


def test_what_happened_is_found_with_its_time(made: HandMadeRun) -> None:
    assert (first_at(made.run, Event.BROKER_KILLED, 2), last_at(made.run, Event.BROKER_KILLED, "2")) == (5 * MS, 9 * MS)
    assert [mark.step for mark in marks(made.run, Event.BROKER_KILLED, 2)] == [3, 3]
    assert step_began(made.run, 3) == 4 * MS


def test_what_was_measured_is_found_with_its_time(made: HandMadeRun) -> None:
    assert measured_at(made.run, "before") == 7 * MS
    assert outcome_at(made.run, "m0") == 8 * MS
    assert [seen.leader_epoch for seen in checkpoints(made.run)] == [2]


def test_what_never_happened_or_was_never_measured_is_not_seen(made: HandMadeRun) -> None:
    with pytest.raises(NotSeenError, match="no broker_killed of 1"):
        first_at(made.run, Event.BROKER_KILLED, 1)
    with pytest.raises(NotSeenError, match="no broker_started of 2"):
        last_at(made.run, Event.BROKER_STARTED, 2)
    with pytest.raises(NotSeenError, match="no step 5"):
        step_began(made.run, 4)
    with pytest.raises(NotSeenError, match="no checkpoint 'after'"):
        measured_at(made.run, "after")
    with pytest.raises(NotSeenError, match="no outcome of m1"):
        outcome_at(made.run, "m1")
