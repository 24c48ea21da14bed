"""What do the requests of transactions and their answers say?

Between a producer and its transaction coordinator (InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn), to the
coordinator of a group (TxnOffsetCommit), and between brokers: a coordinator has the end of a transaction written
(WriteTxnMarkers), a leader asks whether a transaction goes on (AddPartitionsToTxn v4+ that only verifies, KIP-890).

Choices: what a request says once for all its partitions stands in the request, what it says by partition in the
partition: AddPartitionsToTxn v4+ and WriteTxnMarkers are about several transactions. An answer that only tells errors
is an ``ErrorsView``.

Sources: the message schemas of Apache Kafka; KIP-98, KIP-360, KIP-447, KIP-890, KIP-1228.
"""

from dataclasses import dataclass

from fault_injection.wire.views import NONE


@dataclass(frozen=True, slots=True)
class InitProducerIdView:
    """An InitProducerId request; with the epoch that is known a producer asks for the next one (v3+, KIP-360)."""

    transactional_id: str | None
    transaction_timeout_ms: int
    producer_id: int = NONE
    producer_epoch: int = NONE


@dataclass(frozen=True, slots=True)
class ProducerEpochView:
    """An answer that tells an error and a producer's epoch: to InitProducerId, and to EndTxn from v5 on."""

    error: int
    producer_id: int = NONE
    producer_epoch: int = NONE


@dataclass(frozen=True, slots=True)
class AddedPartition:
    """A partition that is added to a transaction, or of which a leader asks whether it has been (``verifies``)."""

    topic: str
    partition: int
    transactional_id: str
    producer_id: int
    producer_epoch: int
    verifies: bool = False


@dataclass(frozen=True, slots=True)
class AddPartitionsToTxnView:
    """An AddPartitionsToTxn request; from v4 on brokers send it, for several transactions."""

    partitions: tuple[AddedPartition, ...]


@dataclass(frozen=True, slots=True)
class AddOffsetsToTxnView:
    """An AddOffsetsToTxn request: a group's offsets are added to a transaction."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    group_id: str


@dataclass(frozen=True, slots=True)
class EndTxnView:
    """An EndTxn request."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    commits: bool


@dataclass(frozen=True, slots=True)
class MarkedPartition:
    """A partition in which a transaction's end is to be written.

    Attributes:
        topic: its name.
        partition: its index.
        producer_id: whose transaction ends.
        producer_epoch: of the marker.
        commits: whether it says COMMIT.
        coordinator_epoch: the leader epoch of the coordinator's partition.
        transaction_version: v2+ (KIP-1228).
    """

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    commits: bool
    coordinator_epoch: int
    transaction_version: int = 0


@dataclass(frozen=True, slots=True)
class WriteTxnMarkersView:
    """A WriteTxnMarkers request; a partition is in it once for each transaction that ends there."""

    partitions: tuple[MarkedPartition, ...]


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """A group's offset of one partition."""

    topic: str
    partition: int
    committed_offset: int


@dataclass(frozen=True, slots=True)
class TxnOffsetCommitView:
    """A TxnOffsetCommit request: a group's offsets that are committed with a transaction."""

    transactional_id: str
    group_id: str
    producer_id: int
    producer_epoch: int
    partitions: tuple[CommittedOffset, ...]
