"""Which short forms does the catalogue write its steps in?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.predict import initial_world, take
from oracle.steps.brokers import Kill, LoseCheckpoint, LoseTail, Pause, Resume, Start, Stop
from oracle.steps.frames import AwaitHold, Drop, Hold, ReleaseHold
from oracle.steps.produce import AwaitOutcome, Produce
from oracle.steps.questions import Consume, EndOffsetOfEpoch, ListOffsets, SendTo
from oracle.steps.topic import Elect
from oracle.steps.waits import AwaitIsr, AwaitLag, AwaitLeader, Checkpoint
from oracle.vocabulary import (
    Acks,
    BrokerId,
    ElectionKind,
    Expectation,
    Label,
    Leadership,
    Offset,
    OffsetSpec,
    PointName,
)

if TYPE_CHECKING:
    from conformance.record.prediction import FrozenPrediction, PredictedMoment
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.world import World


def produce(
    *labels: str,
    acks: Acks = Acks.ALL,
    expect: Expectation = Expectation.ACKNOWLEDGED,
    error: str | None = None,
    timeout_ms: int = 30_000,
) -> Produce:
    """Send one record per label to the current leader."""
    return Produce(tuple(Label(label) for label in labels), acks, expect, error, timeout_ms)


def await_outcome(*labels: str, expect: Expectation = Expectation.ANY, error: str | None = None) -> AwaitOutcome:
    """Collect the outcome of records left pending."""
    return AwaitOutcome(tuple(Label(label) for label in labels), expect, error)


def hold_request(name: str, follower: int, leader: int, fetch_offset: int | None = None) -> Hold:
    """Freeze a follower's FETCH before the leader sees it."""
    return _hold(name, PointName.FETCH_REQUEST, follower, leader, fetch_offset)


def hold_response(name: str, follower: int, leader: int, fetch_offset: int | None = None) -> Hold:
    """Freeze the leader's answer before the follower sees it."""
    return _hold(name, PointName.FETCH_RESPONSE, follower, leader, fetch_offset)


def _hold(name: str, point: PointName, follower: int, leader: int, fetch_offset: int | None) -> Hold:
    offset = None if fetch_offset is None else Offset(fetch_offset)
    return Hold(name, point, BrokerId(follower), BrokerId(leader), offset)


def await_hold(name: str) -> AwaitHold:
    """Wait until the gate has caught the frame."""
    return AwaitHold(name)


def release(name: str) -> ReleaseHold:
    """Let a held frame pass."""
    return ReleaseHold(name)


def release_late(name: str) -> ReleaseHold:
    """Let a held fetch reach its leader after its sender's connection has ended."""
    return ReleaseHold(name, late=True)


def kill(broker: int) -> Kill:
    """Kill -9 a broker."""
    return Kill(BrokerId(broker))


def stop(broker: int) -> Stop:
    """Stop a broker gracefully."""
    return Stop(BrokerId(broker))


def start(broker: int) -> Start:
    """Start a broker with its old files."""
    return Start(BrokerId(broker))


def await_leader(broker: int | None) -> AwaitLeader:
    """Wait for a leader, or for none."""
    return AwaitLeader(None if broker is None else BrokerId(broker))


def await_isr(*brokers: int) -> AwaitIsr:
    """Wait for the committed in-sync replicas."""
    return AwaitIsr(tuple(BrokerId(broker) for broker in brokers))


def await_lag(*followers: int) -> AwaitLag:
    """Let replica.lag.time.max.ms pass for followers that do not fetch."""
    return AwaitLag(tuple(BrokerId(follower) for follower in followers))


def lose_checkpoint(broker: int) -> LoseCheckpoint:
    """Remove the high watermark checkpoint of a broker that is down."""
    return LoseCheckpoint(BrokerId(broker))


def lose_tail(broker: int, offset: int) -> LoseTail:
    """Cut the log of a broker that is down."""
    return LoseTail(BrokerId(broker), Offset(offset))


def checkpoint(name: str) -> Checkpoint:
    """Measure every replica."""
    return Checkpoint(name)


def brokers(*ids: int) -> tuple[BrokerId, ...]:
    """Return broker ids."""
    return tuple(BrokerId(broker) for broker in ids)


# Which short forms do regression scenarios need besides the catalogue's? Steps that few schedules take.


def send_unacknowledged(*labels: str) -> Produce:
    """Send records with acks=0: nothing is promised about them."""
    return Produce(tuple(Label(label) for label in labels), Acks.NONE, Expectation.ANY)


def hold_decision(name: str, broker: int) -> Hold:
    """Freeze the next LeaderAndIsr before a broker hears it."""
    return Hold(name, PointName.LEADER_AND_ISR, broker=BrokerId(broker))


def hold_isr_request(name: str, leader: int) -> Hold:
    """Freeze the next AlterPartition of a leader before the controller sees it."""
    return Hold(name, PointName.ALTER_PARTITION_REQUEST, broker=BrokerId(leader))


def hold_lookup_answer(name: str, follower: int, leader: int) -> Hold:
    """Freeze the answer to the next OffsetsForLeaderEpoch before the follower sees it."""
    return Hold(name, PointName.OFFSETS_FOR_LEADER_EPOCH_RESPONSE, BrokerId(follower), BrokerId(leader))


def drop(name: str) -> Drop:
    """Throw a held frame away."""
    return Drop(name)


def pause(broker: int) -> Pause:
    """Freeze a broker's process."""
    return Pause(BrokerId(broker))


def resume(broker: int) -> Resume:
    """Let a paused broker go on."""
    return Resume(BrokerId(broker))


def elect_preferred() -> Elect:
    """Ask the controller to let the first assigned replica lead."""
    return Elect(ElectionKind.PREFERRED)


# Which short forms do these scenarios write their questions in?


def consume(broker: int | None = None, offset: int = 0) -> Consume:
    """Read as a read_uncommitted consumer, at the leader unless a broker is named."""
    return Consume(_broker(broker), Offset(offset))


def earliest(broker: int | None = None) -> ListOffsets:
    """Ask for the first offset."""
    return ListOffsets(OffsetSpec.EARLIEST, _broker(broker))


def latest(broker: int | None = None, version: int | None = None) -> ListOffsets:
    """Ask for the offset at which a consumer that starts now would wait."""
    return ListOffsets(OffsetSpec.LATEST, _broker(broker), version=version)


def not_older_than(label: str, broker: int | None = None) -> ListOffsets:
    """Ask for the first offset whose record is not older than another one."""
    return ListOffsets(OffsetSpec.TIMESTAMP, _broker(broker), Label(label))


def epoch_end(leadership: int, broker: int | None = None, claiming: int | None = None) -> EndOffsetOfEpoch:
    """Ask where the epoch of a leadership ends, claiming another one to be the current one."""
    current = None if claiming is None else Leadership(claiming)
    return EndOffsetOfEpoch(Leadership(leadership), _broker(broker), current)


def send_to(label: str, broker: int, acks: int) -> SendTo:
    """Send one record to a broker, whether it leads or not."""
    return SendTo(Label(label), BrokerId(broker), acks)


def _broker(broker: int | None) -> BrokerId | None:
    return None if broker is None else BrokerId(broker)


# From what do questions derive their predicted answers? From prediction.json, or from the model's last state.


def world_after(schedule: Schedule, rules: RuleSet) -> World:
    """Return the model's world after the last step of a schedule that leaves nothing open."""
    world = initial_world(schedule, rules, schedule.replicas)
    for step in schedule.steps:
        world = take(world, step)
    return world


def log_end_offset(prediction: FrozenPrediction, checkpoint: str, broker: int) -> int:
    """Return a replica's predicted log end offset."""
    return _moment(prediction, checkpoint).replicas[broker].log_end_offset


def high_watermark(prediction: FrozenPrediction, checkpoint: str, broker: int) -> int:
    """Return a replica's predicted high watermark."""
    return _moment(prediction, checkpoint).replicas[broker].high_watermark


def remote_log_end_offset(prediction: FrozenPrediction, checkpoint: str, broker: int) -> int | None:
    """Return the leader's predicted copy of a follower's log end offset; None if it has none."""
    return _moment(prediction, checkpoint).remote_log_end_offsets[broker]


def _moment(prediction: FrozenPrediction, checkpoint: str) -> PredictedMoment:
    return next(one for one in prediction.checkpoints if one.name == checkpoint)
