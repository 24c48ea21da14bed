"""Which cells of the matrix are finished, and which are still to be run?

A cell is one catalogue entry in one round on one release; its run lies in ``LINE/round-N/``. It is finished when it
has a verdict that is not the tester's own failure, by the same seed and schedule as now, and was foretold as it is
foretold now. Anything else that lies there for a cell, or cannot be read, is put aside into ``LINE/run-again/``, so
that nothing is counted twice and no evidence is thrown away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.commands.matrix_staleness import Today
from conformance.judgement.verdicts import Conformance
from conformance.run_directory import RunDirectory, RunDirectoryError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.catalogue.examination import Entry
    from oracle.rules.rule_set import RuleSet

ASIDE = "run-again"
UNREADABLE = "a run that cannot be read"
"""What stands for the scenario of a run that does not say which it is."""


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


def progress_of(line: Path, entries: Sequence[Entry], rounds: int, seed: int, rules: RuleSet) -> Progress:
    """Return what of the entries is finished in the folder of a line, and what is not, given the release's rules."""
    today = Today(rules)
    finished: list[Path] = []
    pending: list[Cell] = []
    unfinished: list[Unfinished] = []
    for number in range(1, rounds + 1):
        runs = runs_by_scenario(round_folder(line, number))
        unfinished += (Unfinished(path, UNREADABLE, number, "cannot be read") for path in runs.pop(None, []))
        for entry in entries:
            reasons = {path: _why_not(path, entry, seed, today) for path in runs.get(entry.name, [])}
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


def runs_by_scenario(folder: Path) -> dict[str | None, list[Path]]:
    """Return the runs of a round by the scenario that they say they are of; None of those that cannot be read."""
    found: dict[str | None, list[Path]] = {}
    for path in sorted(folder.glob("*/run.json")):
        try:
            about: object = RunDirectory(path.parent).read_json("run.json")
        except RunDirectoryError:
            about = None
        scenario = about.get("scenario") if isinstance(about, dict) else None
        found.setdefault(scenario if isinstance(scenario, str) else None, []).append(path.parent)
    return found


def _why_not(path: Path, entry: Entry, seed: int, today: Today) -> str | None:
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
    return today.difference(run, entry)
