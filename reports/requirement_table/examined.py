"""What does the table take from one run? Its release, its verdict, what it proves, and how often HW-01 & co. held."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.record.verdict import Conformance
from reports.load import load_runs
from reports.promises import broken_promise
from reports.verdict_words import NOT_JUDGED
from reports.version_matrix import column_words, own_words, release_age

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from conformance.record.verdict import HeldInRun, PromiseKept
    from reports.model import RunView
    from reports.promises import BrokenPromise

ROUND = re.compile(r"round-(\d+)")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table: a release in a metadata mode on a backend.

    Attributes:
        label: what the user calls the Kafka of their own that was run as this release; empty of the release itself.
        build: the version that its broker's jar has; likewise.
    """

    kafka: str
    metadata: str
    backend: str
    label: str = ""
    build: str = ""

    @property
    def own(self) -> str:
        """Which Kafka of the user's it is, in words; empty of the release itself."""
        return own_words(self.label, self.build)

    @property
    def words(self) -> str:
        """Return the column as people call it."""
        place = ", in containers" if self.backend == "docker" else ""
        return f"{column_words(self.kafka, self.metadata, self.own)}{place}"

    @property
    def age(self) -> tuple[list[int], str, str, str]:
        """A key that puts older releases first, ZooKeeper before KRaft, a user's own after it, containers last."""
        return *release_age(self.kafka, self.metadata), self.own, "" if self.backend == "process" else self.backend


@dataclass(frozen=True, slots=True)
class Examined:
    """One run, as far as the table needs it.

    Attributes:
        round: which of the repeated rounds it belongs to, from 1 on.
        sources: what the scenario cites, requirements among them.
        page: the report that tells the run.
        anchor: its place on that page.
        held: how often the requirements of every run held, by id.
        uncounted: why it counts nowhere among them; empty if it does.
        broken: how its durability promise was broken; None if it was not.
        quirks: what its brokers had that their release has not, in words.
        basis: where its predictions come from: predicted, computed or documented; empty if the run does not say.
        is_cut_short: the tester was made to end in the middle of the run, which says nothing about other rounds.
    """

    column: Column
    scenario: str
    round: int
    sources: tuple[str, ...]
    conformance: Conformance
    promise: PromiseKept | None
    reason: str
    seconds: float
    seed: str
    path: Path
    page: Path
    anchor: str
    held: Mapping[str, HeldInRun] = field(default_factory=dict)
    uncounted: str = ""
    is_cut_short: bool = False
    basis: str = ""
    quirks: tuple[str, ...] = ()
    broken: BrokenPromise | None = None

    @property
    def answer(self) -> tuple[str, str]:
        """Both verdicts: what must not differ from round to round."""
        return self.conformance.value, self.promise.value if self.promise else NOT_JUDGED

    @property
    def place(self) -> str:
        """Which run this is, in words."""
        return f"{self.scenario} on {self.column.words}, round {self.round}"


def examined_runs(runs: Sequence[Path], page: Path) -> tuple[Examined, ...]:
    """Return what the table takes from runs, given the page that tells them in this order."""
    return tuple(_examined(view, page) for view in load_runs(runs))


def _examined(view: RunView, page: Path) -> Examined:
    named = ROUND.fullmatch(view.path.parent.name)
    held, uncounted = _held(view)
    return Examined(
        column=Column(view.kafka, view.metadata, view.backend, view.label, view.build),
        scenario=view.name,
        round=int(named[1]) if named else 1,
        sources=view.sources,
        conformance=view.verdict.conformance,
        promise=view.verdict.promise,
        broken=broken_promise(view),
        reason=view.verdict.reason,
        seconds=view.seconds or 0.0,
        seed=view.seed,
        path=view.path,
        page=page,
        anchor=view.anchor,
        held=held,
        uncounted=uncounted,
        is_cut_short=view.verdict.is_cut_short,
        basis=view.basis,
        quirks=view.quirks,
    )


def _held(view: RunView) -> tuple[dict[str, HeldInRun], str]:
    """Return what the judge counted, only where the tester did not fail: what a broken run measured proves nothing."""
    if view.is_examination or view.verdict.conformance in {Conformance.NOT_RUN, Conformance.HARNESS_ERROR}:
        return {}, ""
    older = "" if view.every_run else "an older tester judged it; `kafka-conformance judge` judges it again"
    return {held.requirement: held for held in view.every_run}, older
