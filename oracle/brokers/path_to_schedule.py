"""How does a path of the explorer become steps for real brokers? By holding every link where the path leaves it.

Before a step the holds are armed that its stretch needs, after it the links that move are let go
from where they stood. The model runs along, to know which holds have caught their frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.brokers.stops import HeldFrame, stretches
from oracle.predict import initial_world
from oracle.predicting.assumptions import UnmetAssumptionError
from oracle.predicting.taking import take
from oracle.steps import Hold, Release
from oracle.vocabulary import PointName
from oracle.world import ImpossibleEventError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.brokers.actions import Action
    from oracle.brokers.stops import Stretch
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.state import PartitionState
    from oracle.steps import Step
    from oracle.vocabulary import BrokerId
    from oracle.world import World


def to_steps(path: Iterable[tuple[Action, PartitionState]], partition: Schedule, rules: RuleSet) -> tuple[Step, ...]:
    """Return the steps that lead real brokers along a path, as far as steps can.

    Args:
        path: actions with the states they lead to.
        partition: replicas and settings; its steps are not looked at.
        rules: the rules of the path.
    """
    writing = _Writing(initial_world(partition, rules, partition.replicas), partition)
    for stretch in stretches(path):
        writing.stretch(stretch)
    return tuple(writing.steps)


@dataclass(slots=True)
class _Standing:
    """A hold that stands for a frame of the path."""

    name: str
    frame: HeldFrame


class _Writing:
    """The steps so far, and where the model stands after them."""

    def __init__(self, world: World, partition: Schedule) -> None:
        self._world = world
        self._partition = partition
        self._standing: dict[BrokerId, _Standing] = {}
        self._names: dict[str, int] = {}
        self.steps: list[Step] = []

    def stretch(self, stretch: Stretch) -> None:
        """Arm what the stretch needs, take its step, let go of what moves."""
        earlier = dict(self._standing)
        for follower in self._partition.replicas:
            self._prepare(follower, stretch)
        for step in stretch.steps:
            self._take(step)
        for follower in (*stretch.movers, *self._partition.replicas):
            standing = earlier.get(follower)
            if standing is not None and self._standing.get(follower) is not standing:
                self._take(Release(standing.name))

    def _prepare(self, follower: BrokerId, stretch: Stretch) -> None:
        """Arm the hold at which a follower's link will stand, unless it stands there already."""
        frame, standing = stretch.held.get(follower), self._standing.get(follower)
        if frame is None:
            self._standing.pop(follower, None)
        elif standing is None or frame != standing.frame or follower in stretch.movers:
            name = self._name(frame)
            self._standing[follower] = _Standing(name, frame)
            self._take(Hold(name, frame.point, frame.follower, frame.leader, frame.fetch_offset))

    def _name(self, frame: HeldFrame) -> str:
        name = _WORDS[frame.point].format(follower=frame.follower, leader=frame.leader)
        count = self._names[name] = self._names.get(name, 0) + 1
        return name if count == 1 else f"{name}, {count}"

    def _take(self, step: Step) -> None:
        """Take a step, unless it is not possible: a hold may have caught nothing, or be gone with its broker."""
        try:
            self._world = take(self._world, step)
        except (ImpossibleEventError, UnmetAssumptionError):
            return
        self.steps.append(step)


_WORDS = {
    PointName.FETCH_REQUEST: "fetch of {follower} from {leader}",
    PointName.FETCH_RESPONSE: "answer to {follower} from {leader}",
    PointName.OFFSETS_FOR_LEADER_EPOCH_REQUEST: "lookup of {follower} at {leader}",
    PointName.OFFSETS_FOR_LEADER_EPOCH_RESPONSE: "epoch end for {follower} from {leader}",
}
