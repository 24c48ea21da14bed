"""Which rows does a reader find, and which entries make up a row? What no run is about is a list of its own.

What every run is held against stands once: with its observations, and with the entries that are about it besides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.record.verdict import HeldInRun
    from reports.requirement_table.examined import Examined
    from reports.requirement_table.table import RequirementCell, RequirementTable, RequirementText


EVERY_RUN = "Held against every replica and frame of every run of a schedule: observations and the runs of its entries"


@dataclass(frozen=True, slots=True)
class EntryRuns:
    """One entry of the catalogue with its runs, one tuple a column, in the order of the rounds."""

    scenario: str
    runs: tuple[tuple[Examined, ...], ...]

    @property
    def basis(self) -> str:
        """Where its predictions come from, unless it is the model."""
        told = {run.basis for runs in self.runs for run in runs} - {"", "predicted"}
        return ", ".join(sorted(told))


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One requirement as a reader finds it.

    Attributes:
        cells: the runs of the entries that are about it, one a column; none if it has no entry.
        held: for how many observations it held, one a column; none if it is not held against every run.
    """

    requirement: RequirementText
    cells: tuple[RequirementCell, ...]
    held: tuple[HeldInRun, ...] = ()

    @property
    def anchor(self) -> str:
        """Where its entries are listed."""
        return f"row-{self.requirement.id.lower()}"

    @property
    def entries(self) -> tuple[EntryRuns, ...]:
        """Return the entries that make it up, by name."""
        names = {run.scenario for cell in self.cells for run in cell.runs}
        return tuple(
            EntryRuns(name, tuple(tuple(sorted(_of(cell, name), key=lambda run: run.round)) for cell in self.cells))
            for name in sorted(names)
        )


def groups_of(table: RequirementTable) -> tuple[tuple[str, tuple[ShownRow, ...]], ...]:
    """Return the rows under their titles: what every run is held against, then area by area; every row once."""
    cells = {row.requirement.id: row.cells for row in table.rows}
    always = tuple(ShownRow(row.requirement, cells.get(row.requirement.id, ()), row.held) for row in table.every_run)
    known = {row.requirement.id for row in always}
    others = [
        ShownRow(row.requirement, row.cells)
        for row in table.rows
        if row.requirement.id not in known and any(cell.runs for cell in row.cells)
    ]
    areas = groupby(others, key=lambda row: row.requirement.area)
    first = ((EVERY_RUN, always),) if always else ()
    return (*first, *((area, tuple(rows)) for area, rows in areas))


def without_runs(table: RequirementTable) -> tuple[str, ...]:
    """Return the ids of the requirements that no run is about."""
    held = {row.requirement.id for row in table.every_run}
    return tuple(
        row.requirement.id
        for row in table.rows
        if row.requirement.id not in held and not any(cell.runs for cell in row.cells)
    )


def _of(cell: RequirementCell, scenario: str) -> Iterator[Examined]:
    return (run for run in cell.runs if run.scenario == scenario)


# Which release lines should be in the table and are not? Told in one line, and in the heading.


_NOT_THERE = " is not there: it has no run"
_MISSING = re.compile(rf"(?P<line>.+){_NOT_THERE}")


def missing_line(line: str) -> str:
    """Return the problem that a line is not there, by which it is known for one."""
    return f"{line}{_NOT_THERE}"


def missing_lines(problems: Sequence[str]) -> tuple[str, ...]:
    """Return the lines that a problem says are not there, in their order."""
    return tuple(found["line"] for found in map(_MISSING.fullmatch, problems) if found)


def told_problems(problems: Sequence[str]) -> tuple[str, ...]:
    """Return the problems for a reader: all lines that are not there in one sentence, which comes first."""
    lines = missing_lines(problems)
    others = tuple(problem for problem in problems if not _MISSING.fullmatch(problem))
    if not lines:
        return others
    return (f"{', '.join(lines)} {'is' if len(lines) == 1 else 'are'} not there: no run", *others)


def missing_words(problems: Sequence[str]) -> str:
    """Return how many lines that were expected are missing; empty if none is."""
    count = len(missing_lines(problems))
    if not count:
        return ""
    return "1 expected line is missing" if count == 1 else f"{count} expected lines are missing"
