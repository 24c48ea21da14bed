"""Which runs count as finished cells, and is everything else put aside and run again?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.catalogue.questions import QuestionAnswer, ScheduleQuestion
from conformance.catalogue.where import Where
from conformance.commands.matrix_cells import progress_of, put_aside, runs_of, runs_put_aside
from conformance.commands.matrix_line import LaneCells, NotRun, run_cells
from conformance.line import line_named
from conformance.record.answers import write_predicted
from conformance.record.directory import RunDirectory
from conformance.registry import EXAMINATIONS
from conformance.stages.predicting import predict_entry
from oracle.schedule_format import encode
from tests.conformance.run_files import change_run, write_json
from tests.conformance.selected import select_scenarios

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.catalogue.examination import Entry, Examination
    from conformance.pipeline import Finished
    from conformance.session import Session, Task

ENTRIES = select_scenarios(("HW-03", "TR-01"))
SEED = 7
LINE = line_named("4.3.1")
RULES = LINE.rules
QUESTION = ScheduleQuestion("how many", lambda _rules, _prediction: 2, lambda _run: 2)


def write(line: Path, name: str, scenario: str, number: int = 1, **changed: Any) -> Path:  # noqa: ANN401 - JSON
    """Write a finished run of a scenario, with what the test changes of it."""
    path = line / f"round-{number}" / name
    path.mkdir(parents=True)
    entry = next(entry for entry in ENTRIES if entry.name == scenario)
    files: dict[str, Any] = {
        "run.json": {
            "format": 2,
            "kafka": "4.3.1",
            "metadata": "kraft",
            "scenario": scenario,
            "seed": changed.get("seed", SEED),
        },
        "verdict.json": {"conformance": changed.get("conformance", "CONFORMS"), "promise": None, "reason": "a reason"},
        "schedule.json": encode(entry.schedule) | changed.get("schedule", {}),
        "prediction/prediction.json": prediction_of(entry) | changed.get("prediction", {}),
    }
    for file, content in files.items():
        if file != changed.get("without"):
            write_json(RunDirectory(path), file, content)
    return path


def prediction_of(entry: Entry) -> dict[str, Any]:
    prediction = predict_entry(entry, RULES).prediction
    assert prediction is not None
    return prediction.as_json()


def pending(line: Path, rounds: int = 1) -> list[tuple[str, int]]:
    return [(cell.entry.name, cell.round) for cell in progress_of(line, ENTRIES, rounds, SEED, LINE).pending]


def test_without_runs_every_cell_is_pending_round_by_round(tmp_path: Path) -> None:
    assert pending(tmp_path, 2) == [("HW-03", 1), ("TR-01", 1), ("HW-03", 2), ("TR-01", 2)]


@pytest.mark.parametrize("word", ["CONFORMS", "DEVIATES", "INCONCLUSIVE", "NOT_RUN"])
def test_a_run_with_a_verdict_is_finished(tmp_path: Path, word: str) -> None:
    path = write(tmp_path, "a", "HW-03", conformance=word)
    progress = progress_of(tmp_path, ENTRIES, 2, SEED, LINE)
    assert progress.finished == (path,)
    assert [(cell.entry.name, cell.round) for cell in progress.pending] == [("TR-01", 1), ("HW-03", 2), ("TR-01", 2)]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"conformance": "HARNESS_ERROR"}, "ended in a harness error (a reason)"),
        ({"without": "verdict.json"}, "was not finished"),
        ({"seed": 8}, "has seed 8"),
        ({"schedule": {"timing": "lag"}}, "is of another schedule"),
        ({"without": "schedule.json"}, "cannot be read"),
        ({"prediction": {"rules": ["of yesterday"]}}, "was predicted otherwise"),
        ({"without": "prediction/prediction.json"}, "cannot be read"),
    ],
)
def test_a_run_that_does_not_count_is_put_aside_and_its_cell_is_pending(
    tmp_path: Path, changed: dict[str, Any], why: str
) -> None:
    path = write(tmp_path, "a", "HW-03", **changed)
    progress = progress_of(tmp_path, ENTRIES, 1, SEED, LINE)
    assert [(one.path, one.scenario, one.round, one.why) for one in progress.unfinished] == [(path, "HW-03", 1, why)]
    assert ("HW-03", 1) in pending(tmp_path)
    put_aside(tmp_path, progress.unfinished)
    assert (runs_of(tmp_path), runs_put_aside(tmp_path)) == ([], 1)


def write_examination(line: Path, examination: Examination, steps: list[str]) -> Path:
    """Write a finished run of an examination, with these steps and today's answers."""
    run = RunDirectory(line / "round-1" / "a")
    change_run(run, scenario=examination.name, seed=SEED, steps=steps)
    write_json(run, "verdict.json", {"conformance": "CONFORMS", "promise": None, "reason": ""})
    write_predicted(run, [answer.predicted for answer in predict_entry(examination, RULES).answers])
    return run.path


def test_an_examination_counts_while_its_steps_are_the_same(tmp_path: Path) -> None:
    examination = next(one for one in EXAMINATIONS if predict_entry(one, RULES).not_run is None)
    for steps, counts in ((list(examination.subject.steps()), True), (["something else"], False)):
        path = write_examination(tmp_path, examination, steps)
        assert progress_of(tmp_path, [examination], 1, SEED, LINE).finished == ((path,) if counts else ())


def test_an_examination_counts_while_it_is_asked_the_same(tmp_path: Path) -> None:
    examination = next(one for one in EXAMINATIONS if predict_entry(one, RULES).not_run is None)
    path = write_examination(tmp_path, examination, list(examination.subject.steps()))
    write_predicted(RunDirectory(path), [answer.predicted for answer in [QuestionAnswer("something else", 1)]])
    (one,) = progress_of(tmp_path, [examination], 1, SEED, LINE).unfinished
    assert one.why == "was asked something else"


def test_a_scenario_that_was_never_asked_its_question_is_run_again(tmp_path: Path) -> None:
    entry = replace(ENTRIES[0], questions=(QUESTION,))
    path = write(tmp_path, "a", "HW-03")
    assert [one.why for one in progress_of(tmp_path, [entry], 1, SEED, LINE).unfinished] == ["was asked something else"]
    write_predicted(RunDirectory(path), [answer.predicted for answer in [QuestionAnswer("how many", 2)]])
    assert progress_of(tmp_path, [entry], 1, SEED, LINE).finished == (path,)


def test_what_was_left_out_is_run_when_the_entry_applies_now(tmp_path: Path) -> None:
    path = write(tmp_path, "a", "HW-03", conformance="NOT_RUN")
    run = RunDirectory(path)
    change_run(run, not_run="exists before Kafka 1.0")
    (one,) = progress_of(tmp_path, ENTRIES[:1], 1, SEED, LINE).unfinished
    assert one.why == "applied to other releases when it was run"
    entry = replace(ENTRIES[0], where=Where(before="1.0"))
    change_run(run, not_run=predict_entry(entry, RULES).not_run)
    assert progress_of(tmp_path, [entry], 1, SEED, LINE).finished == (path,)


def test_an_entry_that_became_a_scenario_is_run_again(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "round-1" / "a")
    write_json(run, "run.json", {"scenario": "HW-03", "seed": SEED, "steps": ["Ask."]})
    write_json(run, "verdict.json", {"conformance": "CONFORMS", "promise": None, "reason": ""})
    assert [one.why for one in progress_of(tmp_path, ENTRIES, 1, SEED, LINE).unfinished] == ["cannot be read"]


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_run_that_cannot_be_read_is_put_aside(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, "a", "HW-03")
    (path / "run.json").write_text(text)
    progress = progress_of(tmp_path, ENTRIES, 1, SEED, LINE)
    assert [(one.path, one.why) for one in progress.unfinished] == [(path, "cannot be read")]
    put_aside(tmp_path, progress.unfinished)
    assert runs_of(tmp_path) == []


def test_a_cell_counts_once(tmp_path: Path) -> None:
    first, second = write(tmp_path, "a", "HW-03"), write(tmp_path, "b", "HW-03")
    progress = progress_of(tmp_path, ENTRIES, 1, SEED, LINE)
    assert progress.finished == (first,)
    assert [(one.path, one.why) for one in progress.unfinished] == [(second, "was run twice")]


def test_what_is_put_aside_never_overwrites_what_was_put_aside_before(tmp_path: Path) -> None:
    for _ in range(2):
        write(tmp_path, "a", "HW-03", conformance="HARNESS_ERROR")
        put_aside(tmp_path, progress_of(tmp_path, ENTRIES, 1, SEED, LINE).unfinished)
    assert runs_put_aside(tmp_path) == 2


def test_runs_are_listed_round_by_round(tmp_path: Path) -> None:
    paths = [write(tmp_path, "a", "TR-01", number) for number in (10, 2, 1)]
    assert runs_of(tmp_path) == paths[::-1]


class _Broken:
    """A session in which nothing can be run."""

    def run_all(self, tasks: list[Task], _where: str, failed: Callable[[str, str], None]) -> list[Finished]:
        for task in tasks:
            failed("[1/1]", f"{task.name} could not be run: no space left")
        return []


def test_a_lane_tells_of_each_cell_that_it_could_not_run() -> None:
    cells = LaneCells(line_named("4.4.0"), Path("matrix"), 2, ("TR-01", "TR-02"))
    found = list(run_cells(cast("Session", _Broken()), cells))

    assert found == [NotRun("[1/1]", f"{name}, round 2 could not be run: no space left") for name in ("TR-01", "TR-02")]
