"""What does the leader of a partition do with a transactional producer's batches, and with markers?

Sources: ProducerAppendInfo, ProducerStateManager, UnifiedLog; ReplicaManager asks the coordinator (KIP-890).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from oracle.error_codes import ErrorCode
from oracle.transactions import coordinator as coordinators
from oracle.transactions.state import (
    NO_EPOCH,
    NO_SEQUENCE,
    AddPartitionToTxn,
    Answer,
    EndTxn,
    InitProducerId,
    PartitionLog,
    ProduceBatch,
    ProducerEntry,
    TxnBatch,
    WriteTxnMarker,
    put,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oracle.rules.transactions import TransactionRules
    from oracle.transactions.state import Coordinator, Record, Request

OK = Answer()
INVALID_EPOCH = Answer(ErrorCode.INVALID_PRODUCER_EPOCH)


def produce(
    log: PartitionLog, coordinator: Coordinator, rules: TransactionRules, request: ProduceBatch
) -> tuple[PartitionLog, Coordinator, Answer]:
    """Append a batch, or refuse it; the coordinator may be asked first, and adds the partition then (KIP-890)."""
    entry = log.producer
    if rules.waits_for_last_epoch and entry.is_open and entry.epoch < request.epoch:
        return log, coordinator, Answer(ErrorCode.CONCURRENT_TRANSACTIONS)
    verifies = rules.verifies if request.sequence != NO_SEQUENCE else rules.verifies_offsets
    if verifies and not entry.is_open:
        question = AddPartitionToTxn(request.epoch, request.record.partition)
        if rules.adds_by_produce:
            coordinator, answer = coordinators.add_partition(coordinator, rules, question)
        else:
            answer = coordinators.verify(coordinator, rules, question)
        if answer.error:
            return log, coordinator, INVALID_EPOCH if answer.error is rules.fenced else answer
    log, answer = append(log, rules, request)
    return log, coordinator, answer


def append(log: PartitionLog, rules: TransactionRules, request: ProduceBatch) -> tuple[PartitionLog, Answer]:
    """Append a batch whose epoch and sequence number fit; one that is there already is answered as appended."""
    entry = log.producer
    if rules.checks_sequences and request.epoch == entry.epoch and request.sequence in entry.sequences:
        return log, OK
    error = _refusal(entry, rules, request)
    if error is not None:
        return log, Answer(error)
    kept = entry.sequences if request.epoch == entry.epoch else ()
    sequences = kept if request.sequence == NO_SEQUENCE else (*kept, request.sequence)[-rules.remembers :]
    appended = entry._replace(epoch=request.epoch, sequences=sequences, is_open=True)
    return PartitionLog((*log.batches, TxnBatch(request.epoch, request.sequence, request.record)), appended), OK


def _refusal(entry: ProducerEntry, rules: TransactionRules, request: ProduceBatch) -> ErrorCode | None:
    """Return why a batch is not appended, None if it is."""
    if rules.fences_batches and request.epoch < entry.epoch:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if request.sequence == NO_SEQUENCE or not rules.checks_sequences:
        return None
    if entry.epoch == NO_EPOCH:
        return rules.unknown_producer if request.sequence else None
    expected = entry.last_sequence + 1 if request.epoch == entry.epoch else 0
    return None if request.sequence == expected else ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def write_marker(log: PartitionLog, rules: TransactionRules, request: WriteTxnMarker) -> tuple[PartitionLog, Answer]:
    """Append a marker, which ends what the producer has open here, whichever transaction that is."""
    entry = log.producer
    is_known = request.epoch == entry.epoch
    may_be_again = rules.takes_marker_again and not entry.is_open
    if rules.marker_needs_newer_epoch and is_known and not may_be_again:
        return log, INVALID_EPOCH
    if rules.fences_markers and request.epoch < entry.epoch:
        return log, INVALID_EPOCH
    if rules.fences_coordinators and request.coordinator_epoch < entry.coordinator_epoch:
        return log, Answer(ErrorCode.TRANSACTION_COORDINATOR_FENCED)
    ended = ProducerEntry(
        request.epoch, entry.sequences if is_known else (), coordinator_epoch=request.coordinator_epoch
    )
    return PartitionLog((*log.batches, TxnBatch(request.epoch, NO_SEQUENCE, None, request.commits)), ended), OK


def delivered(
    coordinator: Coordinator, logs: tuple[PartitionLog, ...], rules: TransactionRules, request: Request
) -> tuple[Coordinator, tuple[PartitionLog, ...], Answer]:
    """Let a request reach who answers it, the coordinator or a leader; return what both know then, and the answer."""
    if isinstance(request, InitProducerId):
        coordinator, answer = coordinators.init_producer_id(coordinator, rules, request)
    elif isinstance(request, AddPartitionToTxn):
        coordinator, answer = coordinators.add_partition(coordinator, rules, request)
    elif isinstance(request, EndTxn):
        coordinator, answer = coordinators.end(coordinator, rules, request)
    elif isinstance(request, WriteTxnMarker):
        log, answer = write_marker(logs[request.partition], rules, request)
        logs = put(logs, request.partition, log)
    else:
        partition = request.record.partition
        log, coordinator, answer = produce(logs[partition], coordinator, rules, request)
        logs = put(logs, partition, log)
    return coordinator, logs, answer


def cut(log: PartitionLog, end: int) -> PartitionLog:
    """Elect a replica uncleanly whose log ends earlier: what it knows of the producer is what its log says."""
    return PartitionLog(log.batches[:end], _entry_of(log.batches[:end]))


def _entry_of(batches: tuple[TxnBatch, ...]) -> ProducerEntry:
    """Return what a leader reads of the producer from its log; the coordinator's epoch does not matter here."""
    entry = ProducerEntry()
    for batch in batches:
        kept = entry.sequences if batch.epoch == entry.epoch else ()
        added = (batch.sequence,) if batch.sequence != NO_SEQUENCE else ()
        entry = ProducerEntry(batch.epoch, (*kept, *added), batch.record is not None, entry.coordinator_epoch)
    return entry


# What consumers see.


@lru_cache(maxsize=1 << 16)
def outcomes(batches: tuple[TxnBatch, ...]) -> Mapping[Record, tuple[bool, ...]]:
    """Return of every record with a marker behind it, for each time that it is there, whether it commits."""
    decided: dict[Record, tuple[bool, ...]] = {}
    for record, commits in _ended(batches):
        decided[record] = (*decided.get(record, ()), commits)
    return decided


def _ended(batches: tuple[TxnBatch, ...]) -> Iterator[tuple[Record, bool]]:
    """Yield every record with a marker behind it, in order, and whether that commits."""
    pending: list[Record] = []
    for batch in batches:
        if batch.record is not None:
            pending.append(batch.record)
            continue
        yield from ((record, batch.commits) for record in pending)
        pending.clear()


def last_stable_offset(batches: tuple[TxnBatch, ...]) -> int:
    """Return the first offset of the transaction that is open, or the log's end: read_committed sees what is below."""
    end = len(batches)
    for offset in reversed(range(end)):
        if batches[offset].record is None:
            break
        end = offset
    return end


def read_committed(batches: tuple[TxnBatch, ...]) -> tuple[Record, ...]:
    """Return the records that a consumer with isolation.level read_committed is given, in order."""
    return tuple(record for record, commits in _ended(batches) if commits)
