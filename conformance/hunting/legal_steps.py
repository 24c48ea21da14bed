"""Which steps can be taken one after another? Each is taken on the model, or refused with the reason.

What stands here is legal by construction: a schedule grows so, step by step, and is shrunk so, where the steps that
are left are taken anew and those that have become impossible fall away.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oracle.obstructing import silent_followers
from oracle.points import check_points
from oracle.predict import initial_world
from oracle.predicting.branches import Branch, Ways
from oracle.predicting.outcome import can_be_read
from oracle.steps.brokers import Rejoin, Resume, Start
from oracle.steps.frames import Heal, Hold, ReleaseHold
from oracle.steps.questions import EndOffsetOfEpoch
from oracle.steps.step import ScheduleError, SoFar
from oracle.steps.topic import Reassign
from oracle.steps.waits import AwaitLag, Checkpoint
from oracle.vocabulary import Timing
from oracle.world import Obstacles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.steps.step import Step
    from oracle.vocabulary import BrokerId
    from oracle.world import World

WAYS_MAX = 4
"""A step that leaves more outcomes open is not taken."""
STATES_MAX = 3_000
"""A step after which links can move in more ways than these states is not taken."""
REQUIREMENT = "Brokers do what the rules of their release predict."
"""What every schedule that nobody wrote down is held to."""
END = Checkpoint("the end")
"""The last step of every schedule that is grown or shrunk."""


class DroppedError(Exception):
    """A schedule that is not worth its run; the message says why."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where steps have led.

    Attributes:
        ways: of the model, after the last step.
        so_far: which names the schedule has.
        taken: each step with the ways before it.
    """

    ways: Ways
    so_far: SoFar
    taken: tuple[tuple[Ways, Step], ...] = ()


class LegalSteps:
    """The steps taken so far, and where the model stands after them.

    Args:
        rules: the release's.
        frame: the schedule whose steps are taken; its own steps do not count.
        brokers: all that the steps may move the partition to.

    Attributes:
        standing: where they have led; set it to go back to where the model stood before.
    """

    def __init__(self, rules: RuleSet, frame: Schedule, brokers: tuple[BrokerId, ...]) -> None:
        self._release = rules
        self._frame = frame
        everywhere = replace(frame, steps=(Reassign(brokers),))  # so that the model knows every broker
        ways = Ways((Branch(initial_world(everywhere, rules, everywhere.brokers)),))
        self.standing = Standing(ways, SoFar(brokers, frame.timing))

    @property
    def steps(self) -> list[Step]:
        """Return the steps that were taken."""
        return [step for _, step in self.standing.taken]

    @property
    def so_far(self) -> SoFar:
        """Return which names the schedule has."""
        return self.standing.so_far

    @property
    def world(self) -> World:
        """Return where the model is, on the first way through the schedule so far."""
        return self.standing.ways.ways[0].world

    def silent(self) -> tuple[BrokerId, ...]:
        """Return the followers that the leader may find lagging at any moment; none where nothing lags."""
        return silent_followers(self.world) if self._frame.timing is Timing.LAG else ()

    def would_leave(self) -> bool:
        """Return whether a silent follower leaves the ISR at a moment of its own, once something is sent."""
        return bool(set(self.silent()).intersection(self.world.state.controller.isr))

    def take(self, *steps: Step) -> str | None:
        """Take steps, all or none of them; return why they are not taken."""
        before = self.standing
        try:
            for step in steps:
                self._take_one(step)
        except (ScheduleError, DroppedError) as refused:
            self.standing = before
            return str(refused)
        return None

    def _take_one(self, step: Step) -> None:
        before, so_far = self.standing, deepcopy(self.so_far)
        so_far.index = len(before.taken)
        step.check(so_far)
        silent = self.silent()
        check_points(replace(self._frame, steps=(step,)), self._release)
        ways = before.ways.after(so_far.index, step, STATES_MAX)
        if len(ways.ways) > WAYS_MAX:
            raise DroppedError("too many outcomes are open")
        if ways.assumed:
            raise DroppedError("it assumes one of several outcomes that are open")
        if isinstance(step, EndOffsetOfEpoch) and any(_unseen(way, step) for way in before.ways.ways):
            raise DroppedError("it asks about a leadership that may not have been seen at rest")
        self.standing = Standing(ways, so_far, (*before.taken, (before.ways, step)))
        now = self.silent()
        is_new = set(now) - set(silent) or _let_go_by(step, before) in now
        if not isinstance(step, AwaitLag) and is_new and self.world.state.serving_leader():
            self._take_one(AwaitLag(now))  # before the leader notices by itself

    def whole(self) -> Schedule:
        """Bring everything back, and return the schedule without the holds that never caught a frame.

        Raises:
            DroppedError: it cannot be brought back.
        """
        self._bring_back()
        met, *others = {way.world.gate.met for way in self.standing.ways.ways}
        if others:
            raise DroppedError("a hold catches a frame in some of the outcomes that are open, and none in others")
        steps = [s for s in self.steps if not isinstance(s, Hold) or s.name in met]
        return replace(self._frame, steps=(*steps, END))

    def _bring_back(self) -> None:
        """Take back what stands in the way of reading the topic.

        Raises:
            DroppedError: it cannot be done.
        """
        while not self._is_back() and any(self.take(step) is None for step in self._healing()):
            pass
        if not self._is_back():
            raise DroppedError("it cannot be brought back")

    def _is_back(self) -> bool:
        worlds = [way.world for way in self.standing.ways.ways]
        is_readable = all(can_be_read(world.state, world.rules) for world in worlds)
        return is_readable and all(world.obstacles == Obstacles() for world in worlds) and not self._is_held()

    def _is_held(self) -> bool:
        return any(armed.can_be_let_go for way in self.standing.ways.ways for armed in way.world.gate.holds)

    def _healing(self) -> Iterator[Step]:
        world = self.world
        yield from (ReleaseHold(armed.hold.name) for armed in world.gate.holds if armed.can_be_let_go)
        yield from map(Resume, sorted(world.obstacles.paused))
        yield from map(Rejoin, sorted(world.obstacles.isolated))
        yield from (Heal(to, leader) for to, leader in sorted(world.obstacles.cuts, key=str) if leader is not None)
        yield from (Start(replica.broker) for replica in world.state.replicas if not replica.alive)


def _let_go_by(step: Step, before: Standing) -> BrokerId | None:
    """Return the follower whose held frame a step lets go.

    Its silence is new where another hold has its next frame, or where it is down and the leader counts this one late.
    """
    if not isinstance(step, ReleaseHold):
        return None
    gate = before.ways.ways[0].world.gate
    frame = gate.named(step.name) or gate.late_frame(step.name)
    return None if frame is None else frame.hold.follower


def _unseen(way: Branch, asked: EndOffsetOfEpoch) -> bool:
    """Return whether a leadership that is named, or one before it, was over before rest: nobody counts it."""
    seen = {0, *(moment.leadership for moment in way.moments if moment.leader is not None)}
    return not seen.issuperset(range(max(asked.leadership, asked.current or 0) + 1))


def has_news(steps: Sequence[Step]) -> bool:
    """Return whether a checkpoint after these steps would measure anything that the last one did not."""
    return bool(steps) and not isinstance(steps[-1], Checkpoint)


def retaken(schedule: Schedule, rules: RuleSet) -> Schedule:
    """Return a schedule whose steps are taken anew: what has become impossible is left out, its end is brought back.

    Raises:
        DroppedError: it cannot be brought back.
    """
    taken = LegalSteps(rules, replace(schedule, steps=()), schedule.brokers)
    for step in schedule.steps:
        if step != END and (has_news(taken.steps) or not isinstance(step, Checkpoint)):
            taken.take(step)
    return taken.whole()
