"""What do coordinator, leaders and producers know of a transaction? Plain values, so that a state is its own key.

One transactional id, and so one producer id: its coordinator, the partitions that it writes to, and the producers
that have used it, one after the other. Epochs here are producer epochs unless a name says otherwise.

Sources: KIP-98, KIP-360, KIP-890; TransactionMetadata, ProducerStateEntry.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, TypeVar

from oracle.error_codes import ErrorCode

Value = TypeVar("Value")
NO_EPOCH = -1
NO_SEQUENCE = -1


class TxnPhase(IntEnum):
    """State of a transactional id at its coordinator, as the transaction log has it."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5

    @property
    def is_prepared(self) -> bool:
        """Return whether it is decided how the transaction ends, and not all markers are written."""
        return self in PREPARED

    @property
    def is_complete(self) -> bool:
        """Return whether every marker is written."""
        return self in COMPLETED


PREPARED = frozenset({TxnPhase.PREPARE_COMMIT, TxnPhase.PREPARE_ABORT})
COMPLETED = frozenset({TxnPhase.COMPLETE_COMMIT, TxnPhase.COMPLETE_ABORT})
PREPARED_BY = {True: TxnPhase.PREPARE_COMMIT, False: TxnPhase.PREPARE_ABORT}
COMPLETED_BY = {True: TxnPhase.COMPLETE_COMMIT, False: TxnPhase.COMPLETE_ABORT}
"""The states of a transaction that commits (True) or aborts."""


class Coordinator(NamedTuple):
    """What the coordinator knows of the transactional id.

    Attributes:
        phase: state of its last transaction.
        epoch: producer epoch; NO_EPOCH before the first InitProducerId.
        last_epoch: epoch whose InitProducerId may be retried (KIP-360), else NO_EPOCH.
        partitions: those in the transaction whose marker is not written yet, ascending.
        coordinator_epoch: leader epoch of the transaction log's partition; one more with each fail-over.
        has_bumped: the transaction ended with a new producer epoch (transaction.version 2).
        has_given_up: a leader refused a marker for good, and no more are sent before a fail-over.
        logged: partitions of a transaction whose end is decided, as the transaction log has them: which markers have
            been answered is not in there.
    """

    phase: TxnPhase = TxnPhase.EMPTY
    epoch: int = NO_EPOCH
    last_epoch: int = NO_EPOCH
    partitions: tuple[int, ...] = ()
    coordinator_epoch: int = 0
    has_bumped: bool = False
    has_given_up: bool = False
    logged: tuple[int, ...] = ()


class Record(NamedTuple):
    """A record: which transaction of which producer it belongs to, and which partition it is for."""

    transaction: int
    partition: int


class TxnBatch(NamedTuple):
    """One batch of a log, of one record or marker.

    Attributes:
        epoch: producer epoch.
        sequence: sequence number; NO_SEQUENCE of a marker and of a group's offset.
        record: what it holds; None for a marker.
        commits: of a marker, whether it commits.
    """

    epoch: int
    sequence: int
    record: Record | None
    commits: bool = False


class ProducerEntry(NamedTuple):
    """What a leader knows of the producer id.

    Attributes:
        epoch: of its last batch or marker; NO_EPOCH if there was none.
        sequences: of its last batches in that epoch, the last one last; as many as the release remembers.
        is_open: a transaction of it is open on the partition.
        coordinator_epoch: of the last marker; NO_EPOCH if there was none.
    """

    epoch: int = NO_EPOCH
    sequences: tuple[int, ...] = ()
    is_open: bool = False
    coordinator_epoch: int = NO_EPOCH

    @property
    def last_sequence(self) -> int:
        """Return the sequence number of the last batch in this epoch, NO_SEQUENCE if there is none."""
        return self.sequences[-1] if self.sequences else NO_SEQUENCE


class PartitionLog(NamedTuple):
    """A partition at its leader: its batches, and what the leader knows of the producer."""

    batches: tuple[TxnBatch, ...] = ()
    producer: ProducerEntry = ProducerEntry()


# Requests. Each is answered at once, or is late: then its sender has given up waiting, and its answer reaches nobody.
# They are no tuples: two of different kinds with the same numbers must differ.


@dataclass(frozen=True, slots=True)
class InitProducerId:
    """Ask for a producer id and an epoch; ``expected`` is the epoch of a producer that goes on (KIP-360)."""

    expected: int | None


@dataclass(frozen=True, slots=True)
class AddPartitionToTxn:
    """Tell the coordinator that the transaction will write to a partition."""

    epoch: int
    partition: int


@dataclass(frozen=True, slots=True)
class ProduceBatch:
    """Send a batch to its leader, or a group's offset, which has no sequence number, to its group coordinator."""

    epoch: int
    sequence: int
    record: Record


@dataclass(frozen=True, slots=True)
class EndTxn:
    """Commit or abort."""

    epoch: int
    commits: bool


@dataclass(frozen=True, slots=True)
class WriteTxnMarker:
    """The coordinator has a marker written."""

    epoch: int
    partition: int
    commits: bool
    coordinator_epoch: int


Request = InitProducerId | AddPartitionToTxn | ProduceBatch | EndTxn | WriteTxnMarker


class Answer(NamedTuple):
    """An answer: its error, and the producer epoch where it tells one."""

    error: ErrorCode = ErrorCode.NONE
    epoch: int = NO_EPOCH


NO_EFFECT = frozenset(
    {
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_ENOUGH_REPLICAS,
    }
)
"""Errors of a broker that has not looked at the request; the last one is of a leader whose coordinator is not there."""


def put(values: tuple[Value, ...], index: int, value: Value) -> tuple[Value, ...]:
    """Return values with another one at an index."""
    return (*values[:index], value, *values[index + 1 :])
