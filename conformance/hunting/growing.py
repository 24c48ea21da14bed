"""How does a schedule grow? Step by step from the state that the model predicts, so that it is legal by construction.

Everything is drawn from one seed and the schedule's number, by strings: the same two give the same schedule in any
process, on any machine. A schedule is dropped and drawn anew while it is dull: nothing held, no process ended or
stopped, nothing sent, or too short to tell anything.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random
from typing import TYPE_CHECKING

from conformance.hunting.proposals import WEIGHTS, ProposalMoment
from oracle.obstructing import silent_followers
from oracle.points import check_points
from oracle.predict import initial_world, predict
from oracle.predicting.branches import Branch, Ways
from oracle.predicting.outcome import can_be_read
from oracle.rules import message_format
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.brokers import Isolate, Kill, KillTogether, Pause, Rejoin, Resume, Start, Stop
from oracle.steps.frames import Heal, Hold, ReleaseHold
from oracle.steps.step import ScheduleError, SoFar
from oracle.steps.topic import Reassign
from oracle.steps.waits import AwaitLag, Checkpoint
from oracle.vocabulary import BrokerId, HighWatermarkCheckpoint, PointName, Timing
from oracle.world import Obstacles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.prediction import Prediction
    from oracle.rules.rule_set import RuleSet
    from oracle.steps.step import Step
    from oracle.world import World

STEPS_MIN, STEPS_MAX = 9, 16
"""So many steps are grown before everything is brought back."""
DULL_BELOW = 8
"""A schedule with fewer steps tells too little."""
PROPOSALS_MAX = 150
WAYS_MAX = 4
"""A step that leaves more outcomes open is not taken."""
REDRAWN_MAX = 50
BLOCK = 8
"""So many schedules in a row run on one kind of cluster, which is started once for them."""
BROKERS = (1, 2, 3, 4, 5)
PROCESS_FAULTS = (Kill, KillTogether, Stop, Pause, Isolate)


class NothingGrownError(Exception):
    """No schedule came of a number within the tries that it has."""


@dataclass(slots=True)
class GrowthCount:
    """What became of proposals and of schedules, by reason.

    Attributes:
        proposed: how many steps were proposed.
        refused: why the model did not take some of them.
        dropped: why schedules were dropped and drawn anew.
    """

    proposed: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Grown:
    """A schedule with what the model predicts of it.

    Attributes:
        number: of the schedule in its hunt, from 0.
    """

    number: int
    schedule: Schedule
    prediction: Prediction


def grow(rules: RuleSet, seed: str, number: int, tally: GrowthCount | None = None) -> Grown:
    """Grow the schedule of a number.

    Args:
        rules: the release's.
        seed: of the hunt.
        number: which schedule of the hunt, from 0.
        tally: where to count what was refused and dropped.

    Raises:
        NothingGrownError: everything that was drawn is dull, or cannot be brought back.
    """
    tally = GrowthCount() if tally is None else tally
    for attempt in range(REDRAWN_MAX):
        growing = _Growing(rules, seed, number, attempt, tally)
        try:
            schedule = growing.whole()
            return Grown(number, schedule, predict(schedule, rules))
        except _DroppedError as dropped:
            tally.dropped[str(dropped)] += 1
        except ScheduleError as refused:
            tally.dropped[f"refused as a whole: {refused}"] += 1
    raise NothingGrownError(f"schedule {number} of seed {seed}: {REDRAWN_MAX} were drawn and dropped")


class _DroppedError(Exception):
    """A schedule that is not worth its run."""


@cache
def points_of(rules: RuleSet) -> tuple[PointName, ...]:
    """Return the protocol points at which a release's frames can be held, as the model predicts them."""
    replicas = (BrokerId(1), BrokerId(2))
    found = []
    for point in PointName:
        for hold in (Hold("x", point, replicas[1], replicas[0]), Hold("x", point, broker=replicas[0])):
            schedule = Schedule("points", "", (), replicas, (hold,))
            try:
                hold.check(SoFar(replicas, Timing.SESSION))
                check_points(schedule, rules)
            except ScheduleError:
                continue
            found.append(point)
    return tuple(found)


class _Growing:
    """One schedule while it grows."""

    def __init__(self, rules: RuleSet, seed: str, number: int, attempt: int, tally: GrowthCount) -> None:
        self._draw = Random(f"{seed}/{number}/{attempt}")  # noqa: S311 - chance that can be repeated is what is wanted
        self._tally = tally
        self._frame = self._framed(rules, seed, number)
        self._brokers = tuple(map(BrokerId, BROKERS[: len(self._frame.replicas) + self._draw.choice((0, 0, 1))]))
        self._rules = message_format.adapted(rules, self._frame.settings)
        self._points = points_of(rules)
        self._release = rules
        self._steps: list[Step] = []
        self._so_far = SoFar(self._brokers, self._frame.timing)
        everywhere = replace(self._frame, steps=(Reassign(self._brokers),))  # so that the model knows every broker
        self._ways = Ways((Branch(initial_world(everywhere, self._rules, everywhere.brokers)),))

    def _framed(self, rules: RuleSet, seed: str, number: int) -> Schedule:
        """Draw settings and replicas; the kind of cluster is that of the block."""
        block = Random(f"{seed}/block {number // BLOCK}")  # noqa: S311 - likewise
        timing = block.choices((Timing.SESSION, Timing.LAG), (9, 1))[0]
        checkpointing = block.choices((HighWatermarkCheckpoint.PROMPT, HighWatermarkCheckpoint.NEVER), (4, 1))[0]
        count = self._draw.choices((1, 2, 3, 4), (1, 10, 7, 1))[0]
        is_old = rules.heeds_message_format and not rules.truncation.cuts_to_high_watermark
        old = f"{self._draw.choice(message_format.WITHOUT_EPOCHS)}.0" if is_old and self._draw.random() < 0.15 else None
        minimum = self._draw.choices((1, 2), (5, 3))[0] if count > 1 else 1
        return Schedule(
            id=f"hunt/{seed}-{number}",
            requirement="Brokers do what the rules of their release predict.",
            sources=(),
            replicas=tuple(map(BrokerId, BROKERS[:count])),
            steps=(),
            settings=TopicSettings(minimum, self._draw.random() < 0.3, old),
            timing=timing,
            checkpointing=checkpointing,
        )

    @property
    def _world(self) -> World:
        return self._ways.ways[0].world

    def whole(self) -> Schedule:
        """Grow it, bring everything back, and leave out the holds that never caught a frame.

        Raises:
            _DroppedError: it is not worth its run.
        """
        wanted = self._draw.randint(STEPS_MIN, STEPS_MAX)
        for _ in range(PROPOSALS_MAX):
            if len(self._steps) >= wanted:
                break
            self._propose()
        self._bring_back()
        met = frozenset().union(*(way.world.gate.met for way in self._ways.ways))
        steps = [s for s in self._steps if not isinstance(s, Hold) or s.name in met]
        steps.append(Checkpoint("the end"))
        _drop_if_dull(steps)
        return replace(self._frame, steps=tuple(steps))

    def _propose(self) -> None:
        proposal = self._draw.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        self._so_far.index = len(self._steps)
        named = frozenset(replace(self._frame, steps=tuple(self._steps)).brokers)
        moment = ProposalMoment(
            self._world, self._so_far, self._brokers, named, self._unsteady(), self._points, self._draw
        )
        steps = proposal(moment)
        if not steps or self._tells_nothing(steps):
            return
        self._tally.proposed += 1
        refusal = self._take(*steps)
        if refusal is not None:
            self._tally.refused[refusal] += 1

    def _tells_nothing(self, steps: Sequence[Step]) -> bool:
        """Tell whether steps measure again what was measured, or let a silent follower leave at a moment of its own."""
        is_repeated = isinstance(steps[0], Checkpoint) and not _has_news(self._steps)
        would_leave = set(self._silent()).intersection(self._world.state.controller.isr)
        return is_repeated or (bool(would_leave) and any(step.labels() for step in steps))

    def _unsteady(self) -> frozenset[BrokerId]:
        """Return the brokers whose high watermark checkpoint is open: without checkpoints each start writes one."""
        if self._frame.checkpointing is HighWatermarkCheckpoint.PROMPT:
            return frozenset()
        return frozenset(step.broker for step in self._steps if isinstance(step, Start))

    def _take(self, *steps: Step) -> str | None:
        """Take steps, all or none of them; return why they are not taken."""
        before = self._ways, self._so_far, list(self._steps)
        try:
            for step in steps:
                self._take_one(step)
        except (ScheduleError, _DroppedError) as refused:
            self._ways, self._so_far, self._steps = before
            return str(refused)
        return None

    def _take_one(self, step: Step) -> None:
        so_far = deepcopy(self._so_far)
        so_far.index = len(self._steps)
        step.check(so_far)
        silent = self._silent()
        check_points(replace(self._frame, steps=(step,)), self._release)
        ways = self._ways.after(so_far.index, step)
        if len(ways.ways) > WAYS_MAX:
            raise _DroppedError("too many outcomes are open")
        self._so_far, self._ways = so_far, ways
        self._steps.append(step)
        now = self._silent()
        if not isinstance(step, AwaitLag) and set(now) - set(silent) and self._world.state.serving_leader():
            self._take_one(AwaitLag(now))  # before the leader notices by itself

    def _silent(self) -> tuple[BrokerId, ...]:
        """Return the followers that the leader may find lagging at any moment; none where nothing lags."""
        return silent_followers(self._world) if self._frame.timing is Timing.LAG else ()

    def _bring_back(self) -> None:
        """Take back what stands in the way of reading the topic.

        Raises:
            _DroppedError: it cannot be done.
        """
        while not self._is_back() and any(self._take(step) is None for step in self._healing()):
            pass
        if not self._is_back():
            raise _DroppedError("it cannot be brought back")

    def _is_back(self) -> bool:
        worlds = [way.world for way in self._ways.ways]
        is_readable = all(can_be_read(world.state, self._rules) for world in worlds)
        return is_readable and all(world.obstacles == Obstacles() for world in worlds) and not self._is_held()

    def _is_held(self) -> bool:
        return any(armed.can_be_let_go for way in self._ways.ways for armed in way.world.gate.holds)

    def _healing(self) -> Iterator[Step]:
        world = self._world
        yield from (ReleaseHold(armed.hold.name) for armed in world.gate.holds if armed.can_be_let_go)
        yield from map(Resume, sorted(world.obstacles.paused))
        yield from map(Rejoin, sorted(world.obstacles.isolated))
        yield from (Heal(to, leader) for to, leader in sorted(world.obstacles.cuts, key=str) if leader is not None)
        yield from (Start(replica.broker) for replica in world.state.replicas if not replica.alive)


def _has_news(steps: Sequence[Step]) -> bool:
    return bool(steps) and not isinstance(steps[-1], Checkpoint)


def _drop_if_dull(steps: Sequence[Step]) -> None:
    if len(steps) < DULL_BELOW:
        raise _DroppedError("dull: it is short")
    if not any(isinstance(step, Hold) for step in steps):
        raise _DroppedError("dull: no frame is held")
    if not any(isinstance(step, PROCESS_FAULTS) for step in steps):
        raise _DroppedError("dull: no broker ends or stands still")
    if not any(step.labels() for step in steps):
        raise _DroppedError("dull: nothing is sent")
