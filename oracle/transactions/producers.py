"""What does a producer with a transactional id do next, what has it been told, and how is that worded?"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from oracle.transactions.state import AddPartitionToTxn, EndTxn, InitProducerId, WriteTxnMarker

if TYPE_CHECKING:
    from oracle.transactions.state import Answer, Request


class Stage(IntEnum):
    """What a producer does next."""

    INITIALISES = 0
    """It asks for its epoch."""
    SENDS = 1
    """It adds partitions, sends batches, commits or aborts."""
    SENDS_AGAIN = 2
    """It was not answered, and sends the same again; a batch it may give up instead."""
    MUST_ABORT = 3
    """A batch was refused, or given up."""
    ASKS_FOR_EPOCH = 4
    """It has aborted, does not know what became of a batch, and asks for its next epoch (KIP-360)."""
    ENDED = 5
    """It was fenced, met an error that it cannot go on after, or has done its transactions."""


class CommitPromise(IntEnum):
    """What a producer has asked for a transaction, and has been told."""

    NONE = 0
    COMMIT_ASKED = 1
    COMMITTED = 2
    ABORT_ASKED = 3


class Producer(NamedTuple):
    """A producer with the transactional id.

    Attributes:
        stage: what it does next.
        epoch: the epoch that it was given.
        transaction: the number of the transaction that it is in, or begins next; from 0.
        sequences: the next sequence number for each partition.
        added: partitions that it has added to the transaction.
        sent: partitions whose record was acknowledged in the transaction.
        unanswered: the request that it sends again.
        is_unsure: it has given a batch up in the transaction.
    """

    stage: Stage
    epoch: int
    transaction: int
    sequences: tuple[int, ...]
    added: tuple[int, ...] = ()
    sent: tuple[int, ...] = ()
    unanswered: Request | None = None
    is_unsure: bool = False


# Producers, after what they sent or were told.


def given_up(producer: Producer) -> Producer:
    """Stop sending a batch: what became of it is not known, and its transaction has to be aborted."""
    return producer._replace(stage=Stage.MUST_ABORT, unanswered=None, is_unsure=True)


def at_end(producer: Producer) -> Producer:
    """Let a producer send no more; what it knew does not matter then."""
    return Producer(Stage.ENDED, -1, producer.transaction, ())


def added(producer: Producer, request: AddPartitionToTxn, answer: Answer) -> Producer:
    """Take the answer to AddPartitionsToTxn."""
    if answer.error:
        return at_end(producer)
    return producer._replace(stage=Stage.SENDS, added=tuple(sorted((*producer.added, request.partition))))


# Words.


def name_of(index: int) -> str:
    """Return what the first producer, or one that took the id over, is called."""
    return "the producer" if index == 0 else f"producer {index + 1}"


def told(answer: Answer) -> str:
    """Return the error of an answer, to stand behind its request."""
    return f": {answer.error.name}" if answer.error else ""


def worded(request: Request) -> str:
    """Return a request in words."""
    if isinstance(request, InitProducerId):
        return "InitProducerId" if request.expected is None else f"InitProducerId after epoch {request.expected}"
    if isinstance(request, AddPartitionToTxn):
        return f"AddPartitionsToTxn {request.partition} in epoch {request.epoch}"
    if isinstance(request, EndTxn):
        return f"EndTxn {_way(request.commits)} in epoch {request.epoch}"
    if isinstance(request, WriteTxnMarker):
        return f"marker {_way(request.commits)} for partition {request.partition} in epoch {request.epoch}"
    record = request.record
    return (
        f"record {record.transaction + 1} to partition {record.partition}"
        f" with sequence {request.sequence} in epoch {request.epoch}"
    )


def _way(commits: bool) -> str:  # noqa: FBT001 - of a request
    return "commit" if commits else "abort"
