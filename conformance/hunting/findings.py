"""What is behind a difference, and how short can it be shown? Asked of other rules first, then of brokers.

A run that conforms by rules that are one apart from those it was held against is explained by them: brokers do what
that rule says. With an explanation the model shrinks the schedule alone, and brokers only confirm what is left. Without
one, or where they do not confirm it, each smaller schedule is run, until the time is over.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from conformance.catalogue.scenario import Scenario
from conformance.hunting.rules_at_work import rules_held, told_by
from conformance.hunting.shrinking import identity, shrunk, size_of
from conformance.record.verdict import AWAITED_STATE, NOT_HELD, TRACE, Conformance
from conformance.second_look import SecondLook
from conformance.stages.repredict import repredict_all
from oracle.rules.by_version import one_rule_apart

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping
    from pathlib import Path

    from conformance.pipeline import Finished
    from conformance.record.verdict import Verdict
    from conformance.session import Session
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule

ASKED_MAX = 8
"""So many other rules are asked about one finding at most."""
SHRINKING_S = 900.0
"""How long a finding is shrunk."""
UNFORESEEN = frozenset({AWAITED_STATE, TRACE, NOT_HELD})
"""What a run can show differently that no prediction has a number for."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The shortest schedule that shows a finding.

    Attributes:
        finished: the run in which brokers showed it.
    """

    schedule: Schedule
    finished: Finished


class FindingInquiry:
    """What is asked about one finding.

    Args:
        session: where schedules are run.
        schedule: that shows it.
        finished: its run.
        rules: by which it deviates.
        runs: the directory that gets the runs of smaller schedules.
    """

    def __init__(self, session: Session, schedule: Schedule, finished: Finished, rules: RuleSet, runs: Path) -> None:
        self._session = replace(session, looks=SecondLook(0))
        self._schedule, self._finished, self._rules, self._runs = schedule, finished, rules, runs
        self._codes = frozenset(finished.verdict.codes)
        self._ends = time.monotonic() + SHRINKING_S
        self._tries = 0
        self._shown: dict[Hashable, Finished] = {}

    def explanations(self) -> dict[str, RuleSet]:
        """Return the rule sets, one rule apart, by which the run conforms; by that rule's name."""
        others = one_rule_apart(self._rules)
        held = rules_held(self._schedule, self._rules, others)
        asked = [name for name, codes in held.items() if self._may_be_shown_by(codes)][:ASKED_MAX]
        verdicts = repredict_all(self._finished.run, self._session.spark, [others[name] for name in asked])
        return {name: others[name] for name, verdict in zip(asked, verdicts, strict=True) if _conforms(verdict)}

    def _may_be_shown_by(self, codes: frozenset[str]) -> bool:
        """Return whether a difference with these codes may be the finding."""
        return bool(codes) and bool(codes & self._codes or self._codes & UNFORESEEN)

    def shrunk(self, explanations: Mapping[str, RuleSet]) -> Shrunk | None:
        """Return the smallest schedule that was found to show the finding on brokers; None if none is smaller."""
        for candidate in self._by_model(explanations):
            if size_of(candidate) < size_of(self._schedule) and self._is_shown(candidate):
                return self._told(candidate)
        smallest = shrunk(self._schedule, self._rules, self._is_shown)
        return self._told(smallest) if smallest is not self._schedule else None

    def _by_model(self, explanations: Mapping[str, RuleSet]) -> Iterator[Schedule]:
        """Yield what is left when the model alone shrinks the schedule, for each explanation."""
        for other in explanations.values():

            def differs(smaller: Schedule, other: RuleSet = other) -> bool:
                return self._may_be_shown_by(told_by(smaller, self._rules, other))

            yield shrunk(self._schedule, self._rules, differs)

    def _is_shown(self, smaller: Schedule) -> bool:
        """Run a schedule, and tell whether it shows the finding too; no, once the time is over."""
        if time.monotonic() > self._ends:
            return False
        self._tries += 1
        self._session.progress(f"shrinking, try {self._tries}: {', '.join(step.word for step in smaller.steps)}")
        entry = Scenario(smaller.id, smaller, "a finding of a hunt, made shorter")
        finished = self._session.run(entry, self._runs)
        is_shown = finished.verdict.conformance is Conformance.DEVIATES and bool(
            self._codes.intersection(finished.verdict.codes)
        )
        if is_shown:
            self._shown[identity(smaller)] = finished
        return is_shown

    def _told(self, schedule: Schedule) -> Shrunk:
        return Shrunk(schedule, self._shown[identity(schedule)])


def _conforms(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.conformance is Conformance.CONFORMS
