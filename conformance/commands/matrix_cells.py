"""Which cells of the matrix are finished, and which are still to be run?

A cell is one catalogue entry in one round on one release; its run lies in ``LINE/round-N/``. It is finished when it
has a verdict that is not the tester's own failure, by the same seed and schedule as now. Anything else that lies
there for a cell is put aside into ``LINE/run-again/``, so that nothing is counted twice and no evidence is thrown away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.run_directory import RunDirectory, RunDirectoryError
from conformance.scenario import Scenario
from conformance.schedule_format import encode
from conformance.verdicts import Conformance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from conformance.examination import Entry

ASIDE = "run-again"


@dataclass(frozen=True, slots=True)
class Cell:
    """One catalogue entry in one round, from 1 on."""

    entry: Entry
    round: int


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run that is there and does not count."""

    path: Path
    scenario: str
    round: int
    why: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one line of the matrix is.

    Attributes:
        finished: runs that count.
        pending: cells that are to be run.
        unfinished: runs of such cells that are there already.
    """

    finished: tuple[Path, ...]
    pending: tuple[Cell, ...]
    unfinished: tuple[Unfinished, ...]


def progress_of(line: Path, entries: Sequence[Entry], rounds: int, seed: int) -> Progress:
    """Return what of the entries is finished in the folder of a line, and what is not."""
    finished: list[Path] = []
    pending: list[Cell] = []
    unfinished: list[Unfinished] = []
    for number in range(1, rounds + 1):
        runs = _runs_by_scenario(round_folder(line, number))
        for entry in entries:
            reasons = {path: _why_not(path, entry, seed) for path in runs.get(entry.name, [])}
            counting = next((path for path, why in reasons.items() if why is None), None)
            if counting is None:
                pending.append(Cell(entry, number))
            else:
                finished.append(counting)
            unfinished += (
                Unfinished(path, entry.name, number, why or "was run twice")
                for path, why in reasons.items()
                if path != counting
            )
    return Progress(tuple(finished), tuple(pending), tuple(unfinished))


def round_folder(line: Path, number: int) -> Path:
    """Return where the runs of a round are, the first being 1."""
    return line / f"round-{number}"


def runs_of(line: Path) -> list[Path]:
    """Return every run of a line that was not put aside, round by round, the oldest first."""
    rounds = sorted(line.glob("round-*"), key=lambda folder: (len(folder.name), folder.name))
    return [run for folder in rounds for run in sorted(folder.iterdir()) if (run / "run.json").is_file()]


def runs_put_aside(line: Path) -> int:
    """Return how many runs of a line were put aside."""
    return sum(1 for _ in (line / ASIDE).glob("*/run.json"))


def put_aside(line: Path, unfinished: Sequence[Unfinished]) -> None:
    """Move runs that do not count out of their rounds."""
    for one in unfinished:
        target = line / ASIDE / one.path.name
        number = 2
        while target.exists():
            target, number = line / ASIDE / f"{one.path.name}-{number}", number + 1
        target.parent.mkdir(parents=True, exist_ok=True)
        one.path.rename(target)


def _runs_by_scenario(folder: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("*/run.json")):
        try:
            scenario = str(RunDirectory(path.parent).read_json("run.json").get("scenario"))
        except RunDirectoryError:
            continue
        found.setdefault(scenario, []).append(path.parent)
    return found


def _why_not(path: Path, entry: Entry, seed: int) -> str | None:
    """Say why a run does not count for a cell, or return None if it does."""
    run = RunDirectory(path)
    try:
        about, verdict = run.read_json("run.json"), run.read_json("verdict.json")
    except RunDirectoryError:
        return "was not finished"
    if verdict.get("conformance") == Conformance.HARNESS_ERROR:
        return f"ended in a harness error ({verdict.get('reason')})"
    if about.get("seed") != seed:
        return f"has seed {about.get('seed')}"
    return None if _is_of_today(run, about, entry) else "is of another schedule"


def _is_of_today(run: RunDirectory, about: Mapping[str, Any], entry: Entry) -> bool:
    """Tell whether a run did what the entry says now."""
    if isinstance(entry, Scenario):
        return run.read_json("schedule.json") == encode(entry.schedule)
    return bool(about.get("steps") == list(entry.subject.steps()))
