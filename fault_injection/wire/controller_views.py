"""What do the requests between controller and brokers say, ZooKeeper era and KRaft?

Sources: the message schemas of Apache Kafka; KIP-497 (AlterIsr), KIP-704, KIP-841, KIP-903 (AlterPartition),
KIP-570 (StopReplica), KIP-631 (broker registration and heartbeat).
"""

from dataclasses import dataclass
from uuid import UUID

from fault_injection.wire.views import NONE


@dataclass(frozen=True, slots=True)
class PartitionLeadership:
    """The leadership of one partition as the controller announces it.

    ``partition_epoch`` is the ZooKeeper version of the partition state; ``is_new`` marks a partition just
    created (LeaderAndIsr v1+).
    """

    topic: str | None
    topic_id: UUID | None
    partition: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    partition_epoch: int
    controller_epoch: int
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class LeaderAndIsrView:
    """A LeaderAndIsr request."""

    controller_id: int
    controller_epoch: int
    broker_epoch: int
    partitions: tuple[PartitionLeadership, ...]


@dataclass(frozen=True, slots=True)
class UpdateMetadataView:
    """An UpdateMetadata request; ``live_brokers`` are the ids it names."""

    controller_id: int
    controller_epoch: int
    broker_epoch: int
    live_brokers: tuple[int, ...]
    partitions: tuple[PartitionLeadership, ...]


@dataclass(frozen=True, slots=True)
class StoppedReplica:
    """A replica that is to stop, and whether its log goes; the epoch is there from v3 on."""

    topic: str | None
    partition: int
    is_deleted: bool
    leader_epoch: int = NONE


@dataclass(frozen=True, slots=True)
class StopReplicaView:
    """A StopReplica request."""

    controller_id: int
    controller_epoch: int
    broker_epoch: int
    partitions: tuple[StoppedReplica, ...]


@dataclass(frozen=True, slots=True)
class ControlledShutdownView:
    """A ControlledShutdown request."""

    broker_id: int
    broker_epoch: int


@dataclass(frozen=True, slots=True)
class ProposedIsr:
    """The in-sync replicas a leader proposes for one partition."""

    topic: str | None
    topic_id: UUID | None
    partition: int
    leader_epoch: int
    new_isr: tuple[int, ...]
    partition_epoch: int
    leader_recovery_state: int = 0

    @property
    def isr(self) -> tuple[int, ...]:
        """Return the in-sync replicas, named as in other messages."""
        return self.new_isr


@dataclass(frozen=True, slots=True)
class AlterPartitionView:
    """An AlterPartition request, or AlterIsr, which is its version 0."""

    broker_id: int
    broker_epoch: int
    partitions: tuple[ProposedIsr, ...]


@dataclass(frozen=True, slots=True)
class CommittedIsr:
    """What the controller committed for one partition, or why it refused."""

    topic: str | None
    topic_id: UUID | None
    partition: int
    error: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    partition_epoch: int


@dataclass(frozen=True, slots=True)
class AlterPartitionResponseView:
    """An AlterPartition response."""

    error: int
    throttle_time_ms: int
    partitions: tuple[CommittedIsr, ...]


@dataclass(frozen=True, slots=True)
class PartitionError:
    """The error of one partition in an answer that says no more."""

    topic: str | None
    topic_id: UUID | None
    partition: int
    error: int


@dataclass(frozen=True, slots=True)
class ErrorsView:
    """An answer that only tells errors: to LeaderAndIsr, UpdateMetadata, StopReplica, ControlledShutdown."""

    error: int
    partitions: tuple[PartitionError, ...] = ()


@dataclass(frozen=True, slots=True)
class BrokerRegistrationView:
    """A BrokerRegistration request; ``previous_broker_epoch`` is there from v3 on (KIP-966)."""

    broker_id: int
    incarnation_id: UUID
    previous_broker_epoch: int = NONE


@dataclass(frozen=True, slots=True)
class BrokerRegistrationResponseView:
    """A BrokerRegistration response."""

    error: int
    broker_epoch: int


@dataclass(frozen=True, slots=True)
class BrokerHeartbeatView:
    """A BrokerHeartbeat request."""

    broker_id: int
    broker_epoch: int
    current_metadata_offset: int
    want_fence: bool
    want_shut_down: bool


@dataclass(frozen=True, slots=True)
class BrokerHeartbeatResponseView:
    """A BrokerHeartbeat response."""

    error: int
    is_caught_up: bool
    is_fenced: bool
    should_shut_down: bool
