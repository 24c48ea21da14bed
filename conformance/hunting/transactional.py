"""Which scripts of transactions does a hunt run, and how is each run?

A seed gives a release the same scripts on any machine; each is drawn on the model of the release
(`oracle.transactions.drawing`), run on a cluster that the next ones use too, and held against the prediction answer by
answer. A difference is tried again, and what comes back each time is asked after (`script_findings`).
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import TYPE_CHECKING

from conformance.examining.transaction_scripts import TransactionScript
from conformance.hunting.journal import FINDINGS, RUNS, Journal
from conformance.hunting.lane import TRIES, hunted_of
from conformance.hunting.script_findings import REQUIREMENT, ScriptInquiry, entry_of, explanations, told
from conformance.lanes import SessionOrder
from conformance.record.answers import read_compared
from conformance.record.verdict import Conformance
from conformance.run_options import RunOptions
from conformance.schedules.transaction_file import script_text, word_of
from conformance.second_look import SecondLook
from oracle.rules.transactions import transaction_rules
from oracle.transactions.drawing import DRAWN, scripts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from conformance.catalogue.examination import Examination
    from conformance.hunting.blocks import HuntRequest
    from conformance.hunting.journal import HuntedSchedule
    from conformance.line import Line
    from conformance.pipeline import Finished
    from conformance.session import Session
    from oracle.rules.transactions import TransactionRules
    from oracle.transactions.script import TransactionAct

    Acts = tuple[TransactionAct, ...]

BLOCK = 10
"""So many scripts are run before a difference among them is looked at."""


@dataclass(frozen=True, slots=True)
class NumberedScript:
    """A script that is to be run: which one of the hunt's seed, from 0, and its acts."""

    number: int
    acts: Acts


def rules_held(line: Line, level: int | None = None) -> tuple[TransactionRules, ...]:
    """Return the rules that scripts are held against, and those of the release, if they are others.

    Args:
        line: the release, and the rules that it is held against.
        level: the clusters' transaction.version; None for that of new clusters.

    Raises:
        ValueError: the release has no transactions, or not that version of them.
    """
    held = TransactionScript((), level).rules(line.rules)
    return tuple(dict.fromkeys((held, transaction_rules(line.release.version, level))))


def journal_of(directory: Path, level: int | None) -> Journal:
    """Return what hunts for scripts have done in a directory, on clusters of one transaction.version."""
    return Journal(directory, "transactions.ndjson" if level is None else f"transactions-version-{level}.ndjson")


def drawn_scripts(rules: Sequence[TransactionRules], seed: int) -> Iterator[NumberedScript]:
    """Yield the scripts of a seed without end; each is possible by all of some rules.

    Args:
        rules: the first ones are those that scripts are predicted by.
        seed: of the hunt.
    """
    chances = ([random.Random(f"{seed}-{number}-{one}") for one in range(DRAWN)] for number in count())  # noqa: S311
    for number, drawn in enumerate(scripts(chances, rules)):
        yield NumberedScript(number, drawn.acts)


@dataclass(frozen=True, slots=True)
class ScriptHunt:
    """A hunt for scripts on one line."""

    asked: HuntRequest
    line: Line
    seed: int
    began: float = field(default_factory=time.monotonic)

    @property
    def journal(self) -> Journal:
        """Return what the hunt has done so far."""
        return journal_of(self.asked.directory, self.asked.transaction_version)

    @property
    def lane(self) -> ScriptLane:
        """Return what runs the blocks."""
        ends = None if self.asked.seconds is None else self.began + self.asked.seconds
        return ScriptLane(self.line, self.seed, self.asked.directory, ends, self.asked.transaction_version)

    def blocks(self) -> Iterator[tuple[NumberedScript, ...]]:
        """Yield what is to be run, until there was enough or the time is over."""
        done = self.journal.hunted(self.line.text, self.seed, self.line.rules_of)
        drawn = drawn_scripts(rules_held(self.line, self.asked.transaction_version), self.seed)
        left = islice((one for one in drawn if one.number not in done), self.asked.schedules)
        length = 1 if self.asked.until_found else BLOCK
        while not self.lane.is_over() and (block := tuple(islice(left, length))):
            yield block


@dataclass(frozen=True, slots=True)
class ScriptLane:
    """Runs blocks of scripts on one line.

    Attributes:
        directory: of the hunt.
        ends: when no further script is begun, on the monotonic clock; None for never.
        level: the clusters' transaction.version; None for that of new clusters.
    """

    line: Line
    seed: int
    directory: Path
    ends: float | None = None
    level: int | None = None

    @property
    def runs(self) -> Path:
        """Return the directory that gets the runs."""
        return self.directory / RUNS

    def is_over(self) -> bool:
        """Return whether the time is over."""
        return self.ends is not None and time.monotonic() > self.ends

    def order(self, options: RunOptions, words: str) -> SessionOrder:
        """Return the session in which blocks are run; each difference is tried again in it."""
        return SessionOrder(self.line, options, self.seed, words, SecondLook(None, TRIES, is_thorough=True))

    def run(self, session: Session, block: tuple[NumberedScript, ...]) -> Iterator[HuntedSchedule]:
        """Run a block, and yield each script with its verdict."""
        finished = session.run_together(self._entries(session, block), self.runs)
        for one, run in zip(block, finished, strict=False):  # those that the time was enough for
            hunted = self._hunted(session, one, run)
            session.progress(f"[{one.number}] {hunted.words}")
            yield hunted

    def _entries(self, session: Session, block: tuple[NumberedScript, ...]) -> Iterator[Examination]:
        for one in block:
            if self.is_over():
                return
            session.progress(f"[{one.number}] {', '.join(map(word_of, one.acts))}")
            about = f"script {one.number} of a hunt with seed {self.seed}"
            yield entry_of(self.name(one.number), TransactionScript(one.acts, self.level), about)

    def name(self, number: int) -> str:
        """Return the id of a script of the hunt."""
        of_level = "" if self.level is None else f"-version-{self.level}"
        return f"hunt/transactions{of_level}-{self.seed}-{number}"

    def _hunted(self, session: Session, one: NumberedScript, finished: Finished) -> HuntedSchedule:
        hunted = hunted_of(self.line, self.seed, one.number, tuple(map(word_of, one.acts)), finished)
        hunted = replace(hunted, answers=len(read_compared(finished.run)))
        return self._inquired(session, hunted, finished, one) if hunted.is_finding else hunted

    def _inquired(
        self, session: Session, hunted: HuntedSchedule, finished: Finished, one: NumberedScript
    ) -> HuntedSchedule:
        """Write a finding down; one that comes back each time is explained, and shrunk, before."""
        explained: Mapping[str, TransactionRules] = {}
        acts, shown, shrunk_run = one.acts, finished, None
        if hunted.counted is Conformance.DEVIATES:
            rules = rules_held(self.line, self.level)
            script = TransactionScript(one.acts, self.level)
            inquiry = ScriptInquiry(session, self.name(one.number), script, rules, self.runs / "shrinking")
            explained = explanations(one.acts, rules[0], finished)
            acts = inquiry.shrunk(explained)
            shown = inquiry.shown.get(acts, finished)
            shrunk_run = None if shown is finished else str(shown.run.path.relative_to(self.runs))
        return replace(
            hunted,
            finding=self._written(session, one.number, acts, shown),
            explained_by=tuple(explained),
            shrunk_steps=None if shrunk_run is None else len(acts),
            shrunk_run=shrunk_run,
        )

    def _written(self, session: Session, number: int, acts: Acts, shown: Finished) -> str:
        """Write a script to a file of its own, with its acts in words, and return the file's name."""
        text = self.text(number, acts, told(acts, shown))
        options = RunOptions(fetch_sessions=session.cluster_pool.fetch_sessions)
        journal = journal_of(self.directory, self.level)
        path = journal.write(self.line, self.name(number), text, shown.verdict.reason, FINDINGS, options)
        return str(path.relative_to(self.directory))

    def text(self, number: int, acts: Acts, comment: str = "") -> str:
        """Return a script of the hunt as a file has it."""
        return script_text(self.name(number), REQUIREMENT, acts, self.level, comment)
