"""What do a producer's requests and their answers say?

Sources: the message schemas of Apache Kafka (ProduceRequest, ProduceResponse); KIP-467, KIP-951, KIP-516.
"""

from dataclasses import dataclass
from uuid import UUID

from fault_injection.wire.views import NONE


@dataclass(frozen=True, slots=True)
class ProducedPartition:
    """What a producer wants appended to one partition.

    Attributes:
        topic: its name; None while only the id is known (v13+).
        topic_id: its id, v13+.
        partition: its index.
        record_bytes: size of the record batches.
        record_count: how many records they carry, as their headers say.
        producer_id: of the first batch; -1 without idempotence or before batches of magic 2.
        producer_epoch: of the first batch.
        base_sequence: of the first batch.
    """

    topic: str | None
    topic_id: UUID | None
    partition: int
    record_bytes: int = 0
    record_count: int = 0
    producer_id: int = NONE
    producer_epoch: int = NONE
    base_sequence: int = NONE

    @property
    def has_records(self) -> bool:
        """Whether there is anything to append."""
        return self.record_bytes > 0


@dataclass(frozen=True, slots=True)
class ProduceRequestView:
    """A Produce request; with ``acks`` 0 nobody answers it."""

    acks: int
    timeout_ms: int
    partitions: tuple[ProducedPartition, ...]
    transactional_id: str | None = None


@dataclass(frozen=True, slots=True)
class AppendedPartition:
    """What became of one partition's records; ``base_offset`` is -1 with an error."""

    topic: str | None
    topic_id: UUID | None
    partition: int
    error: int
    base_offset: int
    log_start_offset: int = NONE
    leader_id: int = NONE
    leader_epoch: int = NONE


@dataclass(frozen=True, slots=True)
class ProduceResponseView:
    """A Produce response; it has no error at the top."""

    throttle_time_ms: int
    partitions: tuple[AppendedPartition, ...]
    error: int = 0
