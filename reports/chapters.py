"""In which order does a page tell its runs? By area of the catalogue and by name; what does not apply stands last.

Runs of one name, on several releases or in several rounds, stand in the order in which they were given. A family with
many runs, such as the settings matrix, is a shelf of its own within its area.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.verdict import Conformance, PromiseKept
from oracle.vocabulary import AREAS
from reports.promises import BROKEN, lost_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reports.model import RunView

TITLES = AREAS | {"regressions": "Known defects"}
"""Titles of the areas by the letters that entries' names begin with."""
OTHER = "Schedules of your own"
SHELF_RUNS_MIN = 12
"""From how many runs on a family is a shelf of its own."""
FAILING = frozenset({Conformance.DEVIATES, Conformance.HARNESS_ERROR, Conformance.INCONCLUSIVE})
_ROUND = re.compile(r"round-(\d+)")


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts and time of some runs."""

    runs: tuple[RunView, ...]

    @property
    def conformance(self) -> Mapping[Conformance, int]:
        """How many runs have which verdict."""
        return Counter(run.verdict.conformance for run in self.runs)

    @property
    def promise(self) -> Mapping[PromiseKept | None, int]:
        """How many runs have which answer about the promise."""
        return Counter(run.verdict.promise for run in self.runs)

    @property
    def seconds(self) -> float:
        """How long the runs took together."""
        return sum(run.seconds or 0.0 for run in self.runs)

    @property
    def is_failing(self) -> bool:
        """Return whether a run needs to be looked at."""
        return any(run.verdict.conformance in FAILING for run in self.runs)

    @property
    def is_printed(self) -> bool:
        """Return whether a run of them stands on paper."""
        return any(map(is_printed, self.runs))


def is_printed(run: RunView) -> bool:
    """Return whether a run stands on paper: it deviates, gave no answer, or lost records."""
    return run.verdict.conformance in FAILING or run.verdict.promise in BROKEN or bool(lost_records(run))


@dataclass(frozen=True, slots=True)
class Shelf:
    """Runs that stand below one another; with a title they are folded away."""

    title: str
    tally: Tally


@dataclass(frozen=True, slots=True)
class Chapter:
    """One area of the catalogue."""

    anchor: str
    letters: str
    title: str
    tally: Tally
    shelves: tuple[Shelf, ...]
    not_run: tuple[RunView, ...]


def chapters_of(runs: Sequence[RunView]) -> tuple[Chapter, ...]:
    """Return the chapters that have runs, in the order of the catalogue, the user's own schedules last."""
    by_area: dict[str, list[RunView]] = {area: [] for area in (*TITLES, "")}
    for run in sorted(runs, key=_name_key):
        by_area[area_of(run.scenario)].append(run)
    return tuple(_chapter(area, of_area) for area, of_area in by_area.items() if of_area)


def area_of(scenario: str) -> str:
    """Return the letters of the area that a scenario belongs to; empty for one of the user's own."""
    letters = re.split(r"[-/]", scenario, maxsplit=1)[0]
    return letters if letters in TITLES else ""


def round_of(run: RunView) -> int | None:
    """Return which of several rounds a run belongs to, if it lies in a round's folder."""
    named = _ROUND.fullmatch(run.path.parent.name)
    return int(named[1]) if named else None


def _name_key(run: RunView) -> list[tuple[int, str]]:
    """Return a key by which KAFKA-7128 comes before KAFKA-13141."""
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"(\d+)", run.name)]


def _chapter(area: str, runs: list[RunView]) -> Chapter:
    taken = [run for run in runs if run.verdict.conformance is not Conformance.NOT_RUN]
    families: dict[str, list[RunView]] = {}
    for run in taken:
        families.setdefault(run.name.partition("/")[0], []).append(run)
    return Chapter(
        anchor=f"area-of-{area.lower() or 'other'}",
        letters=area if area.isupper() else "",
        title=TITLES.get(area, OTHER),
        tally=Tally(tuple(runs)),
        shelves=tuple(_shelves(families)),
        not_run=tuple(run for run in runs if run.verdict.conformance is Conformance.NOT_RUN),
    )


def _shelves(families: Mapping[str, list[RunView]]) -> Iterable[Shelf]:
    """Yield families with few runs in one shelf without a title, each of the others in its own."""
    large = {name for name, runs in families.items() if len(families) > 1 and len(runs) >= SHELF_RUNS_MIN}
    small = tuple(run for name, runs in families.items() if name not in large for run in runs)
    if small:
        yield Shelf("", Tally(small))
    for name in families:
        if name in large:
            yield Shelf(name, Tally(tuple(families[name])))
