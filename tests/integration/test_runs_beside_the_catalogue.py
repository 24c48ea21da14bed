"""Do runs conform that no entry of the catalogue makes: steps that none takes, an option that none is run with?"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conformance.registry import SCENARIOS
from conformance.schedules.schedule_file import read_schedule
from oracle.steps.step import STEP_CLASSES

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.schedule import Schedule

OTHER_STEPS = """\
id: tests/other-steps
requirement: What no entry of the catalogue asks for changes no record's fate.
replicas: [1, 2]
settings: {min.insync.replicas: 1, unclean.leader.election.enable: true}
steps:
- produce: {records: [m0], acks: all}
- create_topic: other
- add_partitions: 3
- delay: {point: fetch_response, follower: 2, leader: 1, delay_ms: 300}
- produce: {records: [m1], acks: all}
- hold: {name: gone, point: fetch_request, follower: 2, leader: 1}
- await_hold: gone
- close: gone
- produce: {records: [m2], acks: all}
- delete_topic: other
- kill_together: [1, 2]
- start: 1
- start: 2
- await_isr: [1, 2]
- produce: {records: [m3], acks: all}
- checkpoint: the end
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "other-steps.yaml"
    path.write_text(OTHER_STEPS, encoding="utf-8")
    return path


def _words(schedule: Schedule) -> set[str]:
    return {step.word for step in schedule.steps}


def _run(*arguments: str) -> tuple[int, dict[str, str]]:
    command = [sys.executable, "-m", "conformance", "run", *arguments, "--backend", "process", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    (told,) = json.loads(done.stdout)["runs"]
    return done.returncode, told


def test_every_step_is_run_by_an_entry_or_here(file: Path) -> None:
    by_entries = set[str]().union(*(_words(entry.schedule) for entry in SCENARIOS))

    assert by_entries | _words(read_schedule(file).schedule) == set(STEP_CLASSES)
    assert not by_entries >= _words(read_schedule(file).schedule), "entries take all of these: remove the schedule"


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(240)
@pytest.mark.parametrize("kafka", ["0.10.2.2", "4.4.0"])
def test_steps_that_no_entry_takes_conform(tmp_path: Path, file: Path, kafka: str) -> None:
    code, told = _run("--schedule", str(file), "--kafka", kafka, "--runs-dir", str(tmp_path))

    assert (code, told["conformance"], told["promise"]) == (0, "CONFORMS", "KEPT"), told["reason"]


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(240)
def test_a_run_without_fetch_sessions_conforms(tmp_path: Path) -> None:
    code, told = _run("HW-03", "--kafka", "4.4.0", "--no-fetch-sessions", "--runs-dir", str(tmp_path))
    (path,) = tmp_path.glob("*/run.json")
    about = json.loads(path.read_text(encoding="utf-8"))

    assert (code, told["conformance"]) == (0, "CONFORMS"), told["reason"]
    assert about["no_fetch_sessions"] is True
    assert about["settings"]["imposed"]["max.incremental.fetch.session.cache.slots"] == "0"
