"""How does a path of the explorer become steps for real brokers? By holding every link where the path leaves it.

Before a step the holds are armed that its stretch needs, after it the links that move are let go
from where they stood. The model runs along, to know which holds have caught their frame.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oracle.brokers.model import mover
from oracle.events import BrokerDied, BrokerReturned, LateFetchReceived, LogTailLost, RecordSent
from oracle.gate import POINTS
from oracle.predict import initial_world
from oracle.predicting.assumptions import UnmetAssumptionError
from oracle.predicting.step_effects import take
from oracle.state import FetchKind, FetchStage
from oracle.steps.brokers import Kill, LoseTail, Start, Stop
from oracle.steps.frames import Hold, ReleaseHold
from oracle.steps.produce import Produce
from oracle.vocabulary import Expectation, PointName
from oracle.world import ImpossibleEventError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oracle.brokers.model import BrokerAction
    from oracle.events import Event
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.state import FetchInFlight, PartitionState
    from oracle.steps.step import Step
    from oracle.vocabulary import BrokerId, Offset
    from oracle.world import World


def to_steps(
    path: Iterable[tuple[BrokerAction, PartitionState]], partition: Schedule, rules: RuleSet
) -> tuple[Step, ...]:
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
    frame: FrameToHold


class _Writing:
    """The steps so far, and where the model stands after them."""

    def __init__(self, world: World, partition: Schedule) -> None:
        self._world = world
        self._partition = partition
        self._standing: dict[BrokerId, _Standing] = {}
        self._names = HoldNames()
        self.steps: list[Step] = []

    def stretch(self, stretch: Stretch) -> None:
        """Arm what the stretch needs, take its step, let go of what moves."""
        earlier = dict(self._standing)
        for follower in self._partition.replicas:
            self._prepare(follower, stretch)
        for step in stretch.steps:
            self._take(step)
        for late in self._world.gate.late if stretch.is_late else ():
            self._take(ReleaseHold(late.hold.name, late=True))
        for follower in (*stretch.movers, *self._partition.replicas):
            standing = earlier.get(follower)
            if standing is not None and self._standing.get(follower) is not standing:
                self._take(ReleaseHold(standing.name))

    def _prepare(self, follower: BrokerId, stretch: Stretch) -> None:
        """Arm the hold at which a follower's link will stand, unless it stands there already."""
        frame, standing = stretch.held.get(follower), self._standing.get(follower)
        if frame is None:
            self._standing.pop(follower, None)
        elif standing is None or frame != standing.frame or follower in stretch.movers:
            hold = self._names.named(frame.hold())
            self._standing[follower] = _Standing(hold.name, frame)
            self._take(hold)

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
    PointName.LEADER_AND_ISR: "decision for {broker}",
    PointName.ALTER_PARTITION_REQUEST: "wish of {broker}",
}


class HoldNames:
    """What the holds of one schedule are called: after their frames, and counted from the second of a kind on."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def named(self, hold: Hold) -> Hold:
        """Return a hold under a name that no earlier one has."""
        name = _WORDS[hold.point].format(follower=hold.follower, leader=hold.leader, broker=hold.broker)
        count = self._counts[name] = self._counts.get(name, 0) + 1
        return replace(hold, name=name if count == 1 else f"{name}, {count}")


# Where does each follower's link stand while something else happens? The holds that a path needs.
#
# A schedule's steps end at rest, so a path is cut into stretches: one event that a step can cause
# (a record sent, a broker killed or started), then what the links do before the next one. Where a
# link stands still at the end of a stretch with a frame on its way, a hold must keep it there.


_POINT_OF = {where: point for point, where in POINTS.items()}


@dataclass(frozen=True, slots=True)
class FrameToHold:
    """A frame that a link must not get past.

    Attributes:
        fetch: the request under way, which tells two frames at one place apart.
    """

    point: PointName
    follower: BrokerId
    leader: BrokerId
    fetch_offset: Offset | None
    fetch: FetchInFlight

    def hold(self) -> Hold:
        """Return a hold for the frame; ``HoldNames`` names it."""
        return Hold("", self.point, self.follower, self.leader, self.fetch_offset)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A step with what the links do after it.

    Attributes:
        steps: what causes the stretch: one step; two if the disk of a killed broker forgets.
        movers: followers whose links move, in the order in which they first do.
        held: the frame that each link stands at when the stretch ends, for links that stand at one.
        is_late: a fetch reaches its leader late: no step of its own names the hold that it stands in.
    """

    steps: tuple[Step, ...]
    movers: tuple[BrokerId, ...]
    held: Mapping[BrokerId, FrameToHold]
    is_late: bool = False


def stretches(path: Iterable[tuple[BrokerAction, PartitionState]]) -> tuple[Stretch, ...]:
    """Cut a path into stretches; what happens before its first step needs none."""
    found: list[Stretch] = []
    for action, state in path:
        steps = tuple(step for event in action.events if (step := step_of(event)) is not None)
        is_late = isinstance(action.cause, LateFetchReceived)
        if steps or is_late:
            found.append(Stretch(steps, (), _held(state), is_late))
        elif found:
            movers = tuple(dict.fromkeys((*found[-1].movers, *_movers((action,)))))
            found[-1] = replace(found[-1], movers=movers, held=_held(state))
    return tuple(found)


def step_of(event: Event) -> Step | None:
    """Return the step that makes an event happen; None for what links and controller do by themselves."""
    match event:
        case RecordSent(label, acks):
            return Produce((label,), acks, Expectation.ANY)
        case BrokerDied(broker, graceful):
            return Stop(broker) if graceful else Kill(broker)
        case LogTailLost(broker, offset):
            return LoseTail(broker, offset)
        case BrokerReturned(broker):
            return Start(broker)
        case _:
            return None


def _movers(moves: Iterable[BrokerAction]) -> tuple[BrokerId, ...]:
    return tuple(dict.fromkeys(follower for action in moves if (follower := mover(action)) is not None))


def _held(state: PartitionState) -> dict[BrokerId, FrameToHold]:
    return {
        replica.broker: frame_of(replica.broker, replica.fetch)
        for replica in state.replicas
        if replica.fetch is not None and replica.fetch.stage is not FetchStage.PARKED
    }


def frame_of(follower: BrokerId, fetch: FetchInFlight) -> FrameToHold:
    """Return the frame in which a follower's request, or the answer to it, is on its way."""
    offset = fetch.offset if fetch.kind is FetchKind.FETCH else None
    return FrameToHold(_POINT_OF[fetch.kind, fetch.stage], follower, fetch.leader, offset, fetch)
