"""Which schedules can there be? Random walks: steps that the model allows one after the other.

A walk is drawn as raw moves and carried out on the model; a move that is not possible at that
moment is left out. What remains is a valid schedule, with the world at rest after each step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from oracle.obstructing import silent_followers
from oracle.predict import initial_world, take
from oracle.predicting.assumptions import UnmetAssumptionError
from oracle.rules.by_version import rules_for
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.brokers import Kill, Start, Stop
from oracle.steps.frames import Close, Drop, Hold, ReleaseHold
from oracle.steps.produce import Produce
from oracle.steps.waits import AwaitLag
from oracle.vocabulary import (
    Acks,
    BrokerId,
    Expectation,
    HighWatermarkCheckpoint,
    Label,
    MetadataMode,
    Offset,
    PointName,
    Timing,
)
from oracle.world import ImpossibleEventError, World

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from oracle.rules.rule_set import RuleSet
    from oracle.steps.step import Step

ZOOKEEPER = ("0.10.2.2", "0.11.0.3", "1.0.2", "1.1.0", "1.1.1", "2.0.0", "2.0.1", "2.1.1", "2.7.2", "2.8.0", "2.8.2")
LATER = ("3.2.3", "3.3.2", "3.5.2", "3.6.2", "3.7.2", "3.9.2")
NEWEST = ("4.0.2", "4.1.2", "4.3.1")
RULE_SETS: tuple[RuleSet, ...] = (
    *(rules_for(version, MetadataMode.ZOOKEEPER) for version in (*ZOOKEEPER, *LATER)),
    *(rules_for(version, MetadataMode.KRAFT) for version in (*LATER[1:], *NEWEST)),
)
FETCH_POINTS = (PointName.FETCH_REQUEST, PointName.FETCH_RESPONSE)


@dataclass(frozen=True, slots=True)
class Walk:
    """A valid schedule with the world before the first and after every step."""

    schedule: Schedule
    worlds: tuple[World, ...]

    def transitions(self) -> Iterator[tuple[World, World]]:
        """Return each step's world before and after."""
        return pairwise(self.worlds)

    @property
    def end(self) -> World:
        """Return the world after the last step."""
        return self.worlds[-1]


def of_version(*, at_least: tuple[int, ...]) -> tuple[RuleSet, ...]:
    """Return the rule sets of releases from one on."""
    return tuple(rules for rules in RULE_SETS if tuple(map(int, rules.version.split("."))) >= at_least)


@dataclass(frozen=True, slots=True)
class HoldMove:
    """Hold a frame of a live follower, at the present leader or at the one next in line."""

    point: PointName
    follower: int
    is_at_next_leader: bool
    ahead: int | None
    nth: int


@dataclass(frozen=True, slots=True)
class LetGoMove:
    """Release, close or drop one of the latest holds."""

    step: type[ReleaseHold | Close | Drop]
    index: int


@dataclass(frozen=True, slots=True)
class EndMove:
    """Kill or stop the leader (rank 0) or another live broker."""

    step: type[Kill | Stop]
    rank: int


@dataclass(frozen=True, slots=True)
class StartMove:
    """Start one of the brokers that are down."""

    rank: int


class Pause(Enum):
    """Nothing happens for a while."""

    LAG = "the lag time passes, if the timing is lag"


class Pattern(Enum):
    """Faults as they come together: rare by chance alone."""

    GAP = "every follower gets the next record but not the answer that commits it"
    FAILOVER = "the leader dies; what the others then send to the next one is held"
    LONELY = "everybody but the leader dies"
    SWAP = "the leader dies, then somebody who was down is started"


Move = Acks | HoldMove | LetGoMove | EndMove | StartMove | Pause | Pattern
MOVES: st.SearchStrategy[Move] = st.one_of(
    st.sampled_from([Acks.ALL, Acks.ALL, Acks.LEADER, Acks.NONE]),
    st.builds(EndMove, st.sampled_from([Kill, Kill, Stop]), st.integers(0, 2)),
    st.builds(StartMove, st.integers(0, 2)),
    st.builds(
        HoldMove,
        st.sampled_from(FETCH_POINTS),
        st.integers(0, 1),
        st.booleans(),
        st.sampled_from([None, 0, 1]),
        st.sampled_from([1, 1, 1, 2]),
    ),
    st.sampled_from(Pattern),
    st.sampled_from(Pause),
    st.builds(LetGoMove, st.sampled_from([ReleaseHold, ReleaseHold, Close, Drop]), st.integers(0, 2)),
)
SETTINGS = st.builds(TopicSettings, st.integers(1, 4), st.booleans())
SAFE_SETTINGS = st.builds(TopicSettings, st.integers(1, 3), st.just(value=False))


@st.composite
def walks(
    draw: st.DrawFn,
    rule_sets: Iterable[RuleSet] = RULE_SETS,
    settings: st.SearchStrategy[TopicSettings] = SETTINGS,
) -> Walk:
    """Draw a walk; it ends with every broker started and every link free."""
    rules = draw(st.sampled_from(tuple(rule_sets)))
    replicas = tuple(BrokerId(broker) for broker in range(1, draw(st.integers(2, 3)) + 1))
    schedule = Schedule(
        id="walk",
        requirement="",
        sources=(),
        replicas=replicas,
        steps=(),
        settings=draw(settings),
        timing=draw(st.sampled_from(Timing)),
        checkpointing=draw(st.sampled_from(HighWatermarkCheckpoint)),
    )
    moves = draw(st.lists(MOVES, max_size=14))
    return walked(schedule, rules, moves)


def walked(schedule: Schedule, rules: RuleSet, moves: Iterable[Move]) -> Walk:
    """Carry out what is possible of some moves, then let everything go and start every broker."""
    walking = _Walking(schedule, rules)
    for move in moves:
        if isinstance(move, Pattern):
            walking.take_all(move)
        else:
            step = walking.step_of(move)
            if step is not None:
                walking.take(step)
    walking.finish()
    return Walk(walking.schedule(), tuple(walking.worlds))


def followed(schedule: Schedule, rules: RuleSet) -> Walk:
    """Carry out a written schedule, then let everything go and start every broker."""
    walking = _Walking(replace(schedule, steps=()), rules)
    for step in schedule.steps:
        walking.take(step)
    walking.finish()
    return Walk(walking.schedule(), tuple(walking.worlds))


class _Walking:
    def __init__(self, schedule: Schedule, rules: RuleSet) -> None:
        self._schedule = schedule
        self.worlds = [initial_world(schedule, rules, schedule.replicas)]
        self._steps: list[Step] = []
        self._holds: list[str] = []

    def schedule(self) -> Schedule:
        return replace(self._schedule, steps=tuple(self._steps))

    def step_of(self, move: Acks | HoldMove | LetGoMove | EndMove | StartMove | Pause) -> Step | None:
        match move:
            case Acks():
                return Produce((self._next_label(),), move, Expectation.ANY)
            case HoldMove():
                return self._hold(move)
            case Pause():
                is_short = self._schedule.timing is Timing.LAG
                return AwaitLag(silent_followers(self.worlds[-1])) if is_short else None
            case LetGoMove(step, index):
                return step(self._holds[-1 - index]) if index < len(self._holds) else None
            case EndMove(end, rank):
                live = self._live()
                return end(live[rank]) if rank < len(live) else None
            case StartMove(rank):
                down = [replica.broker for replica in self.worlds[-1].state.replicas if not replica.alive]
                return Start(down[rank]) if rank < len(down) else None

    def _live(self) -> list[BrokerId]:
        """Return the live brokers, the leader first, then as they would follow it."""
        state = self.worlds[-1].state
        live = [replica.broker for replica in state.replicas if replica.alive]
        return sorted(live, key=lambda broker: broker != state.controller.leader)

    def _hold(self, move: HoldMove) -> Hold | None:
        live = self._live()
        leader = live[1] if move.is_at_next_leader and len(live) > 1 else self._schedule.replicas[0]
        if not move.is_at_next_leader and live:
            leader = live[0]
        others = [broker for broker in self._schedule.replicas if broker != leader]
        follower = others[move.follower % len(others)]
        end = self.worlds[-1].state.replica(follower).log.log_end_offset
        offset = None if move.ahead is None else Offset(end + move.ahead)
        return Hold(f"h{len(self._holds)}", move.point, follower, leader, offset, move.nth)

    def take_all(self, pattern: Pattern) -> None:
        """Take the steps of a pattern that are possible now."""
        live = self._live()
        if not live:
            return
        down = [broker for broker in self._schedule.replicas if broker not in live]
        match pattern:
            case Pattern.GAP:
                self._hold_all(PointName.FETCH_RESPONSE, live[1:], live[0], ahead=1)
                self.take(Produce((self._next_label(),), Acks.ALL, Expectation.ANY))
            case Pattern.FAILOVER:
                if len(live) > 1:
                    self._hold_all(PointName.FETCH_REQUEST, live[2:], live[1], ahead=None)
                self.take(Kill(live[0]))
            case Pattern.LONELY:
                for broker in live[1:]:
                    self.take(Kill(broker))
            case Pattern.SWAP:
                self.take(Kill(live[0]))
                if down:
                    self.take(Start(down[0]))

    def _hold_all(self, point: PointName, followers: list[BrokerId], leader: BrokerId, *, ahead: int | None) -> None:
        for follower in followers:
            end = self.worlds[-1].state.replica(follower).log.log_end_offset
            offset = None if ahead is None else Offset(end + ahead)
            self.take(Hold(f"h{len(self._holds)}", point, follower, leader, offset))

    def _next_label(self) -> Label:
        return Label(f"m{len(self.schedule().labels())}")

    def take(self, step: Step) -> None:
        """Take a step unless the model refuses it; a killed broker could not come back if only leaders notice."""
        if isinstance(step, Kill) and self._schedule.timing is Timing.LAG:
            step = Stop(step.broker)
        try:
            world = take(self.worlds[-1], step)
        except (ImpossibleEventError, UnmetAssumptionError):
            return
        self.worlds.append(world)
        self._steps.append(step)
        self._holds += [step.name] if isinstance(step, Hold) else []

    def finish(self) -> None:
        """Restart whoever follows over a silent link, start who is down, let go what is held."""
        for armed in self.worlds[-1].gate.holds:
            if armed.dropped and armed.hold.follower is not None:
                self.take(Kill(armed.hold.follower))
        for broker in self._schedule.replicas:
            self.take(Start(broker))
        while held := next((a for a in self.worlds[-1].gate.holds if a.caught), None):
            self.take(ReleaseHold(held.hold.name))
        for _ in range(2):
            self.take(Produce((self._next_label(),), Acks.ALL, Expectation.ANY))
            while held := next((a for a in self.worlds[-1].gate.holds if a.caught), None):
                self.take(ReleaseHold(held.hold.name))
