"""Can a hunt go on where it stopped, and does what it found run again?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.hunting.growing import grow
from conformance.hunting.journal import FINDINGS, UNRUN, HuntedSchedule, Journal, JournalError, counted
from conformance.line import held_against, line_named
from conformance.record.verdict import Conformance
from conformance.run_options import RunOptions
from conformance.schedules.schedule_file import read_schedule
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from pathlib import Path

ONE = HuntedSchedule("4.4.0/kraft", 7, 0, Conformance.CONFORMS, "KEPT", "all", ("produce",), 1.5, "run-0")
DEVIATING = replace(ONE, number=1, conformance=Conformance.DEVIATES, finding="findings/x.yaml")


def test_a_difference_that_does_not_come_back_each_time_is_inconclusive() -> None:
    tried = [replace(DEVIATING, tries=3, came_back=times) for times in (0, 1, 3)]
    assert [one.counted.value for one in (DEVIATING, *tried)] == [
        "DEVIATES",
        "INCONCLUSIVE",
        "INCONCLUSIVE",
        "DEVIATES",
    ]
    assert counted([*tried, ONE]) == {"INCONCLUSIVE": 2, "DEVIATES": 1, "CONFORMS": 1}


def test_what_is_noted_is_read_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    assert journal.read() == ()
    for hunted in (ONE, DEVIATING):
        journal.note(hunted)
    assert journal.read() == (ONE, DEVIATING)
    assert [one.is_finding for one in journal.read()] == [False, True]
    assert counted(journal.read()) == {"CONFORMS": 1, "DEVIATES": 1}


@pytest.mark.parametrize(
    ("line", "seed", "numbers"), [("4.4.0/kraft", 7, {0, 1}), ("4.4.0/kraft", 8, ()), ("2.8.2/zookeeper", 7, ())]
)
def test_a_line_and_seed_go_on_where_they_stopped(tmp_path: Path, line: str, seed: int, numbers: set[int]) -> None:
    journal = Journal(tmp_path)
    journal.note(ONE)
    journal.note(DEVIATING)
    assert set(journal.hunted(line, seed)) == set(numbers)


def test_a_line_that_was_cut_off_is_given_up(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.note(ONE)
    with journal.path.open("a") as stream:
        stream.write('{"line": "4.4')
    assert journal.read() == (ONE,)
    journal.note(DEVIATING)
    assert journal.read() == (ONE, DEVIATING)


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.path.write_text('{"line": 4}\n')
    with pytest.raises(JournalError, match=r"hunt\.ndjson, line 1: .*; move the file away to begin anew"):
        journal.read()


def test_a_finding_is_a_schedule_that_runs(tmp_path: Path) -> None:
    schedule = grow(rules_for("3.9.2", MetadataMode.ZOOKEEPER), "7", 3).schedule
    line = line_named("3.9.2/zookeeper")
    path = Journal(tmp_path).write_schedule(line, schedule, "numbers\ndiffer", FINDINGS, RunOptions())
    assert path == tmp_path / "findings" / "3.9.2-zookeeper-7-3.yaml"
    run = f"kafka-conformance run --schedule {path} --kafka 3.9.2 --metadata zookeeper\n"
    assert path.read_text().startswith(f"# numbers differ\n#\n#   {run}")
    swapped = held_against(line, "3.9.2~maximal-isr")
    other = Journal(tmp_path).write_schedule(swapped, schedule, "", UNRUN, RunOptions(fetch_sessions=False))
    assert other.parent.name == "schedules"
    assert " --metadata zookeeper --rules-of '3.9.2~maximal-isr' --no-fetch-sessions\n" in other.read_text()
    assert read_schedule(path).schedule == schedule
