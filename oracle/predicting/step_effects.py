"""What does a step do at once? Its strokes: the state changes of one step, with a rest after each."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from oracle import asking, obstructing
from oracle.events import (
    ElectionRequested,
    HighWatermarkLost,
    LogTailLost,
    ReassignmentRequested,
    RecordsDeleted,
    RecordSent,
    RecordTurnedAway,
    RequestLost,
    SettingsChanged,
)
from oracle.gate import SlowNews
from oracle.predicting.assumptions import check
from oracle.replication.consuming import NOT_LEADER
from oracle.steps.brokers import (
    Isolate,
    Kill,
    KillTogether,
    LoseCheckpoint,
    LoseTail,
    Pause,
    Rejoin,
    Resume,
    Start,
    Stop,
)
from oracle.steps.frames import AwaitHold, Close, CutLink, DelayFrame, Drop, Heal, Hold, ReleaseHold
from oracle.steps.produce import AwaitOutcome, Produce
from oracle.steps.questions import Consume, EndOffsetOfEpoch, ListOffsets, SendTo
from oracle.steps.topic import AddPartitions, Alter, CreateTopic, DeleteRecords, DeleteTopic, Elect, Reassign
from oracle.steps.waits import AwaitIsr, AwaitLag, AwaitLeader, Checkpoint
from oracle.vocabulary import MetadataMode, PointName
from oracle.world import ImpossibleEventError

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.steps.step import Step
    from oracle.vocabulary import Label
    from oracle.world import World

    Stroke = Callable[[World], World]
    Order = Elect | Reassign | Alter | DeleteRecords | AddPartitions | CreateTopic | DeleteTopic


def take(world: World, step: Step) -> World:
    """Take one step, its followers in the world's own order: do it, come to rest, and check what it assumes.

    Raises:
        ImpossibleEventError: if no rule allows it.
        UnmetAssumptionError: if it assumes what does not come.
    """
    for stroke in strokes(step):
        world = stroke(world).settle()
    return check(world, step)


def strokes(step: Step) -> tuple[Stroke, ...]:  # noqa: C901 - one case a kind of step
    """Return what a step does, each stroke to be followed by a rest: one request a record, else one in all."""
    match step:
        case Produce(records):
            return tuple(partial(_send, label=label, step=step) for label in records)
        case Hold():
            return (partial(_arm, hold=step),)
        case ReleaseHold() | Drop() | Close():
            return (partial(_let_go, step=step),)
        case Consume() | ListOffsets() | EndOffsetOfEpoch() | SendTo():
            return (partial(asking.ask, step=step),)
        case Kill() | KillTogether() | Stop() | Start():
            return (partial(_change_processes, step=step),)
        case Elect() | Reassign() | Alter() | DeleteRecords() | AddPartitions() | CreateTopic() | DeleteTopic():
            return (partial(_order, step=step),)
        case AwaitLag():
            return (obstructing.let_lag_pass,)
        case LoseTail() | LoseCheckpoint():
            return (partial(_forget, step=step),)
        case Pause() | Resume() | Isolate() | Rejoin() | CutLink() | Heal():
            return (partial(_obstruct, step=step),)
        case AwaitOutcome() | DelayFrame() | AwaitHold() | AwaitLeader() | AwaitIsr() | Checkpoint():
            return (_look,)
        case _:
            raise NotImplementedError(f"the model does not take {step.word!r}")


def _change_processes(world: World, step: Kill | KillTogether | Stop | Start) -> World:
    """End brokers, or start one."""
    match step:
        case KillTogether(brokers):
            return obstructing.end_together(world, brokers=brokers)
        case Start(broker):
            return obstructing.start(world, broker=broker)
        case _:
            return obstructing.end(world, broker=step.broker, graceful=isinstance(step, Stop))


def _look(world: World) -> World:
    """Change nothing: the step waits, or looks."""
    return world


def _obstruct(world: World, step: Pause | Resume | Isolate | Rejoin | CutLink | Heal) -> World:
    """Put something in the way of frames, or take it away."""
    match step:
        case Pause(broker):
            return obstructing.pause(world, broker)
        case Resume(broker):
            return obstructing.resume(world, broker)
        case Isolate(broker):
            return obstructing.isolate(world, broker)
        case Rejoin(broker):
            return obstructing.rejoin(world, broker)
        case CutLink(follower, leader):
            return obstructing.cut(world, follower, leader)
        case _:
            return obstructing.heal(world, step.follower, step.leader)


def _send(world: World, label: Label, step: Produce) -> World:
    """Send a record; an elected leader that has not heard of its election turns it away."""
    if step.leader in world.obstacles.paused:
        raise ImpossibleEventError(f"broker {step.leader} is paused: it answers nobody")
    if step.leader is None and world.state.controller.leader is None:
        _require_nobody_leads(world)
    elected = world.state.controller.leader if step.leader is None else None
    if elected is not None and world.state.replica(elected).alive and world.state.presumed_leader(elected) is None:
        return world.apply(RecordTurnedAway(label, step.acks, NOT_LEADER))
    return world.apply(RecordSent(label, step.acks, step.leader))


def _require_nobody_leads(world: World) -> None:
    """Refuse a record for which nobody is elected if a client may still find a broker that believes it leads."""
    for replica in world.state.replicas:
        if world.state.presumed_leader(replica.broker) and replica.broker not in world.obstacles.paused:
            message = (
                f"nobody is elected, and broker {replica.broker} still believes that it leads: whether a client finds "
                f"it is not predicted; name it (leader: {replica.broker})"
            )
            raise ImpossibleEventError(message)


def _order(world: World, step: Order) -> World:
    """Let an operator ask something of the controller."""
    match step:
        case Elect(kind):
            return world.apply(ElectionRequested(kind))
        case Reassign(replicas):
            for broker in sorted({*replicas, *world.state.assignment}):
                obstructing.require_hearing(world, broker, "moved to or away from")
            if any(replica.log_start_offset for replica in world.state.replicas):
                raise ImpossibleEventError(
                    "records were deleted: where the log of a new replica starts is not predicted"
                )
            return world.apply(ReassignmentRequested(replicas))
        case DeleteRecords(offset):
            return world.apply(RecordsDeleted(offset))
        case Alter():
            _require_obeyed(world)
            return world.apply(SettingsChanged(world.state.settings.altered(step)))
        case _:
            return _leave_alone(world)


def _require_obeyed(world: World) -> None:
    """Make sure that the leader hears of new settings: in KRaft mode the metadata log has them, else ZooKeeper.

    Raises:
        ImpossibleEventError: it hears nothing, and goes on by the old ones.
    """
    leader = world.state.controller.leader
    if leader is None or world.rules.metadata is not MetadataMode.KRAFT:
        return
    obstructing.require_hearing(world, leader, "given new settings")
    if world.gate.blocks_decisions(leader):
        raise ImpossibleEventError(
            f"a hold has the metadata log of leader {leader}, which goes on by the old settings: let it go before"
        )


def _leave_alone(world: World) -> World:
    """Do something beside the partition: possible if all its brokers take part, and then it changes nothing."""
    if world.state.reassignment is not None:
        raise ImpossibleEventError("a reassignment is under way")
    for broker in sorted(world.state.assignment):
        if broker not in world.state.controller.registered or not world.state.replica(broker).alive:
            raise ImpossibleEventError(f"broker {broker} is down: it takes part in no change of topics")
        if world.blocks_decisions(broker):
            raise ImpossibleEventError(f"broker {broker} hears no decision: it takes part in no change of topics")
    return world


def _arm(world: World, hold: Hold) -> World:
    if world.gate.stops_metadata_fetches(hold):
        message = f"a hold has a metadata fetch of broker {hold.broker}, which sends no other: let it go before"
        raise ImpossibleEventError(message)
    if world.gate.has_twin(hold):
        message = (
            f"a hold at {hold.point.value} of broker {hold.broker} stands already, and whether this one catches the "
            "same frame or the one after it is not predicted: let that one go before"
        )
        raise ImpossibleEventError(message)
    if hold.point is PointName.UPDATE_METADATA:
        world = _without_slow_news(world, hold)
    return replace(world, gate=world.gate.arm(hold))


def _without_slow_news(world: World, hold: Hold) -> World:
    """Let brokers hear of an ISR that their leader wrote to ZooKeeper: a hold armed then waits for other news."""
    if world.gate.slow_news is SlowNews.KNOWN:
        message = (
            "up to 2.6 brokers are told of an ISR seconds after its leader has changed it in ZooKeeper, also when a "
            f"decision has told them before: whether a hold at update_metadata of broker {hold.broker} catches that or "
            "what follows the next decision is not predicted"
        )
        raise ImpossibleEventError(message)
    return replace(world, gate=replace(world.gate, slow_news=None))


def _forget(world: World, step: LoseTail | LoseCheckpoint) -> World:
    lost = LogTailLost(step.broker, step.offset) if isinstance(step, LoseTail) else HighWatermarkLost(step.broker)
    return world.apply(lost)


def _let_go(world: World, step: ReleaseHold | Drop | Close) -> World:
    if isinstance(step, ReleaseHold) and step.late:
        return _deliver_late(world, step.name)
    armed = world.gate.named(step.name)
    if armed is None:
        raise ImpossibleEventError(world.gate.why_gone(step.name))
    if not armed.caught:
        raise ImpossibleEventError(f"hold {step.name!r} has caught nothing to let go")
    if armed.dropped:
        raise ImpossibleEventError(f"the frame of hold {step.name!r} was dropped")
    for broker in armed.hold.brokers:
        if broker in world.obstacles.paused:
            raise ImpossibleEventError(f"broker {broker} is paused: resume it before a frame of its links is let go")
    if isinstance(step, Drop):
        return replace(world, gate=world.gate.drop(step.name))
    if isinstance(step, Close) and armed.hold.follower is not None:
        world = world.apply(RequestLost(armed.hold.follower))
    return replace(world, gate=world.gate.let_go(step.name))


def _deliver_late(world: World, name: str) -> World:
    """Let a leader have a held fetch whose sender's connection has ended."""
    frame = world.gate.late_frame(name)
    if frame is None:
        armed = world.gate.named(name)
        is_open = armed is not None and armed.caught
        message = f"hold {name!r} has its frame on a connection that is open: nothing is late yet, release it without"
        raise ImpossibleEventError(message if is_open else world.gate.why_gone(name))
    leader = frame.arrival.fetch.leader
    if leader in world.obstacles.paused:
        raise ImpossibleEventError(f"broker {leader} is paused: resume it before a fetch reaches it")
    return replace(world, gate=world.gate.delivered(name)).apply(frame.arrival)
