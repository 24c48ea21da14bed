"""What has changed since an earlier report? Its report.json is held against the runs of this one, entry by entry.

An entry on a line, that is a release in a metadata mode, or a Kafka of the user's by its label, is held against itself.
Where each report is over one line, and these differ, the lines are compared: so an upgrade is looked at. Several runs
of an entry are one: it fails if one does, and is flaky if they end differently.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from conformance.record.directory import RunDirectoryError
from conformance.record.verdict import Conformance, PromiseKept
from reports.chapters import FAILING
from reports.verdict_words import CONFORMANCE_LOOKS, PROMISE_LOOKS
from reports.version_matrix import column_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reports.model import RunView

JSON_NAME = "report.json"
"""What programs read of a report; it lies beside the page."""
SLOWER_RATIO, SLOWER_S = 1.5, 5.0
"""Longer by so much, and by so many seconds, is slower; less is the machine's noise."""
NAMED = 5


class Since(StrEnum):
    """What has become of an entry, the gravest first."""

    NEW = "new"
    FLAKY = "flaky"
    FIXED = "fixed"
    OTHERWISE = "otherwise"
    SLOWER = "slower"
    MISSING = "missing"
    ADDED = "added"


WORDS = {
    Since.NEW: "newly failing",
    Since.FLAKY: "flaky",
    Since.FIXED: "fixed",
    Since.OTHERWISE: "answers otherwise",
    Since.SLOWER: "slower",
    Since.MISSING: "no longer run",
    Since.ADDED: "run for the first time",
}


@dataclass(frozen=True, slots=True)
class RunTold:
    """A run as report.json has it; the rest of it is not compared."""

    scenario: str
    kafka: str
    metadata: str
    conformance: Conformance
    promise: PromiseKept | None = None
    label: str | None = None
    seconds: float | None = None

    @property
    def line(self) -> str:
        """Release and metadata mode, and which Kafka of the user's was run as it."""
        return column_words(self.kafka, self.metadata, self.label or "")

    @property
    def fails(self) -> bool:
        """Return whether it has to be looked at; a promise that broke as predicted has not."""
        return self.conformance in FAILING or self.promise is PromiseKept.BROKEN

    @property
    def words(self) -> str:
        """Both answers in words."""
        promise = "" if self.promise is None else f", {PROMISE_LOOKS[self.promise].word.lower()}"
        return f"{CONFORMANCE_LOOKS[self.conformance].word}{promise}"


@dataclass(frozen=True, slots=True)
class EntryChange:
    """What has become of one entry on one line; anchor: of its first run on this page, empty if it has none."""

    since: Since
    scenario: str
    line: str
    before: str
    now: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class ChangesSince:
    """The changes since an earlier report, the gravest first.

    Attributes:
        same: how many entries are as they were.
        lines: which two lines were compared, in words; empty if each with itself.
    """

    changes: tuple[EntryChange, ...]
    same: int = 0
    lines: str = ""

    def counts(self) -> dict[Since, int]:
        """Return how many changes there are of each kind, the gravest first; kinds without one are left out."""
        counted = Counter(change.since for change in self.changes)
        return {since: counted[since] for since in Since if counted[since]}

    def lines_of_text(self) -> Iterator[str]:
        """Yield what has changed, a line a kind, with the first names."""
        for since, count in self.counts().items():
            names = [f"{change.scenario} ({change.line})" for change in self.changes if change.since is since]
            more = f" and {count - NAMED} more" if count > NAMED else ""
            yield f"{WORDS[since]}: {count}: {', '.join(names[:NAMED])}{more}"
        yield f"as before: {self.same}"


@dataclass(frozen=True, slots=True)
class _Report:
    runs: tuple[RunTold, ...]


def read_baseline(path: Path) -> tuple[RunTold, ...]:
    """Return the runs of an earlier report: its report.json, or the directory that has it.

    Raises:
        RunDirectoryError: it is not there, or no report.
    """
    file = path / JSON_NAME if path.is_dir() else path
    try:
        return msgspec.json.decode(file.read_bytes(), type=_Report).runs
    except (OSError, ValueError, RecursionError) as error:
        raise RunDirectoryError(f"{file} cannot be read as the {JSON_NAME} of a report: {error}") from error


def told_of(run: RunView) -> RunTold:
    """Return a run of this page as report.json has it."""
    answers = run.verdict.conformance, run.verdict.promise
    return RunTold(run.name, run.kafka, run.metadata, *answers, run.label or None, run.seconds)


def changes_since(before: Sequence[RunTold], runs: Sequence[RunView]) -> ChangesSince:
    """Return what has changed since a report, over the entries of both."""
    now = [told_of(run) for run in runs]
    upgrade = _upgrade(before, now)
    by_line = upgrade is None
    first = {_key(one, by_line=by_line): run.anchor for one, run in reversed([*zip(now, runs, strict=True)])}
    was, is_now = (_grouped(told, by_line=by_line) for told in (before, now))
    keys = list(dict.fromkeys([*was, *is_now]))
    found = (_change(was.get(key, ()), is_now.get(key, ()), first.get(key, "")) for key in keys)
    order = list(Since)
    changes = sorted(filter(None, found), key=lambda change: order.index(change.since))
    return ChangesSince(tuple(changes), len(keys) - len(changes), " → ".join(upgrade or ()))


def _upgrade(before: Sequence[RunTold], now: Sequence[RunTold]) -> tuple[str, str] | None:
    """Return the two lines that are compared with one another, if each report is over one and they differ."""
    lines = [sorted({one.line for one in runs}) for runs in (before, now)]
    if [len(one) for one in lines] != [1, 1] or lines[0] == lines[1]:
        return None
    return lines[0][0], lines[1][0]


def _key(told: RunTold, *, by_line: bool) -> tuple[str, str]:
    return told.scenario, told.line if by_line else ""


def _grouped(runs: Iterable[RunTold], *, by_line: bool) -> Mapping[tuple[str, str], list[RunTold]]:
    grouped: dict[tuple[str, str], list[RunTold]] = defaultdict(list)
    for told in runs:
        if told.conformance is not Conformance.NOT_RUN:
            grouped[_key(told, by_line=by_line)].append(told)
    return grouped


def _change(before: Sequence[RunTold], now: Sequence[RunTold], anchor: str) -> EntryChange | None:
    since = _since(before, now)
    if since is None:
        return None
    one = (*now, *before)[0]
    was, is_now = (_words(runs, in_seconds=since is Since.SLOWER) for runs in (before, now))
    return EntryChange(since, one.scenario, one.line, was, is_now, anchor)


def _since(before: Sequence[RunTold], now: Sequence[RunTold]) -> Since | None:
    if not before or not now:
        return Since.ADDED if now else Since.MISSING
    if len({one.words for one in now}) > 1:
        return Since.FLAKY
    failed, fails = (any(one.fails for one in runs) for runs in (before, now))
    if failed is not fails:
        return Since.NEW if fails else Since.FIXED
    if now[0].words not in {one.words for one in before}:
        return Since.OTHERWISE
    return Since.SLOWER if _is_slower(before, now) else None


def _is_slower(before: Sequence[RunTold], now: Sequence[RunTold]) -> bool:
    took, takes = _seconds(before), _seconds(now)
    if took is None or takes is None:
        return False
    return takes > max(SLOWER_RATIO * took, took + SLOWER_S)


def _seconds(runs: Iterable[RunTold]) -> float | None:
    known = [one.seconds for one in runs if one.seconds is not None]
    return median(known) if known else None


def _words(runs: Sequence[RunTold], *, in_seconds: bool) -> str:
    if in_seconds:
        return f"{_seconds(runs) or 0:.0f} s"
    return "; ".join(dict.fromkeys(one.words for one in runs))
