"""What is seen of the controller and its decisions? Who leads, and who is in sync."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.tracing.moment import PartitionObserved, RequestKey

if TYPE_CHECKING:
    from oracle.vocabulary import BrokerId, LeaderEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadershipHeard(PartitionObserved):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadershipApplied(PartitionObserved):
    """A broker answered LeaderAndIsr: by now it leads or follows as it was told, unless there is an error."""

    broker: BrokerId
    key: RequestKey
    error: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaStopped(PartitionObserved):
    """StopReplica reached a broker.

    Attributes:
        is_deleted: its log goes too.
    """

    broker: BrokerId
    is_deleted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrAnnounced(PartitionObserved):
    """The controller told somebody of the state it has: UpdateMetadata, or records of the metadata log, left it.

    For a record of the metadata log this comes once, when it first left the active controller; a
    ``LeadershipHeard`` comes for each broker that it reached.
    """

    leader: BrokerId | None
    leader_epoch: LeaderEpoch
    isr: tuple[BrokerId, ...]
    replicas: tuple[BrokerId, ...]
    partition_epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrProposed(PartitionObserved):
    """A leader sent AlterIsr / AlterPartition."""

    key: RequestKey
    leader: BrokerId
    leader_epoch: LeaderEpoch
    isr: tuple[BrokerId, ...]
    partition_epoch: int
    api_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrAnswered(PartitionObserved):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrDelivered(PartitionObserved):
    """The controller's answer reached the leader."""

    key: RequestKey
