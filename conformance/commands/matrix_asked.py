"""What was asked of a line of the matrix, and what of it is not there?

Every line's folder says it in ``asked.json``: an interrupted matrix, or one whose files were put together from several
machines, is thereby known to be incomplete, and goes on with its seed. What was asked last counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.commands.matrix_cells import round_folder, runs_by_scenario
from conformance.run_directory import RunDirectory, RunDirectoryError

if TYPE_CHECKING:
    from pathlib import Path

FILE = "asked.json"
NAMED_MAX = 5
BACKENDS = ("process", "docker")


@dataclass(frozen=True, slots=True)
class Asked:
    """What one line was to run.

    Attributes:
        line: the line as the command line takes it, such as ``3.9.2/kraft``.
        seed: what it is run with.
        scenarios: catalogue entries by name.
        rounds: how many times each is run.
        fetch_sessions: whether followers kept their fetch sessions; False lists every partition in every fetch.
        problems: why something could not be run, each in one sentence.
    """

    line: str
    seed: int
    scenarios: tuple[str, ...]
    rounds: int = 1
    fetch_sessions: bool = True
    problems: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, folder: Path) -> Asked | None:
        """Return what was asked of the line in a folder; None if that is not known."""
        try:
            told = RunDirectory(folder).read_json(FILE)
            scenarios, problems = tuple(told["scenarios"]), list(told["problems"])
            sessions = told.get("fetch_sessions", True)
            return cls(told["line"], told["seed"], scenarios, told["rounds"], sessions, problems)
        except (RunDirectoryError, KeyError, TypeError):
            return None

    def write(self, folder: Path) -> None:
        """Write what was asked into the folder of the line."""
        told = {"line": self.line, "seed": self.seed, "rounds": self.rounds}
        told |= {"fetch_sessions": self.fetch_sessions}
        RunDirectory(folder).write_json(FILE, told | {"scenarios": self.scenarios, "problems": self.problems})

    def missing(self, folder: Path) -> str | None:
        """Say which cells have no run in the folder of the line, or return None if all have one."""
        cells = []
        for number in range(1, self.rounds + 1):
            there = runs_by_scenario(round_folder(folder, number))
            cells += [f"{name}, round {number}" for name in self.scenarios if name not in there]
        if not cells:
            return None
        more = f" and {len(cells) - NAMED_MAX} more" if len(cells) > NAMED_MAX else ""
        share = f"{len(cells)} of {len(self.scenarios) * self.rounds} cells"
        return f"{self.line}{_on(folder)} is incomplete: {share} have no run: {'; '.join(cells[:NAMED_MAX])}{more}"


def _on(folder: Path) -> str:
    """Say the backend that a line's folder is named after: a matrix may have the line once on each."""
    backend = folder.name.rpartition("-")[2]
    return f" on the {backend} backend" if backend in BACKENDS else ""
