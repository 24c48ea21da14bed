"""A word that stands for several steps is written out, and errors still name its line and its place in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.schedules.schedule_file import ScheduleFileError, read_schedule
from oracle.composite_steps import written_at
from oracle.schedule_format import decode, encode
from oracle.steps.brokers import Start, Stop
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import BrokerId

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO = BrokerId(1), BrokerId(2)
WHOLE: dict[str, Any] = {"id": "a/b", "requirement": "It holds.", "replicas": [1, 2]}
ROLLED = (Stop(TWO), Start(TWO), Stop(ONE), Start(ONE), Checkpoint("end"))


@pytest.mark.parametrize("rolled", [[2, 1], {"brokers": [2, 1]}])
def test_a_rolling_restart_is_written_out(rolled: object) -> None:
    schedule = decode({**WHOLE, "steps": [{"roll": rolled}, {"checkpoint": "end"}]})
    assert schedule.steps == ROLLED
    assert decode(encode(schedule)) == schedule


def test_one_broker_needs_no_list() -> None:
    assert decode({**WHOLE, "steps": [{"roll": 2}]}).steps == ROLLED[:2]


def test_a_step_is_found_where_it_is_written() -> None:
    documents = [{"kill": 1}, {"roll": [2, 1]}, {"checkpoint": "end"}]
    assert [written_at(documents, step) for step in range(7)] == [0, 1, 1, 1, 1, 2, 6]


@pytest.mark.parametrize(
    ("step", "place"),
    [
        ("roll: [1, x]", ":5: step 2: field 'broker': broker must be a whole number, not 'x'"),
        ("kill: 7", ":6: step 3: field 'broker': broker names what the schedule does not have: 7; it has 1, 2"),
    ],
)
def test_an_error_names_the_place_in_the_file(tmp_path: Path, step: str, place: str) -> None:
    path = tmp_path / "mine.yaml"
    lines = ["id: a/b", "requirement: It holds.", "replicas: [1, 2]", "steps: [{checkpoint: begin},", "{roll: [1, 2]},"]
    lines = [*lines[:4], "{roll: [1, x]},", "{checkpoint: end}]"] if "roll" in step else [*lines, "{kill: 7}]"]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ScheduleFileError) as refused:
        read_schedule(path)
    assert str(refused.value) == f"{path}{place}"
