"""What is seen that no frame between brokers shows? Faults, settings, what producers were told, measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.tracing.moment import Observed, PartitionObserved

if TYPE_CHECKING:
    from oracle.vocabulary import Acks, BrokerId, Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerEnded(Observed):
    """A broker's process ended; clean if it was asked to shut down and did."""

    broker: BrokerId
    clean: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerStarted(Observed):
    """A broker's process was started (the moment before its first frame)."""

    broker: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class TailLost(PartitionObserved):
    """The disk of a broker that is down lost the log from ``offset`` on."""

    broker: BrokerId
    offset: Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointLost(Observed):
    """The disk of a broker that is down lost its high watermark checkpoint."""

    broker: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class MinIsrSet(PartitionObserved):
    """An operator set the topic's min.insync.replicas; takes effect at each broker soon after."""

    min_insync_replicas: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged(PartitionObserved):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(PartitionObserved):
    """A producer was told of an error, at some time after it had sent its records.

    Attributes:
        error: Kafka's name of it, such as NOT_ENOUGH_REPLICAS.
        sent_at: when it sent them, monotonic nanoseconds; None if unknown.
    """

    acks: Acks
    error: str
    sent_at: int | None = None
    leader: BrokerId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaMeasured(PartitionObserved):
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
