"""Which schedules are both interpreters asked about? Written stories, changed by chance, under any release.

A story loses steps, gets others and swaps some; what the oracle finds possible then is carried out
(``walks.followed``). Awaits in between say what the oracle has at that moment or, now and then, what it
has not: then both must refuse the same step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill, LoseCheckpoint, LoseTail, Start, Stop
from oracle.steps.frames import AwaitHold, Close, Drop, Hold, ReleaseHold
from oracle.steps.produce import AwaitOutcome, Produce
from oracle.steps.topic import Elect
from oracle.steps.waits import AwaitIsr, AwaitLag, AwaitLeader, Checkpoint
from oracle.vocabulary import (
    Acks,
    BrokerId,
    ElectionKind,
    Expectation,
    HighWatermarkCheckpoint,
    MetadataMode,
    Offset,
    Timing,
)
from tests.oracle.differential.corpus import FETCHES, LOOKUPS, renamed, stories
from tests.oracle.walks import RULE_SETS, SETTINGS, Walk, followed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.steps.step import Step


EDGES = ("1.0.1", "2.1.0", "2.2.2", "2.4.1", "2.6.0", "2.6.1", "3.0.2", "3.1.2", "3.4.0", "3.4.1", "3.7.0", "3.9.0")
"""Releases at which a rule begins or ends, besides those of the walks."""
ASKED: tuple[RuleSet, ...] = (
    *RULE_SETS,
    *(rules_for(version, MetadataMode.ZOOKEEPER) for version in EDGES),
    *(rules_for(version, MetadataMode.KRAFT) for version in EDGES if version >= "3.3"),
    rules_for("4.0.0", MetadataMode.KRAFT),
    rules_for("4.0.2", MetadataMode.KRAFT, eligible_leader_replicas=True),
    rules_for("4.3.1", MetadataMode.KRAFT, eligible_leader_replicas=False),
)


@dataclass(frozen=True, slots=True)
class Question:
    """A schedule with the rules that it is asked about."""

    schedule: Schedule
    rules: RuleSet


@st.composite
def questions(draw: st.DrawFn, rule_sets: tuple[RuleSet, ...] = ASKED, max_changes: int = 6) -> Question:
    """Draw a schedule and rules."""
    rules = draw(st.sampled_from(rule_sets))
    schedule = draw(st.sampled_from(stories())).schedule
    settings = draw(st.one_of(st.just(schedule.settings), SETTINGS))
    checkpointing = draw(st.one_of(st.just(schedule.checkpointing), st.sampled_from(HighWatermarkCheckpoint)))
    timing = draw(st.one_of(st.just(schedule.timing), st.sampled_from(Timing)))
    steps = renamed(draw(_changed(schedule, max_changes)), has_lookups=rules.truncation.asks_leader)
    schedule = replace(schedule, id="question", steps=tuple(steps), settings=settings, checkpointing=checkpointing)
    walk = followed(replace(schedule, steps=tuple(_timed(schedule.steps, timing)), timing=timing), rules)
    walk = walk if draw(st.integers(0, 9)) == 0 else without_holds_in_vain(walk)
    awaits = draw(st.lists(st.integers(0, 30), min_size=1, max_size=8))
    return Question(replace(walk.schedule, steps=tuple(_with_awaits(walk, awaits))), rules)


@st.composite
def _changed(draw: st.DrawFn, schedule: Schedule, max_changes: int) -> list[Step]:
    """Draw a story with steps inserted, removed or put elsewhere."""
    steps: list[Step] = list(schedule.steps)
    for _ in range(draw(st.integers(0, max_changes))):
        change, at = draw(st.integers(0, 5)), draw(st.integers(0, max(len(steps) - 1, 0)))
        if change == 0 and steps:
            del steps[at]
        elif change == 1 and steps:
            steps.insert(draw(st.integers(0, len(steps) - 1)), steps.pop(at))
        else:
            steps.insert(at + 1, draw(_step(schedule.replicas)))
    return steps


def _step(replicas: tuple[BrokerId, ...]) -> st.SearchStrategy[Step]:
    broker = st.sampled_from(replicas)
    silent = st.lists(broker, min_size=1, max_size=2, unique=True).map(tuple)
    held = st.sampled_from([f"h{index}" for index in range(4)])
    offset = st.one_of(st.none(), st.integers(0, 4).map(Offset))
    hold = st.builds(
        Hold, st.just(""), st.sampled_from(FETCHES + LOOKUPS), broker, broker, offset, st.sampled_from([1, 1, 2])
    )
    return st.one_of(
        st.builds(Produce, st.just(()), st.sampled_from([Acks.ALL, Acks.ALL, Acks.LEADER, Acks.NONE])),
        st.one_of(st.builds(Kill, broker), st.builds(Stop, broker)),
        st.builds(Start, broker),
        st.one_of(st.builds(Elect, st.sampled_from(ElectionKind)), st.builds(LoseCheckpoint, broker)),
        st.one_of(st.builds(LoseTail, broker, st.integers(0, 3).map(Offset)), st.builds(AwaitLag, silent)),
        hold.filter(lambda step: step.follower != step.leader),
        st.one_of(st.builds(ReleaseHold, held, st.booleans()), st.builds(Close, held), st.builds(Drop, held)),
    )


def _timed(steps: Iterable[Step], timing: Timing) -> Iterator[Step]:
    """Leave out waiting for the lag time where no schedule is as long as that."""
    return (step for step in steps if timing is Timing.LAG or not isinstance(step, AwaitLag))


def _with_awaits(walk: Walk, awaits: list[int]) -> Iterator[Step]:
    """After every step a checkpoint, so that a race is named wherever it shows; after some an await."""
    for index, step in enumerate(walk.schedule.steps):
        yield step
        yield Checkpoint(f"after {index}")
        yield from awaited_where_counted(walk, index)
        yield from _await(walk, index, awaits[index % len(awaits)])


def _await(walk: Walk, index: int, choice: int) -> Iterator[Step]:
    step, view = walk.schedule.steps[index], walk.worlds[index + 1].state.controller
    if choice == 1:
        yield AwaitLeader(view.leader)
    elif choice == 2:
        yield AwaitIsr(tuple(view.isr))
    elif choice == 3 and isinstance(step, Hold):
        yield AwaitHold(step.name)
    elif choice > 20 and isinstance(step, Produce):
        yield AwaitOutcome(step.records, Expectation.ANY)
    elif choice == 5 and isinstance(step, Produce):
        yield AwaitOutcome(step.records, Expectation.ACKNOWLEDGED)
    elif choice == 6:
        yield AwaitIsr(walk.schedule.replicas[:1])


def without_holds_in_vain(walk: Walk) -> Walk:
    """Leave out the holds that catch nothing on the whole walk: no prediction has them."""
    met = walk.end.gate.met
    kept = [
        (step, after)
        for step, after in zip(walk.schedule.steps, walk.worlds[1:], strict=True)
        if not isinstance(step, Hold) or step.name in met
    ]
    schedule = replace(walk.schedule, steps=tuple(step for step, _ in kept))
    return Walk(schedule, (walk.worlds[0], *(after for _, after in kept)))


def awaited_where_counted(walk: Walk, index: int) -> Iterator[AwaitHold]:
    """Return the awaits that must follow a step because a hold has counted up to its frame."""
    before, after = walk.worlds[index].gate, walk.worlds[index + 1].gate
    for armed in after.holds:
        if armed.caught and armed.hold.nth > 1 and armed.hold.name not in before.met:
            yield AwaitHold(armed.hold.name)
