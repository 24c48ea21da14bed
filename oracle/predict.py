"""What must happen? ``predict`` interprets a schedule under a rule set, before any broker starts."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

from oracle.assumptions import UnmetAssumptionError, check
from oracle.electing import notify
from oracle.events import BrokerDied, BrokerRemoved, BrokerReturned, RecordSent, RequestLost
from oracle.gate import POINTS
from oracle.outcome import conclude, moment
from oracle.races import merged
from oracle.schedule import ScheduleError, check_structure
from oracle.state import ControllerView, FetchKind, PartitionState, ReplicaState
from oracle.steps import (
    Checkpoint,
    Close,
    Delay,
    Drop,
    Hold,
    Kill,
    Produce,
    Release,
    Start,
    Stop,
)
from oracle.vocabulary import LeaderEpoch, Timing
from oracle.world import ImpossibleEventError, World

if TYPE_CHECKING:
    from oracle.prediction import Moment, Prediction
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.steps import Step
    from oracle.vocabulary import BrokerId


class PointUnavailableError(ScheduleError):
    """The schedule holds at a point that this release does not have: it does not apply to it."""


def predict(schedule: Schedule, rules: RuleSet) -> Prediction:
    """Predict every checkpoint, every record's fate and every produce's outcome.

    Raises:
        ScheduleError: if a step assumes what no rule of this release can bring about; names the step.
        PointUnavailableError: if the release has no such protocol point.
    """
    check_structure(schedule)
    _check_supported(schedule, rules)
    return merged([_predict_in_order(schedule, rules, order) for order in permutations(schedule.replicas)])


def _check_supported(schedule: Schedule, rules: RuleSet) -> None:
    if schedule.timing is Timing.LAG:
        message = "timing: lag is not predicted yet; use session, where only the controller removes replicas"
        raise ScheduleError(message, field="timing")
    for index, step in enumerate(schedule.steps):
        if not isinstance(step, Hold | Delay):
            continue
        if step.point not in POINTS:
            message = f"a hold at {step.point.value} cannot be predicted yet; points: {', '.join(POINTS)}"
            raise ScheduleError(message, step=index, field="point")
        kind, _ = POINTS[step.point]
        if kind is FetchKind.EPOCH_LOOKUP and not rules.truncation.asks_leader:
            message = f"Kafka {rules.version} followers do not send OffsetsForLeaderEpoch"
            raise PointUnavailableError(message, step=index, field="point")


def _predict_in_order(schedule: Schedule, rules: RuleSet, order: tuple[BrokerId, ...]) -> Prediction:
    world = initial_world(schedule, rules, order)
    moments: list[Moment] = []
    for index, step in enumerate(schedule.steps):
        try:
            world = take(world, step)
        except ImpossibleEventError as error:
            field = "broker" if isinstance(step, Kill | Stop | Start) else "name"
            raise ScheduleError(str(error), step=index, field=field) from error
        except UnmetAssumptionError as error:
            message = f"{error} under the rules of Kafka {rules.version} ({rules.metadata.value})"
            raise ScheduleError(message, step=index, field=error.field) from error
        moments.append(moment(world.state, index, step.name if isinstance(step, Checkpoint) else None))
    return conclude(schedule, rules, world.state, tuple(moments))


def initial_world(schedule: Schedule, rules: RuleSet, order: tuple[BrokerId, ...]) -> World:
    """Return the partition right after its creation, at rest: the first replica leads all others."""
    leader = schedule.replicas[0]
    epoch = LeaderEpoch(0)
    view = ControllerView(
        registered=frozenset(schedule.replicas),
        leader=None,
        leader_epoch=LeaderEpoch(-1),
        isr=schedule.replicas,
    )
    replicas = tuple(ReplicaState(broker) for broker in schedule.replicas)
    state = PartitionState(schedule.replicas, schedule.settings, replicas, view)
    elected = replace(view, leader=leader, leader_epoch=epoch, leaderships=((epoch, leader, True),))
    return World(notify(state, elected, rules), rules, schedule.checkpointing, order).settle()


def take(world: World, step: Step) -> World:
    """Take one step: do it, come to rest, and check what it assumes.

    Raises:
        ImpossibleEventError: if no rule allows it.
        UnmetAssumptionError: if it assumes what does not come.
    """
    return check(_do(world, step).settle(), step)


def _do(world: World, step: Step) -> World:
    match step:
        case Produce(records):
            for label in records:
                world = world.apply(RecordSent(label, step.acks)).settle()
            return world
        case Hold():
            return replace(world, gate=world.gate.arm(step))
        case Release() | Drop() | Close():
            return _let_go(world, step)
        case Kill(broker) | Stop(broker):
            died = BrokerDied(broker, graceful=isinstance(step, Stop))
            return world.apply(died).apply(BrokerRemoved(broker))
        case Start(broker):
            return world.apply(BrokerReturned(broker, clean=world.state.replica(broker).shut_down_cleanly))
        case _:
            return world


def _let_go(world: World, step: Release | Drop | Close) -> World:
    armed = world.gate.named(step.name)
    if armed is None:
        message = f"hold {step.name!r} was let go before, or discharged by a kill of its link's broker"
        raise ImpossibleEventError(message)
    if not armed.caught:
        raise ImpossibleEventError(f"hold {step.name!r} has caught nothing to let go")
    if armed.dropped:
        raise ImpossibleEventError(f"the frame of hold {step.name!r} was dropped")
    if isinstance(step, Drop):
        return replace(world, gate=world.gate.drop(step.name))
    if isinstance(step, Close):
        world = world.apply(RequestLost(armed.hold.follower))
    return replace(world, gate=world.gate.let_go(step.name))
