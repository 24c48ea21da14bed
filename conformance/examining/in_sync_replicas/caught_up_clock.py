"""By which clock is a follower judged that never stops fetching? By when it last had everything."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer, Took
from conformance.examining.in_sync_replicas.slow_follower import slow_follower
from conformance.questions.shrink import LAG_MS, leaves_within
from fault_injection.waiting import until
from oracle.replication.remote import RemoteReplica
from oracle.vocabulary import BrokerId, Offset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.examining.context import ExaminationContext
    from conformance.examining.in_sync_replicas.slow_follower import SlowFollower
    from oracle.rules.rule_set import RuleSet

LOOK_MS = 100
"""How long after the decision the tester looks at the ISR."""
FETCHES = 3
"""How many fetches of the model's follower stand for all: one, one after it, and one that repeats it."""
KEEPING_S = 2 * LAG_MS / 1000
LEAVING_S = 20.0
FROM_LAST, ERRORS = (
    "milliseconds from the last moment that counts to the removal",
    "error codes in answers to its fetches",
)
NS_PER_S = 1_000_000_000
LEFT = leaves_within(LOOK_MS)


def _every(pause_s: float, fetch: Callable[[], object], is_done: Callable[[], bool], what: str) -> None:
    def turn() -> bool:
        fetch()
        return is_done()

    until(turn, deadline_s=LEAVING_S, what=what, interval_s=pause_s)


def _keep_pace(follower: SlowFollower, records: int, pause_s: float) -> None:
    """For twice the lag time fetch, after each append, from where the leader ended at the fetch before."""

    def turn() -> None:
        before = follower.end
        follower.append(records)
        follower.fetch_in_time(before)

    follower.fetch(follower.end)
    end = time.monotonic() + KEEPING_S
    _every(pause_s, turn, lambda: time.monotonic() >= end, "the follower to keep pace")


def _since(moment_s: float) -> Took:
    return Took(int(moment_s * NS_PER_S), time.monotonic_ns())


def _in_sync(*, behind: int, records: int, fetches: int = FETCHES) -> tuple[int, ...]:
    """Return the ISR, as the model has it, once the lag time has passed since broker 2 had everything.

    Args:
        behind: from how far before the leader's end of the fetch before it fetches meanwhile.
        records: how many records come between two fetches.
        fetches: how often it fetches after that.
    """
    end = records
    follower = RemoteReplica(BrokerId(2)).fetched(Offset(end), Offset(end)).lagged()
    for _ in range(fetches):
        follower, end = follower.fetched(Offset(end - behind), Offset(end + records)), end + records
    return (1, 2) if follower.is_caught_up else (1,)


@dataclass(frozen=True, slots=True)
class NeverAtTheEnd:
    """A follower that fetches ten times a second: first just far enough, then one record short."""

    kept: str = "in sync after 6 s of fetches from where the leader ended at the fetch before"
    behind: str = "records that the high watermark is behind the leader's end then"
    left: str = "in sync after fetches from one record before that"

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            "create a partition on brokers 1 and 2; hold the fetches of broker 2, and fetch in its name",
            "for 6 s, ten times a second: append a record, then fetch from the leader's end before it",
            "read the ISR and the high watermark",
            "go on, but fetch from one record further back each time, until the ISR changes",
            "read the ISR, and how long ago the follower last had what the leader had at the fetch before",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:  # noqa: ARG002 - the same on every release
        """Predict the ISR of both halves by what the model's leader knows of its follower."""
        return (
            QuestionAnswer(self.kept, [*_in_sync(behind=0, records=1)]),
            QuestionAnswer(self.behind, 1),
            QuestionAnswer(self.left, [*_in_sync(behind=1, records=1)]),
            QuestionAnswer(FROM_LAST, LEFT),
            QuestionAnswer(ERRORS, [0]),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Fetch from a real leader."""
        with slow_follower(context) as follower:
            _keep_pace(follower, 1, 0.1)
            yield QuestionAnswer(self.kept, [*follower.isr()])
            yield QuestionAnswer(self.behind, follower.end - follower.high_watermark())
            counts_until = follower.fetched_at[-2]

            def one_short() -> None:
                before = follower.end
                follower.append(1)
                follower.fetch(before - 1)

            _every(0.1, one_short, lambda: follower.isr() == [1], "the follower to leave the ISR")
            after = _since(counts_until)
            yield QuestionAnswer(self.left, [*follower.isr()])
            yield QuestionAnswer(FROM_LAST, after)
            yield QuestionAnswer(ERRORS, [*sorted(follower.errors)])


@dataclass(frozen=True, slots=True)
class FarBehind:
    """A follower that is 5,000 records behind all the time, and one that is a single record behind and silent."""

    records: int = 5_000
    kept: str = "in sync after 6 s of being 5000 records behind"
    behind: str = "records that the high watermark is behind the leader's end then"
    left: str = "in sync after silence with one record missing"

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            "create a partition on brokers 1 and 2; hold the fetches of broker 2, and fetch in its name",
            f"for 6 s, every second: append {self.records} records, then fetch from the leader's end before them",
            "read the ISR and the high watermark: replica.lag.max.messages, 4000 by default, is long gone",
            "fetch once from the leader's end, append one record, and fetch no more until the ISR changes",
            "read the ISR, and how long ago the last fetch was",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:  # noqa: ARG002 - the same on every release
        """Predict by what the model's leader knows of its follower, whatever the number of records."""
        return (
            QuestionAnswer(self.kept, [*_in_sync(behind=0, records=self.records)]),
            QuestionAnswer(self.behind, self.records),
            QuestionAnswer(self.left, [*_in_sync(behind=0, records=self.records, fetches=0)]),
            QuestionAnswer(FROM_LAST, LEFT),
            QuestionAnswer(ERRORS, [0]),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Fetch from a real leader."""
        with slow_follower(context) as follower:
            _keep_pace(follower, self.records, 1.0)
            yield QuestionAnswer(self.kept, [*follower.isr()])
            yield QuestionAnswer(self.behind, follower.end - follower.high_watermark())
            follower.fetch(follower.end)
            follower.append(1)
            until(lambda: follower.isr() == [1], deadline_s=LEAVING_S, what="the follower to leave the ISR")
            after = _since(follower.fetched_at[-1])
            yield QuestionAnswer(self.left, [*follower.isr()])
            yield QuestionAnswer(FROM_LAST, after)
            yield QuestionAnswer(ERRORS, [*sorted(follower.errors)])


NEVER_AT_THE_END = NeverAtTheEnd()
FAR_BEHIND = FarBehind()
