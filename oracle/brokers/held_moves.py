"""How do held brokers move by one half step? The next hold is armed ahead, then one frame is let go or one step taken.

Brokers are held where every link stands in a gate, or is idle with its fetch parked and nothing to tell. Each move is
taken from there and ends there:

| what the model does | what a schedule does |
|---|---|
| a request reaches its leader | holds the answer, lets the request go; no hold where the leader parks it |
| an answer reaches its follower | holds the follower's next request, lets the answer go |
| the controller commits a join, or refuses it | lets the leader's wish go (2.7 and newer) |
| a record is sent, a broker dies, loses its tail or starts | holds what links will send then, takes the step |

Two moves are none of the model's. An idle link's next fetch is caught: to the model it is parked still. And what a
parked fetch is answered with cannot be held, as a hold catches the empty answer that came before: there the follower
has its answer at once, and its next request is held.

A hold on an idle link catches a fetch of the epoch that is. Where an action begins another epoch, that fetch is let go
after it, its leader refuses it (2.1 and newer), and the next one is held. Where a leader starts and its followers may
hear of it before or after it does, the controller's decision is kept from it until they have heard it, and their
requests are held only then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.brokers.model import mover
from oracle.brokers.path_to_schedule import frame_of, step_of
from oracle.brokers.reductions import advanced
from oracle.brokers.rests import modelled_state
from oracle.events import BrokerReturned, JoinCommitted, JoinRefused, LateFetchReceived, ResponseReceived
from oracle.state import FetchStage
from oracle.steps.frames import Hold, ReleaseHold
from oracle.vocabulary import MetadataMode, PointName

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.brokers.model import BrokerAction, Brokers
    from oracle.brokers.path_to_schedule import HoldNames
    from oracle.state import PartitionState, ReplicaState
    from oracle.steps.step import Step
    from oracle.vocabulary import BrokerId
    from oracle.world import World


@dataclass(frozen=True, slots=True)
class HeldMove:
    """A move from one state of held brokers to the next.

    Attributes:
        actions: the model's actions that it takes; none where an idle link's next fetch is caught.
        target: the state that the model foresees.
        ahead: the holds that are armed before, not yet named.
        until_after: holds that are armed before the action and let go after it, when those ahead are armed, not yet
            named: of decisions that a leader hears last, of fetches that are refused then.
    """

    actions: tuple[BrokerAction, ...]
    target: PartitionState
    ahead: tuple[Hold, ...]
    until_after: tuple[Hold, ...] = ()

    def __str__(self) -> str:  # type: ignore[explicit-override] # typing has it from 3.12 on
        """Return what happens in words."""
        if self.actions:
            return ", ".join(map(str, self.actions))
        return f"the next fetch of broker {self.ahead[0].follower} is caught"


def moves_of(world: World, action: BrokerAction, model: Brokers) -> tuple[HeldMove, ...]:
    """Return the moves that take an action of held brokers, each a way to try when those before it do not."""
    target = advanced(modelled_state(world, model.bounds), action.events, model.rules, model.bounds)
    ahead = _ahead(world, (action,), target)
    move = HeldMove((action,), target, ahead)
    if isinstance(action.cause, BrokerReturned) and model.rules.metadata is MetadataMode.ZOOKEEPER:
        decision = Hold("", PointName.LEADER_AND_ISR, broker=action.cause.broker)
        return move, HeldMove((action,), target, ahead, (decision,))
    if idle := _moved(world.state, target, FetchStage.PARKED, FetchStage.REQUESTED):
        before = tuple(_next_fetch(world.state.replica(follower)) for follower in idle)
        return move, HeldMove((action,), target, ahead, before)
    return (move,)


def moves_beyond(world: World, action: BrokerAction, model: Brokers) -> tuple[HeldMove, ...]:
    """Return the move that takes an action and the answers that it brings to parked fetches; none if it brings none."""
    state = modelled_state(world, model.bounds)
    target = advanced(state, action.events, model.rules, model.bounds)
    followers = answered_when_parked(state, target)
    actions = [action]
    for follower in followers:
        answer = next(a for a in model.possible(target) if a.cause == ResponseReceived(follower))
        target = advanced(target, answer.events, model.rules, model.bounds)
        actions.append(answer)
    return (HeldMove(tuple(actions), target, _ahead(world, tuple(actions), target)),) if followers else ()


def catches(world: World) -> Iterator[HeldMove]:
    """Return the moves that catch an idle link's next fetch."""
    for replica in world.state.replicas:
        if replica.fetch is not None and replica.fetch.stage is FetchStage.PARKED:
            yield HeldMove((), world.state, (_next_fetch(replica),))


def _next_fetch(idle: ReplicaState) -> Hold:
    assert idle.fetch is not None, "an idle link has its fetch parked"
    return Hold("", PointName.FETCH_REQUEST, idle.broker, idle.fetch.leader, idle.fetch.offset)


def answered_when_parked(before: PartitionState, after: PartitionState) -> tuple[BrokerId, ...]:
    """Return the followers whose parked fetch an action has had answered."""
    return _moved(before, after, FetchStage.PARKED, FetchStage.ANSWERED)


def _moved(
    before: PartitionState, after: PartitionState, where: FetchStage, whither: FetchStage
) -> tuple[BrokerId, ...]:
    """Return the followers whose request stood at one stage and stands at another."""
    return tuple(
        old.broker
        for old, new in zip(before.replicas, after.replicas, strict=True)
        if old.fetch is not None and new.fetch is not None and (old.fetch.stage, new.fetch.stage) == (where, whither)
    )


def steps_of(move: HeldMove, world: World, names: HoldNames) -> tuple[Step, ...]:
    """Return the steps that take a move: the holds ahead, then its own step, unless they would catch too early then."""
    before, ahead = tuple(map(names.named, move.until_after)), tuple(map(names.named, move.ahead))
    if not move.actions:
        return ahead
    own: tuple[Step, ...] = tuple(step for e in move.actions[0].events if (step := step_of(e)) is not None)
    own = own or (_let_go(world, move.actions[0]),)
    if not before:
        return (*ahead, *own)
    return (*before, *own, *ahead, *(ReleaseHold(hold.name) for hold in before))


def _let_go(world: World, action: BrokerAction) -> ReleaseHold:
    """Return the step that lets the frame of an action pass."""
    if isinstance(action.cause, LateFetchReceived):
        return ReleaseHold(next(one.hold.name for one in world.gate.late if one.arrival == action.cause), late=True)
    caught = (armed.hold for armed in world.gate.holds if armed.caught)
    if isinstance(action.cause, JoinCommitted | JoinRefused):
        return ReleaseHold(next(hold.name for hold in caught if hold.point is PointName.ALTER_PARTITION_REQUEST))
    return ReleaseHold(next(hold.name for hold in caught if hold.follower == mover(action)))


def _ahead(world: World, actions: tuple[BrokerAction, ...], target: PartitionState) -> tuple[Hold, ...]:
    """Return holds for the frames that stand in a gate afterwards and do not yet."""
    moved = {mover(action) for action in actions if not isinstance(action.cause, JoinCommitted | JoinRefused)}
    holds = []
    for old, new in zip(world.state.replicas, target.replicas, strict=True):
        fetch = new.fetch
        if fetch is not None and fetch.stage is not FetchStage.PARKED and (new.broker in moved or fetch != old.fetch):
            holds.append(frame_of(new.broker, fetch).hold())
        if new.joining and new.joining != old.joining:
            holds.append(Hold("", PointName.ALTER_PARTITION_REQUEST, broker=new.broker))
    return tuple(holds)
