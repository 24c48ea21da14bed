"""What is behind a difference that brokers show on a script of transactions, and how short can it be shown?

A rule that is one apart explains it if the model answers by that as brokers did; the model shrinks the script then, and
brokers confirm what is left. Else each shorter script is run: acts are left out for as long as brokers still differ.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.catalogue.examination import Examination
from conformance.hunting.shrinking import parts_left_out
from conformance.record.answers import read_compared, read_measured
from conformance.record.verdict import Conformance
from conformance.schedules.transaction_file import word_of
from conformance.second_look import SecondLook
from oracle.rules.transactions import one_transaction_rule_apart
from oracle.transactions.courses import ActError, ScriptCourse, check_possible
from oracle.transactions.script import predict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from conformance.examining.transaction_scripts import TransactionScript
    from conformance.pipeline import Finished
    from conformance.session import Session
    from oracle.rules.transactions import TransactionRules
    from oracle.transactions.script import Told, TransactionAct

    Acts = tuple[TransactionAct, ...]

SHRINKING_S = 300.0
"""How long a finding is shrunk."""
REQUIREMENT = "Brokers answer every request, and give consumers what the rules of their release say."


def entry_of(name: str, script: TransactionScript, explanation: str) -> Examination:
    """Return a script as an entry that can be run."""
    return Examination(name, name, REQUIREMENT, (), explanation, lambda: script)


def told(acts: Acts, finished: Finished) -> str:
    """Return a script in words, act by act, and below the answers that differ."""
    differ = [one.text for one in read_compared(finished.run) if not one.agrees]
    return "\n".join([*(f"{number}. {act.text}" for number, act in enumerate(acts, 1)), *differ])


def explanations(acts: Acts, rules: TransactionRules, finished: Finished) -> dict[str, TransactionRules]:
    """Return the rule sets, one rule apart, by which a script's brokers answered as they did; by that rule's name."""
    measured = {one.what: one.value for one in read_measured(finished.run)}
    others = one_transaction_rule_apart(rules)
    return {name: other for name, other in others.items() if dict(predicted_or_none(acts, other) or ()) == measured}


def predicted_or_none(acts: Acts, rules: TransactionRules) -> tuple[Told, ...] | None:
    """Return every question with its answer; None if the script is impossible by these rules."""
    try:
        check_possible(acts, rules)
    except ActError:
        return None
    return predict(acts, rules)


def shrunk(acts: Acts, rules: Sequence[TransactionRules], is_shown: Callable[[Acts], bool]) -> Acts:
    """Return the shortest script found that still shows a difference; itself if nothing can be left out.

    Args:
        acts: show the difference.
        rules: by which every shorter script must be possible; an act that is not without those left out goes too.
        is_shown: tells whether another script shows it too.
    """

    def without(known: Acts, start: int, end: int) -> Acts:
        shorter = possible((*known[:start], *known[end:]), rules)
        return shorter if len(shorter) < len(known) and is_shown(shorter) else known

    while (shorter := parts_left_out(acts, len, without)) != acts:
        acts = shorter
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
        name: the id of the script.
        script: shows the difference.
        rules: by which shorter ones must be possible; the first ones are those that they are predicted by.
        runs: the directory that gets the runs of shorter ones.
    """

    def __init__(
        self, session: Session, name: str, script: TransactionScript, rules: Sequence[TransactionRules], runs: Path
    ) -> None:
        self._session, self._name, self._script = replace(session, looks=SecondLook(0)), name, script
        self._rules, self._runs = rules, runs
        self.shown: dict[Acts, Finished] = {}
        self._tried: set[Acts] = set()
        self._ends = time.monotonic() + SHRINKING_S

    def shrunk(self, explained: Mapping[str, TransactionRules]) -> Acts:
        """Return the acts of the shortest script that was found to show a difference on brokers.

        Args:
            explained: rules by which brokers answered so: there the model shrinks, and brokers confirm what is left.
        """
        acts = self._script.acts
        for other in explained.values():

            def differs(shorter: Acts, other: TransactionRules = other) -> bool:
                return predict(shorter, self._rules[0]) != predict(shorter, other)

            shorter = shrunk(acts, tuple(dict.fromkeys((*self._rules, other))), differs)
            if len(shorter) < len(acts) and self._is_shown(shorter):
                return shorter
        return shrunk(acts, self._rules, self._is_shown)

    def _is_shown(self, acts: Acts) -> bool:
        """Run a script, and tell whether brokers differ there too; no, once the time is over."""
        if acts in self._tried or time.monotonic() > self._ends:
            return acts in self.shown
        self._tried.add(acts)
        self._session.progress(f"shrinking, try {len(self._tried)}: {', '.join(map(word_of, acts))}")
        entry = entry_of(self._name, replace(self._script, acts=acts), "a finding of a hunt, made shorter")
        finished = self._session.run(entry, self._runs)
        if finished.verdict.conformance is Conformance.DEVIATES:
            self.shown[acts] = finished
        return acts in self.shown
