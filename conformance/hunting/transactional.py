"""Which scripts of transactions does a hunt run, how is each run, and what is behind a difference?

A seed gives a release the same scripts on any machine; each is drawn on the model of the release
(`oracle.transactions.drawing`), run on a cluster that the next ones use too, and held against the prediction answer by
answer. A difference is tried again, explained by a swapped rule by which brokers answer so, and shrunk: acts are left
out for as long as it is still shown.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import TYPE_CHECKING

from conformance.catalogue.examination import Examination
from conformance.examining.transaction_scripts import TransactionScript
from conformance.hunting.journal import FINDINGS, RUNS, Journal
from conformance.hunting.lane import TRIES, hunted_of
from conformance.lanes import SessionOrder
from conformance.record.answers import read_compared, read_measured
from conformance.record.verdict import Conformance
from conformance.run_options import RunOptions
from conformance.schedules.transaction_file import script_text, word_of
from conformance.second_look import SecondLook
from oracle.rules.transactions import one_transaction_rule_apart, transaction_rules
from oracle.transactions.courses import ActError, ScriptCourse, check_possible
from oracle.transactions.drawing import DRAWN, scripts
from oracle.transactions.script import predict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

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
SHRINKING_S = 300.0
"""How long a finding is shrunk."""
REQUIREMENT = "Brokers answer every request, and give consumers what the rules of their release say."


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
            inquiry = ScriptInquiry(session, self, one.number)
            explained = explanations(one.acts, inquiry.rules[0], finished)
            acts = inquiry.shrunk(one.acts, explained)
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


def entry_of(name: str, script: TransactionScript, explanation: str) -> Examination:
    """Return a script as an entry that can be run."""
    return Examination(name, name, REQUIREMENT, (), explanation, lambda: script)


def told(acts: Acts, finished: Finished) -> str:
    """Return a script in words, act by act, and below the answers that differ."""
    differ = [one.text for one in read_compared(finished.run) if not one.agrees]
    return "\n".join([*(f"{number}. {act.text}" for number, act in enumerate(acts, 1)), *differ])


# What is behind a difference?


def explanations(acts: Acts, rules: TransactionRules, finished: Finished) -> dict[str, TransactionRules]:
    """Return the rule sets, one rule apart, by which a script's brokers answered as they did; by that rule's name."""
    measured = {one.what: one.value for one in read_measured(finished.run)}
    others = one_transaction_rule_apart(rules)
    return {name: other for name, other in others.items() if predicted_or_none(acts, other) == measured}


def predicted_or_none(acts: Acts, rules: TransactionRules) -> dict[str, object] | None:
    """Return every question with its answer; None if the script is impossible by these rules."""
    try:
        check_possible(acts, rules)
    except ActError:
        return None
    return dict(predict(acts, rules))


def shrunk(acts: Acts, rules: Sequence[TransactionRules], is_shown: Callable[[Acts], bool]) -> Acts:
    """Return the shortest script found that still shows a difference; itself if nothing can be left out.

    Args:
        acts: show the difference.
        rules: by which every shorter script must be possible; an act that is not without those left out goes too.
        is_shown: tells whether another script shows it too.
    """
    while (shorter := _one_round(acts, rules, is_shown)) != acts:
        acts = shorter
    return acts


def _one_round(acts: Acts, rules: Sequence[TransactionRules], is_shown: Callable[[Acts], bool]) -> Acts:
    """Leave out halves of a script, then quarters, and so on down to single acts, each from the end."""
    length = max(1, len(acts) // 2)
    while length:
        end = len(acts) - 1  # the last one is the look at the end
        while end > 0:
            start = max(0, end - length)
            shorter = possible((*acts[:start], *acts[end:]), rules)
            if len(shorter) < len(acts) and is_shown(shorter):
                acts = shorter
            end = min(start, len(acts) - 1)
        length //= 2
    return acts


def possible(acts: Acts, rules: Sequence[TransactionRules]) -> Acts:
    """Return those acts of a script that may come one after the other, each if it may come after those before it."""
    course = ScriptCourse(rules)
    for act in acts:
        try:
            course.take(act)
        except ActError:
            continue
    return course.acts


class ScriptInquiry:
    """What is asked of brokers about one difference.

    Args:
        session: where scripts are run.
        lane: whose difference it is.
        number: which script of the hunt's seed.
    """

    def __init__(self, session: Session, lane: ScriptLane, number: int) -> None:
        self._session, self._lane, self._name = replace(session, looks=SecondLook(0)), lane, lane.name(number)
        self.rules = rules_held(lane.line, lane.level)
        self.shown: dict[Acts, Finished] = {}
        self._tried: set[Acts] = set()
        self._ends = time.monotonic() + SHRINKING_S

    def shrunk(self, acts: Acts, explained: Mapping[str, TransactionRules]) -> Acts:
        """Return the shortest script that was found to show a difference on brokers; itself if none is shorter.

        Args:
            acts: show it.
            explained: rules by which brokers answered so: there the model shrinks, and brokers confirm what is left.
        """
        for other in explained.values():

            def differs(shorter: Acts, other: TransactionRules = other) -> bool:
                return predict(shorter, self.rules[0]) != predict(shorter, other)

            shorter = shrunk(acts, tuple(dict.fromkeys((*self.rules, other))), differs)
            if len(shorter) < len(acts) and self._is_shown(shorter):
                return shorter
        return shrunk(acts, self.rules, self._is_shown)

    def _is_shown(self, acts: Acts) -> bool:
        """Run a script, and tell whether brokers differ there too; no, once the time is over."""
        if acts in self._tried or time.monotonic() > self._ends:
            return acts in self.shown
        self._tried.add(acts)
        self._session.progress(f"shrinking, try {len(self._tried)}: {', '.join(map(word_of, acts))}")
        script = TransactionScript(acts, self._lane.level)
        entry = entry_of(self._name, script, "a finding of a hunt, made shorter")
        finished = self._session.run(entry, self._lane.runs / "shrinking")
        if finished.verdict.conformance is Conformance.DEVIATES:
            self.shown[acts] = finished
        return acts in self.shown
