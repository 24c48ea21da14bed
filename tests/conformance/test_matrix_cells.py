"""Which runs count as finished cells, and is everything else put aside and run again?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.commands.matrix_cells import progress_of, put_aside, runs_of, runs_put_aside
from conformance.registry import EXAMINATIONS, select_scenarios
from conformance.schedule_format import encode

if TYPE_CHECKING:
    from pathlib import Path

ENTRIES = select_scenarios(("HW-03", "TR-01"))
SEED = 7


def write(line: Path, name: str, scenario: str, number: int = 1, **changed: Any) -> Path:  # noqa: ANN401 - JSON
    """Write a finished run of a scenario, with what the test changes of it."""
    path = line / f"round-{number}" / name
    path.mkdir(parents=True)
    entry = next(entry for entry in ENTRIES if entry.name == scenario)
    files: dict[str, Any] = {
        "run.json": {"scenario": scenario, "seed": changed.get("seed", SEED)},
        "verdict.json": {"conformance": changed.get("conformance", "CONFORMS"), "reason": "a reason"},
        "schedule.json": encode(entry.schedule) | changed.get("schedule", {}),
    }
    for file, content in files.items():
        if file != changed.get("without"):
            (path / file).write_text(json.dumps(content))
    return path


def pending(line: Path, rounds: int = 1) -> list[tuple[str, int]]:
    return [(cell.entry.name, cell.round) for cell in progress_of(line, ENTRIES, rounds, SEED).pending]


def test_without_runs_every_cell_is_pending_round_by_round(tmp_path: Path) -> None:
    assert pending(tmp_path, 2) == [("HW-03", 1), ("TR-01", 1), ("HW-03", 2), ("TR-01", 2)]


@pytest.mark.parametrize("word", ["CONFORMS", "DEVIATES", "INCONCLUSIVE", "NOT_RUN"])
def test_a_run_with_a_verdict_is_finished(tmp_path: Path, word: str) -> None:
    path = write(tmp_path, "a", "HW-03", conformance=word)
    progress = progress_of(tmp_path, ENTRIES, 2, SEED)
    assert progress.finished == (path,)
    assert [(cell.entry.name, cell.round) for cell in progress.pending] == [("TR-01", 1), ("HW-03", 2), ("TR-01", 2)]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"conformance": "HARNESS_ERROR"}, "ended in a harness error (a reason)"),
        ({"without": "verdict.json"}, "was not finished"),
        ({"seed": 8}, "has seed 8"),
        ({"schedule": {"timing": "lag"}}, "is of another schedule"),
    ],
)
def test_a_run_that_does_not_count_is_put_aside_and_its_cell_is_pending(
    tmp_path: Path, changed: dict[str, Any], why: str
) -> None:
    path = write(tmp_path, "a", "HW-03", **changed)
    progress = progress_of(tmp_path, ENTRIES, 1, SEED)
    assert [(one.path, one.scenario, one.round, one.why) for one in progress.unfinished] == [(path, "HW-03", 1, why)]
    assert ("HW-03", 1) in pending(tmp_path)
    put_aside(tmp_path, progress.unfinished)
    assert (runs_of(tmp_path), runs_put_aside(tmp_path)) == ([], 1)


def test_an_examination_counts_while_its_steps_are_the_same(tmp_path: Path) -> None:
    examination = EXAMINATIONS[0]
    path = tmp_path / "round-1" / "a"
    path.mkdir(parents=True)
    about = {"scenario": examination.name, "seed": SEED, "steps": list(examination.subject.steps())}
    (path / "verdict.json").write_text(json.dumps({"conformance": "CONFORMS"}))
    for steps, finished in ((about["steps"], (path,)), (["something else"], ())):
        (path / "run.json").write_text(json.dumps(about | {"steps": steps}))
        assert progress_of(tmp_path, [examination], 1, SEED).finished == finished


def test_a_cell_counts_once(tmp_path: Path) -> None:
    first, second = write(tmp_path, "a", "HW-03"), write(tmp_path, "b", "HW-03")
    progress = progress_of(tmp_path, ENTRIES, 1, SEED)
    assert progress.finished == (first,)
    assert [(one.path, one.why) for one in progress.unfinished] == [(second, "was run twice")]


def test_what_is_put_aside_never_overwrites_what_was_put_aside_before(tmp_path: Path) -> None:
    for _ in range(2):
        write(tmp_path, "a", "HW-03", conformance="HARNESS_ERROR")
        put_aside(tmp_path, progress_of(tmp_path, ENTRIES, 1, SEED).unfinished)
    assert runs_put_aside(tmp_path) == 2


def test_runs_are_listed_round_by_round(tmp_path: Path) -> None:
    paths = [write(tmp_path, "a", "TR-01", number) for number in (10, 2, 1)]
    assert runs_of(tmp_path) == paths[::-1]
