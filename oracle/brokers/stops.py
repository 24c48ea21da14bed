"""Where does each follower's link stand while something else happens? The holds that a path needs.

A schedule's steps end at rest, so a path is cut into stretches: one event that a step can cause
(a record sent, a broker killed or started), then what the links do before the next one. Where a
link stands still at the end of a stretch with a frame on its way, a hold must keep it there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.brokers.actions import mover
from oracle.events import BrokerDied, BrokerReturned, RecordSent, TailLost
from oracle.gate import POINTS
from oracle.state import FetchKind, FetchStage
from oracle.steps import Kill, LoseTail, Produce, Start, Stop
from oracle.vocabulary import Expectation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oracle.brokers.actions import Action
    from oracle.events import Event
    from oracle.state import Fetch, PartitionState
    from oracle.steps import Step
    from oracle.vocabulary import BrokerId, Offset, PointName

_POINT_OF = {where: point for point, where in POINTS.items()}


@dataclass(frozen=True, slots=True)
class HeldFrame:
    """A frame that a link must not get past.

    Attributes:
        fetch: the request under way, which tells two frames at one place apart.
    """

    point: PointName
    follower: BrokerId
    leader: BrokerId
    fetch_offset: Offset | None
    fetch: Fetch


@dataclass(frozen=True, slots=True)
class Stretch:
    """A step with what the links do after it.

    Attributes:
        steps: what causes the stretch: one step; two if the disk of a killed broker forgets.
        movers: followers whose links move, in the order in which they first do.
        held: the frame that each link stands at when the stretch ends, for links that stand at one.
    """

    steps: tuple[Step, ...]
    movers: tuple[BrokerId, ...]
    held: Mapping[BrokerId, HeldFrame]


def stretches(path: Iterable[tuple[Action, PartitionState]]) -> tuple[Stretch, ...]:
    """Cut a path into stretches; what happens before its first step needs none."""
    found: list[tuple[tuple[Step, ...], list[Action], PartitionState]] = []
    for action, state in path:
        steps = tuple(step for event in action.events if (step := _step_of(event)) is not None)
        if steps:
            found.append((steps, [], state))
        elif found:
            steps, moves, _ = found[-1]
            found[-1] = (steps, [*moves, action], state)
    return tuple(Stretch(steps, _movers(moves), _held(state)) for steps, moves, state in found)


def _step_of(event: Event) -> Step | None:
    match event:
        case RecordSent(label, acks):
            return Produce((label,), acks, Expectation.ANY)
        case BrokerDied(broker, graceful):
            return Stop(broker) if graceful else Kill(broker)
        case TailLost(broker, offset):
            return LoseTail(broker, offset)
        case BrokerReturned(broker):
            return Start(broker)
        case _:
            return None


def _movers(moves: Iterable[Action]) -> tuple[BrokerId, ...]:
    return tuple(dict.fromkeys(follower for action in moves if (follower := mover(action)) is not None))


def _held(state: PartitionState) -> dict[BrokerId, HeldFrame]:
    return {
        replica.broker: _frame(replica.broker, replica.fetch)
        for replica in state.replicas
        if replica.fetch is not None and replica.fetch.stage is not FetchStage.PARKED
    }


def _frame(follower: BrokerId, fetch: Fetch) -> HeldFrame:
    offset = fetch.offset if fetch.kind is FetchKind.FETCH else None
    return HeldFrame(_POINT_OF[fetch.kind, fetch.stage], follower, fetch.leader, offset, fetch)
