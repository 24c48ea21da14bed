"""How does a schedule grow? Step by step from the state that the model predicts, so that it is legal by construction.

Everything is drawn from one seed and the schedule's number, by strings: the same two give the same schedule in any
process, on any machine. A schedule is dropped and drawn anew while it is dull: too few frames held, no process ended or
stopped, nothing sent, or too short to tell anything.

With decisions that were met before (``conformance.hunting.deciding``), each step is preferred to some others that the
rules allow there if it brings one that is new.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from random import Random
from typing import TYPE_CHECKING

from conformance.hunting.deciding import DecisionSearch
from conformance.hunting.legal_steps import REQUIREMENT, DroppedError, LegalSteps, has_news
from conformance.hunting.proposals import NOT_UNDER_LAG, WEIGHTS, ProposalMoment
from oracle.points import check_points
from oracle.predict import predict
from oracle.rules import message_format
from oracle.rules.by_version import one_rule_apart
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.brokers import Isolate, Kill, KillTogether, Pause, Start, Stop
from oracle.steps.frames import Hold
from oracle.steps.step import ScheduleError, SoFar
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import BrokerId, HighWatermarkCheckpoint, PointName, Timing

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from conformance.hunting.deciding import RuleDecision
    from conformance.hunting.legal_steps import Standing
    from oracle.prediction import Prediction
    from oracle.rules.rule_set import RuleSet
    from oracle.steps.step import Step

STEPS_MIN, STEPS_MAX = 9, 16
"""So many steps are grown before everything is brought back."""
DULL_BELOW = 8
"""A schedule with fewer steps tells too little."""
HOLDS, HOLDS_WEIGHTS = (1, 2, 3), (4, 6, 1)
"""So many frames a schedule holds at least, and how often it has to."""
PROPOSALS_MAX = 150
REDRAWN_MAX = 200
LOOKED_AT = 4
"""So many steps that the rules allow are looked at for one that brings a decision that was never met."""
WANTED = 6
"""So much more often a proposal is drawn whose steps are asked for."""
BLOCK = 4
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
        brings: the decisions in it that were not met before; none if nobody asked for them.
    """

    number: int
    schedule: Schedule
    prediction: Prediction
    brings: frozenset[RuleDecision] = frozenset()


def grow(
    rules: RuleSet,
    seed: str,
    number: int,
    tally: GrowthCount | None = None,
    patterns: Sequence[str] = (),
    met: Collection[RuleDecision] | None = None,
) -> Grown:
    """Grow the schedule of a number.

    Args:
        rules: the release's.
        seed: of the hunt.
        number: which schedule of the hunt, from 0.
        tally: where to count what was refused and dropped.
        patterns: what the words of steps are to match: a step for each of them.
        met: the decisions that were met before: steps that bring others are preferred. None prefers no step.

    Raises:
        NothingGrownError: everything that was drawn is dull, or cannot be brought back.
    """
    tally = GrowthCount() if tally is None else tally
    for attempt in range(REDRAWN_MAX):
        growing = _Growing(rules, seed, number, attempt, tally, patterns, met)
        try:
            schedule = growing.whole()
            return Grown(number, schedule, predict(schedule, rules), growing.brings)
        except DroppedError as dropped:
            tally.dropped[str(dropped)] += 1
        except ScheduleError as refused:
            tally.dropped[f"refused as a whole: {refused}"] += 1
    raise NothingGrownError(f"schedule {number} of seed {seed}: {REDRAWN_MAX} were drawn and dropped")


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

    def __init__(
        self,
        rules: RuleSet,
        seed: str,
        number: int,
        attempt: int,
        tally: GrowthCount,
        patterns: Sequence[str],
        met: Collection[RuleDecision] | None,
    ) -> None:
        self._patterns = patterns
        self._met = met
        self.brings: frozenset[RuleDecision] = frozenset()
        self._weights = {
            one: weight * (WANTED if _matches(one.__name__, patterns) else 1) for one, weight in WEIGHTS.items()
        }
        self._draw = Random(f"{seed}/{number}/{attempt}")  # noqa: S311 - chance that can be repeated is what is wanted
        self._tally = tally
        self._frame = self._framed(rules, seed, number)
        self._brokers = tuple(map(BrokerId, BROKERS[: len(self._frame.replicas) + self._draw.choice((0, 0, 1))]))
        self._holds = self._draw.choices(HOLDS, HOLDS_WEIGHTS)[0]
        self._points = points_of(rules)
        self._taken = LegalSteps(rules, self._frame, self._brokers)
        if met is not None:
            self._deciding = DecisionSearch(rules, one_rule_apart(rules), self._frame)

    def _framed(self, rules: RuleSet, seed: str, number: int) -> Schedule:
        """Draw settings and replicas; the kind of cluster is that of the block."""
        block = Random(f"{seed}/block {number // BLOCK}")  # noqa: S311 - likewise
        timing = block.choices((Timing.SESSION, Timing.LAG), (9, 1))[0]
        if any(NOT_UNDER_LAG.issuperset(_names(pattern)) for pattern in self._patterns):
            timing = Timing.SESSION
        checkpointing = block.choices((HighWatermarkCheckpoint.PROMPT, HighWatermarkCheckpoint.NEVER), (4, 1))[0]
        count = self._draw.choices((1, 2, 3, 4, 5), (2, 20, 14, 2, 1))[0]
        is_old = rules.heeds_message_format and not rules.truncation.cuts_to_high_watermark
        old = f"{self._draw.choice(message_format.WITHOUT_EPOCHS)}.0" if is_old and self._draw.random() < 0.15 else None
        minimum = self._draw.choices((1, 2), (5, 3))[0] if count > 1 else 1
        return Schedule(
            id=f"hunt/{seed}-{number}",
            requirement=REQUIREMENT,
            sources=(),
            replicas=tuple(map(BrokerId, BROKERS[:count])),
            steps=(),
            settings=TopicSettings(minimum, self._draw.random() < 0.3, old),
            timing=timing,
            checkpointing=checkpointing,
        )

    def whole(self) -> Schedule:
        """Grow it and bring everything back.

        Raises:
            DroppedError: it is not worth its run.
        """
        wanted = self._draw.randint(STEPS_MIN, STEPS_MAX)
        for _ in range(PROPOSALS_MAX):
            if len(self._taken.steps) >= wanted:
                break
            self._go_on()
        grown = self._taken.standing
        schedule = self._taken.whole()
        self._brings_new(grown)
        _drop_if_dull(schedule.steps, self._holds)
        if not has_steps(schedule.steps, self._patterns):
            raise DroppedError("it lacks a step that was asked for")
        return schedule

    def _go_on(self) -> None:
        """Take what is proposed; if it brings no new decision, the first of some others that does."""
        before, first = self._taken.standing, None
        for _ in range(1 if self._met is None else LOOKED_AT):
            if not self._propose():
                continue
            if self._brings_new(before):
                return
            first = first or self._taken.standing
            self._taken.standing = before
        if first is not None:
            self._taken.standing = first

    def _brings_new(self, before: Standing) -> bool:
        """Return whether the steps taken since then bring a decision that was not met before; it is met now."""
        if self._met is None:
            return True
        since = list(enumerate(self._taken.standing.taken))[len(before.taken) :]
        known = {*self._met, *self.brings}
        new = frozenset().union(*(self._deciding.decisions(ways, index, step, known) for index, (ways, step) in since))
        self.brings |= new
        return bool(new)

    def _propose(self) -> bool:
        """Propose steps, and take them if the rules allow it; return whether they were taken."""
        taken = self._taken
        proposal = self._draw.choices(list(self._weights), list(self._weights.values()))[0]
        taken.so_far.index = len(taken.steps)
        named = frozenset(replace(self._frame, steps=tuple(taken.steps)).brokers)
        moment = ProposalMoment(
            taken.world, taken.so_far, self._brokers, named, self._unsteady(), self._points, self._draw
        )
        steps = proposal(moment)
        if not steps or self._tells_nothing(steps):
            return False
        self._tally.proposed += 1
        refusal = taken.take(*steps)
        if refusal is not None:
            self._tally.refused[refusal] += 1
        return refusal is None

    def _tells_nothing(self, steps: Sequence[Step]) -> bool:
        """Tell whether steps measure again what was measured, or let a silent follower leave at a moment of its own."""
        is_repeated = isinstance(steps[0], Checkpoint) and not has_news(self._taken.steps)
        return is_repeated or (self._taken.would_leave() and any(step.labels() for step in steps))

    def _unsteady(self) -> frozenset[BrokerId]:
        """Return the brokers whose high watermark checkpoint is open: without checkpoints each start writes one."""
        if self._frame.checkpointing is HighWatermarkCheckpoint.PROMPT:
            return frozenset()
        return frozenset(step.broker for step in self._taken.steps if isinstance(step, Start))


def has_steps(steps: Sequence[Step], patterns: Sequence[str]) -> bool:
    """Return whether there is a step for each pattern."""
    return all(any(fnmatchcase(step.word, pattern) for step in steps) for pattern in patterns)


def _names(pattern: str) -> list[str]:
    return [one.__name__ for one in WEIGHTS if _matches(one.__name__, (pattern,))]


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _drop_if_dull(steps: Sequence[Step], holds: int) -> None:
    if len(steps) < DULL_BELOW:
        raise DroppedError("dull: it is short")
    if sum(isinstance(step, Hold) for step in steps) < holds:
        raise DroppedError("dull: too few frames are held")
    if not any(isinstance(step, PROCESS_FAULTS) for step in steps):
        raise DroppedError("dull: no broker ends or stands still")
    if not any(step.labels() for step in steps):
        raise DroppedError("dull: nothing is sent")
