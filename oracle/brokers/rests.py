"""Where does a step leave the brokers at rest, and what has happened on the way there?

The orders that links and the controller can take are explored as for a prediction (``predicting.interleavings``): two
rests mean that a race is open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oracle.events import BrokerDied, BrokerReturned, LogTailLost, RecordSent, RequestReceived
from oracle.predicting.assumptions import UnmetAssumptionError, check
from oracle.predicting.interleavings import TooManyStatesError, explore, identity
from oracle.predicting.step_effects import strokes
from oracle.state import FetchStage
from oracle.steps.brokers import Kill, LoseTail, Start, Stop
from oracle.steps.frames import AwaitHold, DelayFrame, Hold, ReleaseHold
from oracle.steps.produce import AwaitOutcome, Produce
from oracle.steps.waits import AwaitIsr, AwaitLeader, Checkpoint
from oracle.world import ImpossibleEventError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.brokers.questions import SearchBounds
    from oracle.events import Event
    from oracle.predicting.interleavings import Move
    from oracle.predicting.step_effects import Stroke
    from oracle.state import FetchInFlight, PartitionState
    from oracle.steps.step import Step
    from oracle.world import World


REFUSALS = (ImpossibleEventError, TooManyStatesError, UnmetAssumptionError)
"""What a step can be refused with: no rule allows it, or nothing brings about what it assumes."""


@dataclass(frozen=True, slots=True)
class Happening:
    """What has happened on the way to a rest.

    Attributes:
        event: None for what a step did that is no event of the explorer's model.
        frame: the request that moved, as it was before.
    """

    event: Event | None
    frame: FetchInFlight | None = None


@dataclass(frozen=True, slots=True)
class RestPoint:
    """Brokers at rest.

    Attributes:
        past: what has happened so far, on a shortest way.
    """

    world: World
    past: tuple[Happening, ...] = ()


def rests_after(rests: Sequence[RestPoint], step: Step) -> tuple[RestPoint, ...]:
    """Return every rest that a step can lead to and that is as the step assumes.

    Raises:
        ImpossibleEventError: if no rule allows the step.
        TooManyStatesError: if the links can interleave in too many ways.
        UnmetAssumptionError: if nothing brings about what the step assumes.
    """
    reached = [after for rest in rests for after in _reached(rest, step)]
    kept: dict[object, RestPoint] = {}
    unmet = None
    for rest in reached:
        try:
            checked = replace(rest, world=check(rest.world, step))
        except UnmetAssumptionError as error:
            unmet = error
        else:
            kept.setdefault(identity(checked.world), checked)
    if unmet is not None and not kept:
        raise unmet
    return tuple(kept.values())


def _reached(rest: RestPoint, step: Step) -> list[RestPoint]:
    found = [rest]
    own = own_events(rest.world, step)
    for index, stroke in enumerate(strokes(step)):
        found = [after for before in found for after in _after_stroke(before, stroke, own[index : index + 1])]
    return found


def _after_stroke(before: RestPoint, stroke: Stroke, own: tuple[Event | None, ...]) -> Iterator[RestPoint]:
    graph = explore(stroke(before.world))
    for end in graph.ends:
        moved = (happening for move in graph.moves_to(end) for happening in _happened(move))
        yield RestPoint(graph.worlds[end], (*before.past, *map(Happening, own), *moved))


def _happened(move: Move) -> Iterator[Happening]:
    """Yield what a move of the interleavings was: nothing where a hold caught a frame before it brought anything.

    At rest idle followers' requests reach their leaders all at once.
    """
    if move.event is None:
        yield from _parked_now(move)
    elif move.before.state is not move.after.state:
        follower = getattr(move.event, "follower", None)
        yield Happening(move.event, None if follower is None else move.before.state.replica(follower).fetch)


def _parked_now(move: Move) -> Iterator[Happening]:
    for old, new in zip(move.before.state.replicas, move.after.state.replicas, strict=True):
        if old.fetch is None and new.fetch is not None and new.fetch.stage is FetchStage.PARKED:
            yield Happening(RequestReceived(new.broker), replace(new.fetch, stage=FetchStage.REQUESTED))


def modelled_state(world: World, bounds: SearchBounds) -> PartitionState:
    """Return the state as the explorer's model has it: with the fetches that are late, where they are part of it."""
    if not bounds.late_fetches:
        return world.state
    return replace(world.state, late=tuple(one.arrival for one in world.gate.late))


def own_events(world: World, step: Step) -> tuple[Event | None, ...]:
    """Return what a step does itself, an event a stroke; None for one that the explorer's model does not have."""
    match step:
        case Produce(records, acks):
            return tuple(RecordSent(label, acks, step.leader) for label in records)
        case Kill(broker) | Stop(broker):
            return (BrokerDied(broker, graceful=isinstance(step, Stop)),)
        case Start(broker):
            return (BrokerReturned(broker, clean=world.state.replica(broker).shut_down_cleanly),)
        case LoseTail(broker, offset):
            return (LogTailLost(broker, offset),)
        case ReleaseHold(name, late=True):
            frame = world.gate.late_frame(name)
            return () if frame is None else (frame.arrival,)
        case Hold() | ReleaseHold() | AwaitHold() | DelayFrame() | AwaitOutcome() | AwaitLeader() | AwaitIsr():
            return ()
        case Checkpoint():
            return ()
        case _:
            return (None,)
