"""What can be seen of brokers from outside? One frozen event per moment of a frame, fault or measurement.

A frame between two nodes has four moments: its sender sent it, its receiver received it, the receiver answered, and the
answer was delivered. A gate sees all four: arrival and departure of request and answer. What a sender sends shows its
state of that moment or before; what a receiver has received it handles at that moment or later, but before it answers.
A frame that was held comes to its receiver late, one that was dropped never does.

Model field <- wire field <- broker state:
  FetchSent.fetch_offset <- FETCH fetch_offset <- the follower's log end offset
  FetchSent.current_leader_epoch <- current_leader_epoch (v9+) <- the epoch in which it follows
  FetchSent.last_fetched_epoch <- last_fetched_epoch (v12+) <- latest epoch of its epoch cache
  FetchAnswered.high_watermark <- high_watermark <- the leader's high watermark
  FetchAnswered.runs <- partition leader epoch of the record batches <- the leader's log
  LookupAnswered.end <- leader_epoch, end_offset of OffsetsForLeaderEpoch <- the leader's epoch cache
  LeadershipHeard <- LeaderAndIsr, or a PartitionRecord / PartitionChangeRecord <- the controller's decision
  IsrProposed <- AlterIsr, AlterPartition <- the maximal ISR that a leader wishes

Events of one partition come in the order of ``at``; those of the same moment in the order of the frames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from oracle.log import EpochEnd
    from oracle.vocabulary import Acks, BrokerId, LeaderEpoch, Offset


# When and where was something seen? What every observed event tells, and how a request is known again.


class TopicPartition(NamedTuple):
    """Which partition an event is about."""

    topic: str
    partition: int


class RequestKey(NamedTuple):
    """Which request an answer belongs to: the number of its connection, unique in a run, and its correlation id."""

    connection: int
    correlation_id: int


class ObservedEpochRun(NamedTuple):
    """Consecutive records of one leader epoch; None for batches that carry none (message formats 0 and 1)."""

    leader_epoch: LeaderEpoch | None
    first_offset: Offset
    last_offset: Offset


class Observed(Struct, frozen=True, kw_only=True, gc=False):
    """A moment.

    Attributes:
        at: monotonic nanoseconds.
        frame: number of the frame in the wire trace that shows it; None if no frame does.
    """

    at: int
    frame: int | None = None


class PartitionObserved(Observed, frozen=True, kw_only=True, gc=False):
    """A moment of one partition."""

    partition: TopicPartition


# What is seen of the controller and its decisions? Who leads, and who is in sync.


class LeadershipHeard(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """A broker was told who leads: LeaderAndIsr, or records of the metadata log, reached it.

    Attributes:
        broker: who was told.
        leader: None if nobody leads.
        partition_epoch: version of the partition's state; None if unknown.
        controller_epoch: None if unknown.
        key: of the LeaderAndIsr request; None for the metadata log, whose reading nobody answers.
    """

    broker: BrokerId
    leader: BrokerId | None
    leader_epoch: LeaderEpoch
    isr: tuple[BrokerId, ...]
    replicas: tuple[BrokerId, ...]
    partition_epoch: int | None = None
    controller_epoch: int | None = None
    key: RequestKey | None = None


class LeadershipApplied(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """A broker answered LeaderAndIsr: by now it leads or follows as it was told, unless there is an error."""

    broker: BrokerId
    key: RequestKey
    error: int = 0


class ReplicaStopped(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """StopReplica reached a broker.

    Attributes:
        is_deleted: its log goes too.
    """

    broker: BrokerId
    is_deleted: bool


class IsrAnnounced(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """The controller told somebody of the state it has: UpdateMetadata, or records of the metadata log, left it.

    For a record of the metadata log this comes once, when it first left the active controller; a
    ``LeadershipHeard`` comes for each broker that it reached.
    """

    leader: BrokerId | None
    leader_epoch: LeaderEpoch
    isr: tuple[BrokerId, ...]
    replicas: tuple[BrokerId, ...]
    partition_epoch: int | None = None


class IsrProposed(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """A leader sent AlterIsr / AlterPartition."""

    key: RequestKey
    leader: BrokerId
    leader_epoch: LeaderEpoch
    isr: tuple[BrokerId, ...]
    partition_epoch: int
    api_version: int


class IsrAnswered(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """The controller answered a proposal.

    Attributes:
        error: 0 or Kafka's error code, of the partition or else of the whole answer.
        leader: with the following fields, the state that it committed; None with an error.
    """

    key: RequestKey
    error: int
    leader: BrokerId | None = None
    leader_epoch: LeaderEpoch | None = None
    isr: tuple[BrokerId, ...] = ()
    partition_epoch: int | None = None


class IsrDelivered(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """The controller's answer reached the leader."""

    key: RequestKey


# What is seen that no frame between brokers shows? Faults, settings, what producers were told, measurements.


class BrokerEnded(Observed, frozen=True, kw_only=True, gc=False):
    """A broker's process ended; clean if it was asked to shut down and did."""

    broker: BrokerId
    clean: bool


class BrokerStarted(Observed, frozen=True, kw_only=True, gc=False):
    """A broker's process was started (the moment before its first frame)."""

    broker: BrokerId


class TailLost(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """The disk of a broker that is down lost the log from ``offset`` on."""

    broker: BrokerId
    offset: Offset


class CheckpointLost(Observed, frozen=True, kw_only=True, gc=False):
    """The disk of a broker that is down lost its high watermark checkpoint."""

    broker: BrokerId


class DeletionRequested(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """An operator asks the leader to delete the records before an offset: from now on its log may begin there."""

    offset: Offset


class MinIsrSet(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """An operator set the topic's min.insync.replicas; takes effect at each broker soon after."""

    min_insync_replicas: int


class Acknowledged(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """A producer was told that its records are written.

    Attributes:
        sent_at: when it sent them, monotonic nanoseconds; None if unknown.
        leader: the broker it sent them to; None if unknown.
        base_offset: of the first record; None if it was not told.
        last_offset: of the last record; None if it was not told.
    """

    acks: Acks
    sent_at: int | None = None
    leader: BrokerId | None = None
    base_offset: Offset | None = None
    last_offset: Offset | None = None


class Refused(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """A producer was told of an error, at some time after it had sent its records.

    Attributes:
        error: Kafka's name of it, such as NOT_ENOUGH_REPLICAS.
        sent_at: when it sent them, monotonic nanoseconds; None if unknown.
    """

    acks: Acks
    error: str
    sent_at: int | None = None
    leader: BrokerId | None = None


class ReplicaMeasured(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """A probe of a live broker's replica.

    Attributes:
        since: the numbers are from a moment between ``since`` and ``at``.
        log_end_offset: None if not measured.
        high_watermark: None if not measured.
    """

    since: int
    broker: BrokerId
    log_end_offset: Offset | None = None
    high_watermark: Offset | None = None


__all__ = [
    "Acknowledged",
    "BrokerEnded",
    "BrokerStarted",
    "CheckpointLost",
    "DeletionRequested",
    "Event",
    "FetchAnswered",
    "FetchDelivered",
    "FetchReceived",
    "FetchSent",
    "IsrAnnounced",
    "IsrAnswered",
    "IsrDelivered",
    "IsrProposed",
    "LeadershipApplied",
    "LeadershipHeard",
    "LookupAnswered",
    "LookupDelivered",
    "LookupReceived",
    "LookupSent",
    "MinIsrSet",
    "Observed",
    "ObservedEpochRun",
    "PartitionObserved",
    "Refused",
    "ReplicaMeasured",
    "ReplicaStopped",
    "RequestKey",
    "TailLost",
    "TopicPartition",
    "end_shown",
]


class FetchSent(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """A follower sent a FETCH: it shows the follower's end. One that changed nothing in its session counts too.

    Attributes:
        current_leader_epoch: None in versions without it (before 9), or if it is -1.
        is_in_session: whether it goes on with a fetch session (KIP-227) that an earlier one has begun.
        last_fetched_epoch: None in versions without it (before 12), or if it is -1.
        replica_epoch: the follower's broker epoch, None in versions without it (before 15).
        has_others: whether it asks for other partitions, too.
        api_version: of FETCH.
    """

    key: RequestKey
    follower: BrokerId
    leader: BrokerId
    fetch_offset: Offset
    current_leader_epoch: LeaderEpoch | None = None
    last_fetched_epoch: LeaderEpoch | None = None
    replica_epoch: int | None = None
    is_in_session: bool = False
    has_others: bool = False
    api_version: int


class FetchReceived(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """The FETCH reached the leader, which handles it from now on."""

    key: RequestKey


class FetchAnswered(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """The leader answered; also when its answer left the partition out of the session because nothing changed.

    Attributes:
        error: 0 or Kafka's error code, of the partition or else of the whole answer.
        high_watermark: the leader's; -1 with an error. For a partition left out, the last one told.
        runs: the records in it, none if it carries none.
        diverging_epoch: where the follower diverges (v12+).
        log_start_offset: the leader's, None in versions without it (before 5), or if it is -1.
        is_listed: False if the incremental answer left the partition out.
    """

    key: RequestKey
    error: int
    high_watermark: Offset
    runs: tuple[ObservedEpochRun, ...] = ()
    diverging_epoch: EpochEnd | None = None
    log_start_offset: Offset | None = None
    is_listed: bool = True


class FetchDelivered(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """The answer reached the follower, which handles it from now on."""

    key: RequestKey


class LookupSent(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """A follower asked with OffsetsForLeaderEpoch where an epoch ends.

    Attributes:
        epoch: the one asked about; -1 if the follower has none.
        current_leader_epoch: None in versions without it (before 2).
    """

    key: RequestKey
    follower: BrokerId
    leader: BrokerId
    epoch: LeaderEpoch
    current_leader_epoch: LeaderEpoch | None = None
    api_version: int


class LookupReceived(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """The lookup reached the leader."""

    key: RequestKey


class LookupAnswered(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """The leader answered a lookup.

    Attributes:
        end: the epoch (None in version 0, or if it is -1) and its end offset (None if it is -1).
    """

    key: RequestKey
    error: int
    end: EpochEnd


class LookupDelivered(PartitionObserved, frozen=True, kw_only=True, gc=False):
    """The answer to a lookup reached the follower."""

    key: RequestKey


Event = (
    FetchSent
    | FetchReceived
    | FetchAnswered
    | FetchDelivered
    | LookupSent
    | LookupReceived
    | LookupAnswered
    | LookupDelivered
    | LeadershipHeard
    | LeadershipApplied
    | ReplicaStopped
    | IsrAnnounced
    | IsrProposed
    | IsrAnswered
    | IsrDelivered
    | BrokerEnded
    | BrokerStarted
    | TailLost
    | CheckpointLost
    | DeletionRequested
    | MinIsrSet
    | Acknowledged
    | Refused
    | ReplicaMeasured
)
"""Everything that a trace check is fed with."""


def end_shown(event: Event) -> int:
    """Return the end of the offsets that an event shows to have been appended; 0 if it shows none."""
    if isinstance(event, FetchAnswered) and event.runs:
        return event.runs[-1].last_offset + 1
    return event.last_offset + 1 if isinstance(event, Acknowledged) and event.last_offset is not None else 0
