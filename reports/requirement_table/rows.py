"""Which rows does a reader find, and which entries make up a row? What no run is about is a list of its own.

What every run is held against stands once: with its observations, and with the entries that are about it besides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from conformance.record.verdict import Conformance
from reports.overview import duration_words
from reports.promises import broken_words
from reports.verdict_words import CONFORMANCE_LOOKS, CONFORMS_MEANS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.record.verdict import HeldInRun
    from reports.requirement_table.examined import Examined
    from reports.requirement_table.table import RequirementCell, RequirementTable, RequirementText, Total


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


# How is a cell, a count or a total said in a few words?


NONE = "\N{EM DASH}"
"""What stands where no run is about a requirement, or where nothing can be said."""
NONE_MEANS = "no run is about this requirement: nothing of it was asked for, or it is still to be run"
"""What the dash of a cell means."""
MEANING = f"{CONFORMS_MEANS} The prediction of each run is in the report of its release."
"""What the table's verdicts say, and what they do not say."""


def counted(counts: Mapping[Conformance, int]) -> str:
    """Return how many runs have which verdict, as in ``conforms 3, deviates 1``."""
    return ", ".join(f"{CONFORMANCE_LOOKS[word].word.lower()} {counts[word]}" for word in Conformance if counts[word])


def cell_words(cell: RequirementCell) -> str:
    """Say a cell: how many runs, or what they are if they do not all conform."""
    if not cell.runs:
        return NONE
    words = counted(cell.counts)
    if set(cell.counts) <= {Conformance.CONFORMS}:
        words = str(len(cell.runs))
    return f"{words}; promise broken in {cell.broken_promises}" if cell.broken_promises else words


def share_words(cell: RequirementCell) -> str:
    """Return how many runs have the worst verdict, and of how many that were taken if not all have it: 4, or 1/9."""
    worst = 0 if cell.word is None else cell.counts[cell.word]
    taken = len(cell.runs) - cell.counts[Conformance.NOT_RUN]
    return str(worst) if worst >= taken else f"{worst}/{taken}"


def time_words(total: Total) -> str:
    """Return how long one column's runs took, and each round if there are several."""
    words = duration_words(total.seconds)
    if total.rounds < 2:
        return words
    return f"{words} ({' + '.join(map(duration_words, total.seconds_of_rounds))})"


def flake_words(total: Total) -> str:
    """Return how many entries had another verdict in another round; one round cannot tell."""
    return str(total.flakes) if total.rounds > 1 else NONE


def held_words(held: HeldInRun) -> str:
    """Say for how many observations a requirement held, and for how many it did not."""
    if held.broken:
        return f"broken {len(held.broken)} times, held {held.observations:,} times"
    return f"{held.observations:,}"


def headline(table: RequirementTable) -> str:
    """Say the whole table in one line: which promises are broken, what behaved, which lines should be there."""
    broken = broken_words([run.broken for run in table.runs if run.broken is not None])
    return "; ".join(words for words in (broken, _behaved(table), missing_words(table.problems)) if words)


def _behaved(table: RequirementTable) -> str:
    releases = len(table.columns)
    runs = [run for run in table.runs if run.conformance is not Conformance.NOT_RUN]
    good = sum(run.conformance is Conformance.CONFORMS for run in runs)
    noun = "release line" if releases == 1 else "release lines"
    if len(runs) == good == 1:
        return f"The run behaves as modelled on {releases} {noun}"
    share = f"All {good}" if runs and good == len(runs) else f"{good} of {len(runs)}"
    return f"{share} runs behave as modelled on {releases} {noun}"


def unlike_the_releases(table: RequirementTable) -> dict[str, str]:
    """Return what brokers had that their release has not, each once, with the releases in their order."""
    releases: dict[str, dict[str, None]] = {}
    for total in table.totals:
        for quirk in (quirk for run in total.runs for quirk in run.quirks):
            releases.setdefault(quirk, {})[total.column.kafka] = None
    return {quirk: ", ".join(named) for quirk, named in releases.items()}


def total_words(total: Total) -> str:
    """Return what one column's runs came to."""
    runs = "1 run" if len(total.runs) == 1 else f"{len(total.runs)} runs"
    parts = [runs, counted(total.counts), duration_words(total.seconds)]
    if total.rounds > 1:
        parts.append(f"{total.rounds} rounds, {total.flakes} flakes")
    if total.again:
        parts.append(f"{total.again} run again")
    return "; ".join(part for part in parts if part)
