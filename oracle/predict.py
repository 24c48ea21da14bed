"""What must happen? ``predict`` interprets a schedule under a rule set, before any broker starts.

The schedule is run once for every order in which followers may take their turns: where the orders
disagree the schedule leaves a race open, which the prediction names instead of guessing.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

from oracle.electing import notify, time_out
from oracle.events import BrokerDied, BrokerRemoved, BrokerReturned, RecordSent, RequestLost
from oracle.outcome import conclude, moment
from oracle.schedule import ScheduleError, check_structure
from oracle.state import ControllerView, PartitionState, ReplicaState
from oracle.steps import (
    AwaitHold,
    AwaitIsr,
    AwaitLeader,
    AwaitOutcome,
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
from oracle.vocabulary import (
    BrokerId,
    Expectation,
    Fate,
    Label,
    LeaderEpoch,
    Timing,
)
from oracle.world import POINTS, ImpossibleEventError, World

if TYPE_CHECKING:
    from oracle.prediction import Moment, Prediction, RecordPrediction
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.steps import Step


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
    orders = permutations(schedule.replicas[1:])
    predictions = [_predict_in_order(schedule, rules, (*order, schedule.replicas[0])) for order in orders]
    return _with_races(predictions)


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
        if "epoch" in step.point.value and not rules.truncation.asks_leader:
            message = f"Kafka {rules.version} followers do not send OffsetsForLeaderEpoch"
            raise PointUnavailableError(message, step=index, field="point")


def _predict_in_order(schedule: Schedule, rules: RuleSet, order: tuple[BrokerId, ...]) -> Prediction:
    world = World(_initial(schedule, rules), rules, schedule.checkpointing, order).settle()
    moments: list[Moment] = []
    for index, step in enumerate(schedule.steps):
        try:
            world = _take(world, step).settle()
            world = _check(world, step)
        except ImpossibleEventError as error:
            raise ScheduleError(str(error), step=index) from error
        except _UnmetAssumptionError as error:
            message = f"{error} under the rules of Kafka {rules.version} ({rules.metadata.value})"
            raise ScheduleError(message, step=index) from error
        moments.append(moment(world.state, index, step.name if isinstance(step, Checkpoint) else None))
    return conclude(schedule, rules, world.state, tuple(moments))


class _UnmetAssumptionError(Exception):
    """A step assumes what the rules do not bring about."""


def _initial(schedule: Schedule, rules: RuleSet) -> PartitionState:
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
    return notify(state, elected, rules)


def _take(world: World, step: Step) -> World:
    """Do what a step does at once; resting and checking follow."""
    match step:
        case Produce(records):
            for label in records:
                world = world.apply(RecordSent(label, step.acks)).settle()
            return world
        case Hold():
            return world.arm(step)
        case Release() | Drop() | Close():
            return _let_go(world, step)
        case Kill(broker) | Stop(broker):
            graceful = isinstance(step, Stop)
            return world.apply(BrokerDied(broker, graceful)).apply(BrokerRemoved(broker))
        case Start(broker):
            return world.apply(BrokerReturned(broker, _shut_down_cleanly(world, broker)))
        case _:
            return world


def _let_go(world: World, step: Release | Drop | Close) -> World:
    armed = world.hold_named(step.name)
    if armed is None:
        raise ImpossibleEventError(f"hold {step.name!r} was discharged: a broker of its link was killed")
    if not armed.caught:
        raise ImpossibleEventError(f"hold {step.name!r} has caught nothing to let go")
    replica = world.state.replica(armed.hold.follower)
    if isinstance(step, Drop):
        return world
    if isinstance(step, Close) and replica.fetch is not None:
        world = world.apply(RequestLost(armed.hold.follower))
    return world.let_go(step.name)


def _shut_down_cleanly(world: World, broker: BrokerId) -> bool:
    return world.state.replica(broker).shut_down_cleanly


def _check(world: World, step: Step) -> World:
    """Refuse a step whose assumption does not hold now that the model is at rest."""
    match step:
        case Produce(records) | AwaitOutcome(records):
            return _check_outcomes(world, records, step.expect, step.error)
        case AwaitHold(name):
            armed = world.hold_named(name)
            _require(armed is not None and armed.caught, f"hold {name!r} never catches a frame")
        case AwaitLeader(leader):
            actual = world.state.controller.leader
            _require(actual == leader, f"the leader is {actual or 'none'}, not {leader or 'none'},")
        case AwaitIsr(isr):
            actual_isr = sorted(world.state.controller.isr)
            _require(actual_isr == sorted(isr), f"the ISR is {actual_isr}, not {sorted(isr)},")
        case _:
            pass
    return world


def _require(holds: bool, message: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not holds:
        raise _UnmetAssumptionError(message)


def _check_outcomes(world: World, labels: tuple[Label, ...], expect: Expectation, error: str | None) -> World:
    if expect is not Expectation.PENDING and expect is not Expectation.ANY:
        world = _timed_out(world, labels)
    for produce in world.state.produces:
        if produce.label not in labels or expect is Expectation.ANY:
            continue
        actual = produce.outcome.value if produce.outcome else "pending"
        described = f"{actual} ({produce.error})" if produce.error else actual
        _require(actual == expect.value, f"{produce.label!r} is {described}, not {expect.value},")
        _require(error in (None, produce.error), f"{produce.label!r} ends with {produce.error}, not {error},")
    return world


def _timed_out(world: World, labels: tuple[Label, ...]) -> World:
    """End produces that can only end by their timeout."""
    produces = tuple(time_out(p) if p.label in labels and p.outcome is None else p for p in world.state.produces)
    return replace(world, state=replace(world.state, produces=produces))


def _with_races(predictions: list[Prediction]) -> Prediction:
    """Merge the predictions of all orders: where they differ, name the race."""
    first = predictions[0]
    races = [
        f"{a.name or f'step {a.step}'}: numbers depend on which follower fetches first"
        for index, a in enumerate(first.checkpoints)
        if any(other.checkpoints[index] != a for other in predictions)
    ]
    records = tuple(
        record if all(other.records[index].fate is record.fate for other in predictions) else _open(record)
        for index, record in enumerate(first.records)
    )
    return replace(first, records=records, races=tuple(races))


def _open(record: RecordPrediction) -> RecordPrediction:
    why = "depends on which follower fetches first"
    return replace(record, fate=Fate.UNDETERMINED, offset=None, decided_by=why)
