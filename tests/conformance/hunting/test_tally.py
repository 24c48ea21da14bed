"""Does a tally count what the journal has, each schedule once, and as what it counts?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.cli import main
from conformance.hunting.journal import HuntedSchedule, Journal
from conformance.hunting.tally import RARE_BELOW, tally
from conformance.record.directory import RunDirectory
from conformance.record.schedule import write_schedule
from conformance.record.verdict import Conformance
from oracle.steps.step import STEP_CLASSES
from tests.conformance.hunting.rule_sets import LONG, NEEDS_MIN_ISR, OTHERS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def one(number: int, *words: str, line: str = "4.4.0/kraft", came_back: int = 0, tries: int = 0) -> HuntedSchedule:
    verdict = Conformance.DEVIATES if tries else Conformance.CONFORMS
    done = HuntedSchedule(line, 7, number, verdict, "KEPT", "", words, 18.0, f"run-{number}")
    return replace(done, tries=tries, came_back=came_back)


HUNTED = (
    one(0, "hold", "produce", "kill", "checkpoint"),
    one(1, "hold", "hold", "stop", "isolate", "produce", "checkpoint"),
    one(2, "produce", "checkpoint", line="2.8.2/zookeeper", tries=3, came_back=1),
)


def test_verdicts_are_counted_by_line_as_they_count() -> None:
    told = tally(HUNTED)
    assert told.verdicts == {"4.4.0/kraft": {"CONFORMS": 2}, "2.8.2/zookeeper": {"INCONCLUSIVE": 1}}
    assert (told.schedules, told.seeds, told.seconds) == (3, (7,), 54.0)


def test_a_row_that_the_tester_was_mistaken_in_counts_as_it_is_judged_since(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It stays as it was run; where such a schedule is refused since, it is counted apart."""
    mistaken = one(4, "kill", tries=3, came_back=3)
    again = replace(mistaken, mended="the wire check", again=Conformance.CONFORMS)
    told = tally((HUNTED[0], again, replace(mistaken, number=5, mended="the gate")))
    assert told.verdicts == {"4.4.0/kraft": {"CONFORMS": 2}}
    assert (told.schedules, told.mended, told.withdrawn, told.kinds["kill"]) == (2, 1, 1, 2)
    Journal(tmp_path).note(again)
    assert main(["hunt", "--tally", "--runs-dir", str(tmp_path)]) == 0
    assert "1 count as they are judged since, 0 more are drawn no longer" in capsys.readouterr().out


def test_medians_are_of_schedules() -> None:
    told = tally(HUNTED)
    assert (told.steps, told.holds, told.process_faults) == (4, 1, 1)
    assert tally(()).steps == 0


def test_a_kind_of_step_counts_once_a_schedule() -> None:
    told = tally(HUNTED)
    assert (told.kinds["hold"], told.kinds["produce"], told.kinds["roll" if "roll" in told.kinds else "elect"]) == (
        2,
        3,
        0,
    )
    assert set(told.rare) == set(STEP_CLASSES)
    assert "produce" not in tally([one(number, "produce") for number in range(RARE_BELOW)]).rare


def test_the_command_counts_and_runs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = Journal(tmp_path)
    for hunted in HUNTED:
        journal.note(hunted)
    assert main(["hunt", "--tally", "--runs-dir", str(tmp_path)]) == 3
    assert "200 an hour" in capsys.readouterr().out
    assert main(["hunt", "--tally", "--json", "--runs-dir", str(tmp_path)]) == 3
    assert json.loads(capsys.readouterr().out)["schedules"] == 3
    assert [path.name for path in tmp_path.iterdir()] == ["hunt.ndjson"]


def test_rules_that_conforming_runs_would_notice_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = Journal(tmp_path)
    gone = replace(one(9, "produce"), run="gone")
    for hunted in (one(0, "kill"), gone, HUNTED[2], replace(one(1, "kill"), rules_of="4.4.0~maximal-isr")):
        journal.note(hunted)
    write_schedule(RunDirectory.create(tmp_path / "runs", "run-0"), LONG)
    assert main(["hunt", "--tally", "--rules", "--json", "--runs-dir", str(tmp_path)]) == 3
    (told,) = json.loads(capsys.readouterr().out)["rules"]
    assert (told["line"], told["runs"], told["shown"][NEEDS_MIN_ISR]) == ("4.4.0/kraft", 1, 1)
    assert set(told["shown"]) | set(told["others"]) == set(OTHERS)
    assert main(["hunt", "--tally", "--rules", "--runs-dir", str(tmp_path)]) == 3
    assert (
        f"1 of 2 conforming runs are there, and hold brokers to {len(told['shown'])} of {len(OTHERS)} rules"
        in capsys.readouterr().out
    )


def test_rules_are_counted_of_what_was_hunted_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hunt", "--rules", "--schedules", "1"]) == 2
    assert "--rules is about what was hunted" in capsys.readouterr().err


def test_without_a_journal_there_is_nothing_to_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hunt", "--tally", "--runs-dir", str(tmp_path)]) == 2
    assert "nothing was hunted" in capsys.readouterr().err
