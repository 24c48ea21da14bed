"""Does the model bring about what a step assumes? If not, the schedule is refused before any broker starts.

An await is an assumption, not a prediction. The refusal says what the model has instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.obstructing import silent_followers
from oracle.replication.electing import time_out
from oracle.steps.frames import AwaitHold
from oracle.steps.produce import AwaitOutcome, Produce
from oracle.steps.questions import SendTo
from oracle.steps.waits import AwaitIsr, AwaitLag, AwaitLeader
from oracle.vocabulary import Expectation

if TYPE_CHECKING:
    from oracle.gate import ArmedHold
    from oracle.state import PartitionState, ProduceState
    from oracle.steps.step import Step
    from oracle.vocabulary import BrokerId, Label
    from oracle.world import World


class UnmetAssumptionError(Exception):
    """A step assumes what the rules do not bring about.

    Attributes:
        field: the field of the step that says so.
    """

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


def check(world: World, step: Step) -> World:
    """Refuse a step whose assumption does not hold now that the model is at rest.

    Returns:
        the world, in which produces that can only time out have done so.

    Raises:
        UnmetAssumptionError: says what the model has instead.
    """
    _check_leader_runs(world, step)
    match step:
        case Produce(records) if step.expect not in (Expectation.PENDING, Expectation.ANY):
            return _check_outcomes(_timed_out(world, records), records, step.expect, step.error)
        case Produce(records):
            return _check_outcomes(world, records, step.expect, step.error)
        case AwaitOutcome(records):
            return _check_outcomes(_timed_out(world, records), records, step.expect, step.error)
        case SendTo(record):
            return _timed_out(world, (record,))
        case AwaitHold(name):
            _check_hold(world, name)
        case AwaitLeader(leader):
            _check_leader(world.state, leader)
        case AwaitIsr(isr):
            _check_isr(world.state, isr)
        case AwaitLag(followers):
            _check_lag(world, followers)
        case _:
            pass
    return world


def _check_hold(world: World, name: str) -> None:
    armed = world.gate.named(name)
    if armed is None:
        raise UnmetAssumptionError(f"{world.gate.why_gone(name)},", "name")
    if not armed.caught:
        raise UnmetAssumptionError(f"hold {name!r} never catches a frame: {what_passes(world, armed)},", "name")


def what_passes(world: World, armed: ArmedHold) -> str:
    """Return what there is on the hold's link instead."""
    if armed.hold.broker is not None:
        return _what_is_decided(world.state, armed.hold.broker)
    follower, leader = armed.hold.follower, armed.hold.leader
    assert follower is not None
    replica = world.state.replica(follower)
    if not replica.alive:
        return f"broker {follower} is down"
    if world.state.controller.leader != leader:
        return f"the leader is {world.state.controller.leader or 'none'}"
    if world.gate.blocks(follower, leader):
        return "another hold has caught that link's frame"
    if world.obstacles.severs(follower, leader):
        return f"no fetch of broker {follower} reaches broker {leader}"
    if not world.obstacles.paused.isdisjoint((follower, leader)):
        return "one of these brokers is paused"
    return f"broker {follower} fetches at offset {replica.log.log_end_offset}"


def _what_is_decided(state: PartitionState, broker: BrokerId) -> str:
    if not state.replica(broker).alive:
        return f"broker {broker} is down"
    return f"nothing passes between broker {broker} and the controller since it was armed"


def _check_leader_runs(world: World, step: Step) -> None:
    leader = world.state.controller.leader
    if leader in world.obstacles.paused:
        message = f"broker {leader} is elected while it is paused, and what it does first cannot be predicted,"
        raise UnmetAssumptionError(message, step.main_field())


def _check_leader(state: PartitionState, leader: BrokerId | None) -> None:
    actual = state.controller.leader
    if actual != leader:
        raise UnmetAssumptionError(f"the leader is {actual or 'none'}, not {leader or 'none'},", "leader")


def _check_isr(state: PartitionState, isr: tuple[BrokerId, ...]) -> None:
    actual = sorted(state.controller.isr)
    if actual != sorted(isr):
        raise UnmetAssumptionError(f"the ISR is {actual}, not {sorted(isr)},", "isr")


def _check_lag(world: World, followers: tuple[BrokerId, ...]) -> None:
    silent = silent_followers(world)
    if sorted(followers) != list(silent):
        raise UnmetAssumptionError(f"the followers that lag are {list(silent)}, not {sorted(followers)},", "followers")


def _check_outcomes(world: World, labels: tuple[Label, ...], expect: Expectation, error: str | None) -> World:
    for produce in world.state.produces:
        if produce.label not in labels or expect is Expectation.ANY:
            continue
        actual = produce.outcome.value if produce.outcome else "pending"
        if actual != expect.value:
            raise UnmetAssumptionError(f"{produce.label!r} is {_described(produce)}, not {expect.value},", "expect")
        if error not in (None, produce.error):
            message = f"{produce.label!r} ends with {produce.error or 'no error that the model names'}, not {error},"
            raise UnmetAssumptionError(message, "error")
    return world


def _described(produce: ProduceState) -> str:
    actual = produce.outcome.value if produce.outcome else "pending"
    return f"{actual} ({produce.error})" if produce.error else actual


def _timed_out(world: World, labels: tuple[Label, ...]) -> World:
    """End produces that can only end by their timeout (AC-03)."""
    produces = tuple(time_out(p) if p.label in labels and p.outcome is None else p for p in world.state.produces)
    return replace(world, state=replace(world.state, produces=produces))
