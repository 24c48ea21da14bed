"""What does the coordinator of a transactional id do? A function a request: state before, state after, and answer.

Each takes what the transaction log has, and what it returns is in the log: the coordinator answers once its log's
high watermark has passed the change, and one that takes over reads it from there.

Sources: TransactionCoordinator, TransactionMetadata, TransactionMarkerChannelManager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.error_codes import ErrorCode
from oracle.transactions.state import (
    COMPLETED_BY,
    NO_EPOCH,
    PREPARED_BY,
    AddPartitionToTxn,
    Answer,
    Coordinator,
    EndTxn,
    InitProducerId,
    TxnPhase,
    WriteTxnMarker,
)

if TYPE_CHECKING:
    from oracle.rules.transactions import TransactionRules

OK = Answer()
CONCURRENT = Answer(ErrorCode.CONCURRENT_TRANSACTIONS)
INVALID_STATE = Answer(ErrorCode.INVALID_TXN_STATE)
GIVES_UP = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED})
"""Answers to a marker after which the coordinator sends no more for the transaction."""


def init_producer_id(
    coordinator: Coordinator, rules: TransactionRules, request: InitProducerId
) -> tuple[Coordinator, Answer]:
    """Give the producer its epoch. A transaction that is under way is aborted first, and the producer asks again."""
    if coordinator.phase.is_prepared:
        return coordinator, CONCURRENT
    if coordinator.phase is TxnPhase.ONGOING:
        return fence(coordinator, rules), CONCURRENT
    expected = request.expected if rules.goes_on_in_next_epoch else None  # before, the request has no place for it
    if expected is not None and expected not in (coordinator.epoch, coordinator.last_epoch):
        return coordinator, Answer(rules.fenced)
    if expected is not None and expected != coordinator.epoch:
        begun = coordinator  # it asks again, as the answer has not reached it
    else:
        last = NO_EPOCH if expected is None else coordinator.epoch
        begun = coordinator._replace(epoch=coordinator.epoch + 1, last_epoch=last)
    return begun._replace(phase=TxnPhase.EMPTY, has_bumped=False), Answer(epoch=begun.epoch)


def fence(coordinator: Coordinator, rules: TransactionRules) -> Coordinator:
    """Abort a transaction that is under way, in an epoch that its producer does not have: for another, or in time.

    Where a transaction ends with its epoch, this one does so too: its producer may go on from it.
    """
    epoch = coordinator.epoch + (2 if rules.bumps_twice_to_fence else 1)
    return coordinator._replace(
        phase=TxnPhase.PREPARE_ABORT,
        epoch=epoch,
        last_epoch=epoch - 1 if rules.bumps_at_end else NO_EPOCH,
        has_bumped=rules.bumps_at_end,
        logged=coordinator.partitions,
    )


def add_partition(
    coordinator: Coordinator, rules: TransactionRules, request: AddPartitionToTxn
) -> tuple[Coordinator, Answer]:
    """Take a partition into the transaction, which begins with its first one."""
    refused = _refused(coordinator, rules, request.epoch)
    if refused is not None:
        return coordinator, refused
    had = coordinator.partitions if coordinator.phase is TxnPhase.ONGOING else ()
    partitions = had if request.partition in had else tuple(sorted((*had, request.partition)))
    return coordinator._replace(phase=TxnPhase.ONGOING, partitions=partitions, has_bumped=False), OK


def verify(coordinator: Coordinator, rules: TransactionRules, request: AddPartitionToTxn) -> Answer:
    """Say whether a partition is in the transaction."""
    refused = _refused(coordinator, rules, request.epoch)
    if refused is not None:
        return refused
    return OK if request.partition in coordinator.partitions else Answer(rules.not_in_transaction)


def _refused(coordinator: Coordinator, rules: TransactionRules, epoch: int) -> Answer | None:
    if rules.fences_requests and epoch != coordinator.epoch:
        return Answer(rules.fenced)
    return CONCURRENT if rules.waits_for_markers and coordinator.phase.is_prepared else None


def end(coordinator: Coordinator, rules: TransactionRules, request: EndTxn) -> tuple[Coordinator, Answer]:
    """Decide how the transaction ends, and answer before the markers are written."""
    phase = coordinator.phase
    ends_nothing = rules.bumps_at_end and _has_no_transaction(coordinator, request.epoch)
    if ends_nothing and request.commits:
        return coordinator, INVALID_STATE
    if rules.fences_requests and not ends_nothing and not _is_epoch_to_end(coordinator, request.epoch):
        return coordinator, Answer(rules.fenced)
    if phase is TxnPhase.ONGOING or ends_nothing:
        epoch = coordinator.epoch + rules.bumps_at_end
        prepared = coordinator._replace(
            phase=PREPARED_BY[request.commits],
            epoch=epoch,
            last_epoch=coordinator.epoch if rules.bumps_at_end else coordinator.last_epoch,
            has_bumped=rules.bumps_at_end,
            logged=coordinator.partitions,
        )
        return completed(prepared), Answer(epoch=epoch)
    if phase is COMPLETED_BY[request.commits]:
        return coordinator, Answer(epoch=coordinator.epoch)
    return coordinator, CONCURRENT if phase is PREPARED_BY[request.commits] else INVALID_STATE


def _has_no_transaction(coordinator: Coordinator, epoch: int) -> bool:
    return epoch == coordinator.epoch and (coordinator.phase is TxnPhase.EMPTY or coordinator.phase.is_complete)


def _is_epoch_to_end(coordinator: Coordinator, epoch: int) -> bool:
    """Return whether a request is of the transaction: where that has ended with an epoch, of the one before."""
    return epoch == coordinator.epoch - coordinator.has_bumped


# What the coordinator does by itself.


def markers(coordinator: Coordinator) -> tuple[WriteTxnMarker, ...]:
    """Return the markers that are still to be written."""
    if not coordinator.phase.is_prepared or coordinator.has_given_up:
        return ()
    commits = coordinator.phase is TxnPhase.PREPARE_COMMIT
    return tuple(
        WriteTxnMarker(coordinator.epoch, partition, commits, coordinator.coordinator_epoch)
        for partition in coordinator.partitions
    )


def marker_answered(coordinator: Coordinator, marker: WriteTxnMarker, answer: Answer) -> Coordinator:
    """Take a leader's answer to a marker."""
    if answer.error in GIVES_UP:
        return coordinator._replace(has_given_up=True)
    left = tuple(partition for partition in coordinator.partitions if partition != marker.partition)
    return completed(coordinator._replace(partitions=left))


def completed(coordinator: Coordinator) -> Coordinator:
    """Complete the transaction once every marker is written."""
    if coordinator.partitions:
        return coordinator
    return coordinator._replace(phase=COMPLETED_BY[coordinator.phase is TxnPhase.PREPARE_COMMIT], logged=())


def fail_over(coordinator: Coordinator) -> Coordinator:
    """Let another broker take over: it reads the transaction log, and has every marker of the transaction written."""
    to_mark = coordinator.logged if coordinator.phase.is_prepared else coordinator.partitions
    return coordinator._replace(
        coordinator_epoch=coordinator.coordinator_epoch + 1, has_given_up=False, partitions=to_mark
    )
