"""What does a decoded frame say, in Kafka's words and without its bytes?

One frozen class per request and response that the tester looks into. A field that the version on the
wire does not have keeps the default that Kafka's own schema gives it (mostly -1).

Sources: the message schemas of Apache Kafka; KIP-101, KIP-227, KIP-320, KIP-497, KIP-595, KIP-903.
"""

from dataclasses import dataclass
from uuid import UUID

from fault_injection.wire.metadata_views import MetadataRecord

NONE = -1


@dataclass(frozen=True, slots=True)
class EpochBatches:
    """Consecutive record batches of one leader epoch; epoch None in message sets before v2."""

    leader_epoch: int | None
    first_offset: int | None
    last_offset: int


@dataclass(frozen=True, slots=True)
class IdBatch:
    """The ids of a record batch, of a piece of one, or of messages that follow each other, as their keys show them.

    Attributes:
        base_offset: of the first record; in a Produce request as it was sent, which counts from 0.
        count: how many records; 1 of a compressed wrapper of messages, as its header says no more.
        first_id: the first record's key as a number; -1 if it has not eight bytes or is compressed.
        step: by how much ids grow from record to record; -1 if there is one.
    """

    base_offset: int
    count: int
    first_id: int
    step: int = NONE


@dataclass(frozen=True, slots=True)
class DivergingEpochView:
    """The largest epoch the leader shares with the follower, and where it ends (KIP-595, Fetch v12)."""

    leader_epoch: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class FetchPartition:
    """What a fetch asks of one partition.

    Attributes:
        topic: its name; None while only the id is known (v13+, see ``TopicNames``).
        topic_id: its id, v13+.
        partition: its index.
        fetch_offset: the first offset wanted: the log end offset of a follower.
        current_leader_epoch: the epoch the follower believes in, v9+.
        last_fetched_epoch: the epoch of its last record, v12+.
        log_start_offset: the follower's, v5+.
        is_listed: False when an incremental request left it out because nothing changed (KIP-227).
    """

    topic: str | None
    topic_id: UUID | None
    partition: int
    fetch_offset: int
    current_leader_epoch: int = NONE
    last_fetched_epoch: int = NONE
    log_start_offset: int = NONE
    is_listed: bool = True

    @property
    def leader_epoch(self) -> int:
        """Return the epoch that a protocol point compares."""
        return self.current_leader_epoch


@dataclass(frozen=True, slots=True)
class FetchRequestView:
    """A FETCH request; ``replica_id`` is negative for consumers and probes."""

    replica_id: int
    replica_epoch: int
    max_wait_ms: int
    session_id: int
    session_epoch: int
    partitions: tuple[FetchPartition, ...]
    forgotten: tuple[tuple[str | UUID | None, int], ...] = ()


@dataclass(frozen=True, slots=True)
class FetchedPartition:
    """What a fetch gave for one partition; offsets are those of the record batches it carries.

    Attributes:
        metadata: what the records say, if the partition is KRaft's metadata log.
        batches: the ids of the records, if they are read (``Codec``).
    """

    topic: str | None
    topic_id: UUID | None
    partition: int
    error: int
    high_watermark: int
    last_stable_offset: int = NONE
    log_start_offset: int = NONE
    record_bytes: int = 0
    epochs: tuple[EpochBatches, ...] = ()
    diverging_epoch: DivergingEpochView | None = None
    leader_id: int = NONE
    leader_epoch: int = NONE
    is_listed: bool = True
    metadata: tuple[MetadataRecord, ...] = ()
    batches: tuple[IdBatch, ...] = ()

    @property
    def has_records(self) -> bool:
        """Return whether it carries any bytes of records."""
        return self.record_bytes > 0

    @property
    def record_count(self) -> int:
        """How many offsets its records span; a compressed message set counts as one, as its header says no more."""
        return sum(1 if run.first_offset is None else run.last_offset - run.first_offset + 1 for run in self.epochs)

    @property
    def has_diverging_epoch(self) -> bool:
        """Return whether the leader tells the follower to truncate."""
        return self.diverging_epoch is not None

    @property
    def first_offset(self) -> int | None:
        """Return the first offset of the first batch; None without records or if only decompression shows it."""
        return self.epochs[0].first_offset if self.epochs else None

    @property
    def last_offset(self) -> int | None:
        """Return the last offset of the last whole batch."""
        return self.epochs[-1].last_offset if self.epochs else None


@dataclass(frozen=True, slots=True)
class FetchResponseView:
    """A FETCH response."""

    error: int
    session_id: int
    throttle_time_ms: int
    partitions: tuple[FetchedPartition, ...]


@dataclass(frozen=True, slots=True)
class EpochQuery:
    """The question where ``leader_epoch`` ends in one partition (KIP-101)."""

    topic: str | None
    partition: int
    leader_epoch: int
    current_leader_epoch: int = NONE


@dataclass(frozen=True, slots=True)
class EpochRequestView:
    """An OffsetsForLeaderEpoch request; ``replica_id`` is -2 before v3, which does not carry it."""

    replica_id: int
    partitions: tuple[EpochQuery, ...]


@dataclass(frozen=True, slots=True)
class EpochEndOffset:
    """Where an epoch ends: the largest epoch not above the asked one (v1+) and its end offset."""

    topic: str | None
    partition: int
    error: int
    leader_epoch: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class EpochResponseView:
    """An OffsetsForLeaderEpoch response."""

    throttle_time_ms: int
    partitions: tuple[EpochEndOffset, ...]
    error: int = 0


# What do a producer's requests and their answers say?
#
# Sources: the message schemas of Apache Kafka (ProduceRequest, ProduceResponse); KIP-467, KIP-951, KIP-516.


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
        batches: the ids of the records, if they are read (``Codec``).
    """

    topic: str | None
    topic_id: UUID | None
    partition: int
    record_bytes: int = 0
    record_count: int = 0
    producer_id: int = NONE
    producer_epoch: int = NONE
    base_sequence: int = NONE
    batches: tuple[IdBatch, ...] = ()

    @property
    def has_records(self) -> bool:
        """Return whether there is anything to append."""
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
