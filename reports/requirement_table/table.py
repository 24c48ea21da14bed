"""Does each release behave as modelled, requirement by requirement? Releases across, every scenario counted.

A cell has every run of the scenarios that cite its requirement; its word is the worst of their verdicts. A verdict is
about the model of the release: where that says that it does not meet a requirement, it conforms by not meeting it.
Pure: what was examined goes in, a frozen table comes out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Protocol

from conformance.record.verdict import EVERY_RUN, Conformance, HeldInRun
from reports.promises import BROKEN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reports.requirement_table.examined import Column, Examined

WORST_FIRST = (
    Conformance.DEVIATES,
    Conformance.HARNESS_ERROR,
    Conformance.INCONCLUSIVE,
    Conformance.CONFORMS,
    Conformance.NOT_RUN,
)


class RequirementText(Protocol):
    """What the table says about a row."""

    @property
    def id(self) -> str:
        """What scenarios cite."""

    @property
    def sentence(self) -> str:
        """What must be so."""

    @property
    def area(self) -> str:
        """Return the title of its area."""


@dataclass(frozen=True, slots=True)
class RequirementCell:
    """One requirement on one release: every run that is about it, the worst first."""

    runs: tuple[Examined, ...]

    @property
    def word(self) -> Conformance | None:
        """Return the worst verdict; None if no scenario is about it."""
        return self.runs[0].conformance if self.runs else None

    @property
    def counts(self) -> Mapping[Conformance, int]:
        """How many runs have which verdict."""
        return Counter(run.conformance for run in self.runs)

    @property
    def broken_promises(self) -> int:
        """In how many runs a durability promise was broken, predicted or not."""
        return sum(run.promise in BROKEN for run in self.runs)


@dataclass(frozen=True, slots=True)
class RequirementRow:
    """One requirement with a cell a column."""

    requirement: RequirementText
    cells: tuple[RequirementCell, ...]


@dataclass(frozen=True, slots=True)
class EveryRunRow:
    """One requirement that every run is held against, with a count a column."""

    requirement: RequirementText
    held: tuple[HeldInRun, ...]


@dataclass(frozen=True, slots=True)
class Flake:
    """A scenario whose verdict was not the same in every round."""

    column: Column
    scenario: str
    answers: tuple[tuple[int, str, str], ...]

    @property
    def sentence(self) -> str:
        """Return what each round gave."""
        rounds = "; ".join(f"round {number}: {word}, {promise}" for number, word, promise in self.answers)
        return f"{self.scenario} on {self.column.words}: {rounds}"


@dataclass(frozen=True, slots=True)
class Total:
    """All runs of one column.

    Attributes:
        seconds: how long they took together.
        again: runs that were put aside because they had to be run again.
    """

    column: Column
    runs: tuple[Examined, ...]
    rounds: int
    flakes: int
    again: int

    @property
    def seconds(self) -> float:
        """How long the runs took together."""
        return sum(run.seconds for run in self.runs)

    @property
    def entries(self) -> int:
        """How many entries of the catalogue they are runs of."""
        return len({run.scenario for run in self.runs})

    @property
    def seconds_of_rounds(self) -> tuple[float, ...]:
        """How long the runs of each round took together, the first round first."""
        numbers = range(1, self.rounds + 1)
        return tuple(sum(run.seconds for run in self.runs if run.round == number) for number in numbers)

    @property
    def broken_promises(self) -> int:
        """In how many runs a durability promise was broken, predicted or not."""
        return len(self.breaking)

    @property
    def breaking(self) -> tuple[Examined, ...]:
        """Return the runs in which a durability promise was broken, those that nobody predicted first."""
        runs = [run for run in self.runs if run.broken is not None]
        return tuple(sorted(runs, key=lambda run: run.promise is not BROKEN[0]))

    @property
    def counts(self) -> Mapping[Conformance, int]:
        """How many runs have which verdict."""
        return Counter(run.conformance for run in self.runs)


@dataclass(frozen=True, slots=True)
class RequirementTable:
    """All of it.

    Attributes:
        problems: what could not be run or read, or is missing, each in one sentence.
    """

    totals: tuple[Total, ...]
    every_run: tuple[EveryRunRow, ...]
    rows: tuple[RequirementRow, ...]
    flakes: tuple[Flake, ...]
    problems: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns, oldest release first."""
        return tuple(total.column for total in self.totals)

    @property
    def runs(self) -> tuple[Examined, ...]:
        """Every run."""
        return tuple(run for total in self.totals for run in total.runs)

    @property
    def broken_in_every_run(self) -> tuple[str, ...]:
        """Where a requirement of every run did not hold."""
        return tuple(f"{row.requirement.id}: {words}" for row in self.every_run for h in row.held for words in h.broken)


def requirement_table(
    examined: Sequence[Examined],
    requirements: Sequence[RequirementText],
    again: Mapping[Column, int],
    problems: Sequence[str] = (),
) -> RequirementTable:
    """Return the table.

    Args:
        examined: every run.
        requirements: the rows, in their order; one that every run is held against needs no scenario of its own.
        again: how many runs of a column were put aside and run again.
        problems: what could not be run or is missing, each in one sentence; runs that cannot be read are added.
    """
    columns = sorted({run.column for run in examined}, key=lambda column: column.age)
    runs = {column: tuple(run for run in examined if run.column == column) for column in columns}
    rows = [RequirementRow(row, tuple(_cell(row.id, runs[column]) for column in columns)) for row in requirements]
    flakes = tuple(flake for column in columns for flake in _flakes(column, runs[column]))
    return RequirementTable(
        totals=tuple(_total(column, runs[column], flakes, again.get(column, 0)) for column in columns),
        every_run=tuple(
            EveryRunRow(row, tuple(_held(row.id, runs[column]) for column in columns))
            for row in requirements
            if row.id in EVERY_RUN
        ),
        rows=tuple(row for row in rows if row.requirement.id not in EVERY_RUN or any(cell.runs for cell in row.cells)),
        flakes=flakes,
        problems=(*problems, *(_uncounted(run) for run in examined if run.uncounted)),
    )


def _uncounted(run: Examined) -> str:
    nowhere = ", ".join(EVERY_RUN)
    return f"{run.place}: it counts nowhere in {nowhere}: {run.uncounted}"


def _cell(requirement: str, runs: Sequence[Examined]) -> RequirementCell:
    about = [run for run in runs if requirement in run.sources]
    return RequirementCell(tuple(sorted(about, key=lambda run: WORST_FIRST.index(run.conformance))))


def _held(requirement: str, runs: Sequence[Examined]) -> HeldInRun:
    return reduce(add, (run.held[requirement] for run in runs if requirement in run.held), HeldInRun(requirement))


def _total(column: Column, runs: Sequence[Examined], flakes: Sequence[Flake], again: int) -> Total:
    rounds = max((run.round for run in runs), default=1)
    return Total(column, tuple(runs), rounds, sum(flake.column == column for flake in flakes), again)


def _flakes(column: Column, runs: Sequence[Examined]) -> list[Flake]:
    by_scenario: dict[str, list[Examined]] = {}
    for run in runs:
        if not run.is_cut_short:
            by_scenario.setdefault(run.scenario, []).append(run)
    return [
        Flake(column, name, tuple((run.round, *run.answer) for run in sorted(rounds, key=lambda run: run.round)))
        for name, rounds in by_scenario.items()
        if len({run.answer for run in rounds}) > 1
    ]
