"""How is a block of a hunt run? Its schedules one after the other on one cluster, reconciled together, then judged.

A difference is tried again, and what comes back each time is asked after and shrunk, before the next block.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from conformance.catalogue.scenario import Scenario
from conformance.cluster_pool import brokers_for
from conformance.hunting.findings import FindingInquiry
from conformance.hunting.journal import FINDINGS, RUNS, HuntedSchedule, Journal
from conformance.lanes import SessionOrder
from conformance.record.run import read_run
from conformance.record.verdict import Conformance
from conformance.run_options import RunOptions
from conformance.second_look import SecondLook

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.catalogue.examination import Entry
    from conformance.hunting.deciding import RuleDecision
    from conformance.line import Line
    from conformance.pipeline import Finished
    from conformance.session import Session
    from oracle.schedule import Schedule

TRIES = 3
"""So often a difference is tried again."""
USUAL_BROKERS = (1, 2, 3)
"""Every cluster of a hunt has these and those that it had, so that the next block finds one that it can use."""


@dataclass(frozen=True, slots=True)
class NumberedSchedule:
    """A schedule that is to be run.

    Attributes:
        number: which schedule of the hunt's seed, from 0.
        spoils_cluster: whether it leaves a broker that can never register again once it has crashed.
        brings: the decisions of rules in it that no schedule drawn before met.
    """

    number: int
    schedule: Schedule
    spoils_cluster: bool = False
    brings: frozenset[RuleDecision] = frozenset()


def hunted_of(line: Line, seed: int, number: int, steps: tuple[str, ...], finished: Finished) -> HuntedSchedule:
    """Return what the journal says of a run that has its verdict, before anybody asks after a finding."""
    verdict, again = finished.verdict, read_run(finished.run).second_look
    return HuntedSchedule(
        line.text,
        seed,
        number,
        verdict.conformance,
        None if verdict.promise is None else verdict.promise.value,
        verdict.reason,
        steps,
        round(finished.seconds, 1),
        finished.run.path.name,
        tries=again.tries if again else 0,
        came_back=again.came_back or 0 if again else 0,
        rules_of=line.rules_of,
    )


@dataclass(frozen=True, slots=True)
class HuntLane:
    """Runs blocks of schedules on one line.

    Attributes:
        directory: of the hunt.
        ends: when no further schedule is begun, on the monotonic clock; None for never.
        purpose: what the schedules are of, in words.
    """

    line: Line
    seed: int
    directory: Path
    ends: float | None = None
    purpose: str = "a hunt"

    @property
    def runs(self) -> Path:
        """Return the directory that gets the runs."""
        return self.directory / RUNS

    def order(self, options: RunOptions, words: str) -> SessionOrder:
        """Return the session in which blocks are run; each difference is tried again in it."""
        looks = SecondLook(None, TRIES, is_thorough=True)
        return SessionOrder(self.line, options, self.seed, words, looks)

    def run(self, session: Session, block: tuple[NumberedSchedule, ...]) -> Iterator[HuntedSchedule]:
        """Run a block, and yield each schedule with its verdict."""
        pool = session.cluster_pool
        had = () if pool.running is None else pool.running.spec.broker_ids
        brokers = (broker for one in block for broker in brokers_for(one.schedule))
        pool.shared_brokers = frozenset((*USUAL_BROKERS, *brokers, *had))
        finished = session.run_together(self._entries(session, block), self.runs)
        for one, run in zip(block, finished, strict=False):  # those that the time was enough for
            hunted = self._hunted(session, one, run)
            session.progress(f"[{one.number}] {hunted.words}")
            yield hunted

    def is_over(self) -> bool:
        """Return whether the time is over."""
        return self.ends is not None and time.monotonic() > self.ends

    def _entries(self, session: Session, block: tuple[NumberedSchedule, ...]) -> Iterator[Entry]:
        for one in block:
            if self.is_over():
                return
            session.progress(f"[{one.number}] {', '.join(step.word for step in one.schedule.steps)}")
            about = f"schedule {one.number} of {self.purpose} with seed {self.seed}"
            yield Scenario(one.schedule.id, one.schedule, about)
            if one.spoils_cluster:
                session.cluster_pool.discard_cluster()

    def _hunted(self, session: Session, one: NumberedSchedule, finished: Finished) -> HuntedSchedule:
        steps = tuple(step.word for step in one.schedule.steps)
        hunted = replace(
            hunted_of(self.line, self.seed, one.number, steps, finished), brings=tuple(sorted(map(str, one.brings)))
        )
        return self._inquired(session, hunted, finished, one.schedule) if hunted.is_finding else hunted

    def _inquired(
        self, session: Session, hunted: HuntedSchedule, finished: Finished, schedule: Schedule
    ) -> HuntedSchedule:
        """Write a finding down; one that comes back each time is asked after, and shrunk, before."""
        explained, smaller = {}, None
        if hunted.counted is Conformance.DEVIATES:
            inquiry = FindingInquiry(session, schedule, finished, self.line.rules, self.runs / "shrinking")
            explained = inquiry.explanations()
            smaller = inquiry.shrunk(explained)
        shown = schedule if smaller is None else smaller.schedule
        reason = hunted.reason if smaller is None else smaller.finished.verdict.reason
        options = RunOptions(fetch_sessions=session.cluster_pool.fetch_sessions)
        path = Journal(self.directory).write_schedule(self.line, shown, reason, FINDINGS, options)
        return replace(
            hunted,
            finding=str(path.relative_to(self.directory)),
            explained_by=tuple(explained),
            shrunk_steps=None if smaller is None else len(shown.steps),
            shrunk_run=None if smaller is None else str(smaller.finished.run.path.relative_to(self.runs)),
        )
