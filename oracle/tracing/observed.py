"""What can be seen of brokers from outside? One frozen event per moment of a frame, fault or measurement.

A frame between two nodes has four moments: its sender sent it, its receiver received it, the receiver
answered, and the answer was delivered. A gate sees all four: arrival and departure of request and
answer. What a sender sends shows its state of that moment or before; what a receiver has received it
handles at that moment or later, but before it answers. A frame that was held comes to its receiver late,
one that was dropped never does.

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

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.tracing.moment import EpochRun, Observed, PartitionObserved, RequestKey, TopicPartition
from oracle.tracing.observed_decisions import (
    IsrAnnounced,
    IsrAnswered,
    IsrDelivered,
    IsrProposed,
    LeadershipApplied,
    LeadershipHeard,
    ReplicaStopped,
)
from oracle.tracing.observed_story import (
    Acknowledged,
    BrokerEnded,
    BrokerStarted,
    CheckpointLost,
    MinIsrSet,
    Refused,
    ReplicaMeasured,
    TailLost,
)

if TYPE_CHECKING:
    from oracle.log import EpochEnd
    from oracle.vocabulary import BrokerId, LeaderEpoch, Offset

__all__ = [
    "Acknowledged",
    "BrokerEnded",
    "BrokerStarted",
    "CheckpointLost",
    "EpochRun",
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
    "PartitionObserved",
    "Refused",
    "ReplicaMeasured",
    "ReplicaStopped",
    "RequestKey",
    "TailLost",
    "TopicPartition",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSent(PartitionObserved):
    """A follower sent a FETCH: it shows the follower's end. One that changed nothing in its session counts too.

    Attributes:
        current_leader_epoch: None in versions without it (before 9), or if it is -1.
        last_fetched_epoch: None in versions without it (before 12), or if it is -1.
        replica_epoch: the follower's broker epoch, None in versions without it (before 15).
        api_version: of FETCH.
    """

    key: RequestKey
    follower: BrokerId
    leader: BrokerId
    fetch_offset: Offset
    current_leader_epoch: LeaderEpoch | None = None
    last_fetched_epoch: LeaderEpoch | None = None
    replica_epoch: int | None = None
    api_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchReceived(PartitionObserved):
    """The FETCH reached the leader, which handles it from now on."""

    key: RequestKey


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchAnswered(PartitionObserved):
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
    runs: tuple[EpochRun, ...] = ()
    diverging_epoch: EpochEnd | None = None
    log_start_offset: Offset | None = None
    is_listed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchDelivered(PartitionObserved):
    """The answer reached the follower, which handles it from now on."""

    key: RequestKey


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupSent(PartitionObserved):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupReceived(PartitionObserved):
    """The lookup reached the leader."""

    key: RequestKey


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupAnswered(PartitionObserved):
    """The leader answered a lookup.

    Attributes:
        end: the epoch (None in version 0, or if it is -1) and its end offset (None if it is -1).
    """

    key: RequestKey
    error: int
    end: EpochEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupDelivered(PartitionObserved):
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
    | MinIsrSet
    | Acknowledged
    | Refused
    | ReplicaMeasured
)
"""Everything that a trace check is fed with."""
