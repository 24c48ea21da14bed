"""What does a leader append, and what does it answer, by the rules of each release? And what do consumers see?"""

from __future__ import annotations

import pytest

from oracle.error_codes import ErrorCode
from oracle.rules.transactions import transaction_rules
from oracle.transactions import leader as leaders
from oracle.transactions.state import (
    NO_SEQUENCE,
    Answer,
    Coordinator,
    PartitionLog,
    ProduceBatch,
    ProducerEntry,
    Record,
    TxnBatch,
    TxnPhase,
    WriteTxnMarker,
)

OLD, NEW = transaction_rules("3.9.2"), transaction_rules("4.4.0")
UNVERIFIED = transaction_rules("2.8.2")
OK = Answer()
FIRST, SECOND = Record(0, 0), Record(1, 0)
ONGOING = Coordinator(TxnPhase.ONGOING, epoch=3, partitions=(0,))


def written(*sequences: int, epoch: int = 3, remembers: int = 5) -> PartitionLog:
    batches = tuple(TxnBatch(epoch, sequence, Record(0, 0)) for sequence in sequences)
    return PartitionLog(batches, ProducerEntry(epoch, sequences[-remembers:], is_open=True))


@pytest.mark.parametrize(
    ("version", "sequence", "error"),
    [
        ("0.11.0.3", 0, ErrorCode.NONE),
        ("0.11.0.3", 7, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        ("1.0.0", 7, ErrorCode.UNKNOWN_PRODUCER_ID),
        ("2.4.1", 7, ErrorCode.UNKNOWN_PRODUCER_ID),
        ("2.5.0", 7, ErrorCode.NONE),
        ("4.4.0", 7, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
    ],
)
def test_the_first_batch_of_a_producer(version: str, sequence: int, error: ErrorCode) -> None:
    log, answer = leaders.append(PartitionLog(), transaction_rules(version), ProduceBatch(0, sequence, FIRST))
    assert (answer.error, len(log.batches)) == (error, int(not error))


@pytest.mark.parametrize(
    ("epoch", "sequence", "error"),
    [
        (3, 2, ErrorCode.NONE),
        (3, 3, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (4, 0, ErrorCode.NONE),
        (4, 2, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (2, 2, ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
def test_a_batch_follows_the_last_one_or_begins_an_epoch(epoch: int, sequence: int, error: ErrorCode) -> None:
    log, answer = leaders.append(written(0, 1), UNVERIFIED, ProduceBatch(epoch, sequence, SECOND))
    assert (answer.error, len(log.batches)) == (error, 3 if not error else 2)


@pytest.mark.parametrize(("version", "known"), [("0.11.0.3", 1), ("1.0.0", 5), ("4.4.0", 5)])
def test_a_batch_that_comes_again_is_answered_as_appended(version: str, known: int) -> None:
    """KAFKA-5494: one batch is remembered, or five."""
    rules = transaction_rules(version)
    log = written(0, 1, 2, 3, 4, 5, remembers=known)
    for sequence in range(6):
        after, answer = leaders.append(log, rules, ProduceBatch(3, sequence, SECOND))
        is_known = sequence > 5 - known
        assert after == log
        assert answer.error is (ErrorCode.NONE if is_known else ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)


def test_a_leader_remembers_as_many_batches_as_the_release_says() -> None:
    log = PartitionLog()
    for sequence in range(7):
        log, _ = leaders.append(log, OLD, ProduceBatch(0, sequence, FIRST))
    assert log.producer.sequences == (2, 3, 4, 5, 6)


def test_a_groups_offset_has_no_sequence_number() -> None:
    log, answer = leaders.append(written(0), OLD, ProduceBatch(3, NO_SEQUENCE, SECOND))
    assert (answer, log.producer.sequences) == (OK, (0,))


def test_from_36_on_a_transaction_is_begun_only_where_the_coordinator_knows_of_it() -> None:
    request = ProduceBatch(3, 0, FIRST)
    elsewhere = ONGOING._replace(partitions=(1,))
    log, _, answer = leaders.produce(PartitionLog(), elsewhere, OLD, request)
    assert (log, answer.error) == (PartitionLog(), ErrorCode.TRANSACTION_ABORTABLE)
    assert leaders.produce(PartitionLog(), ONGOING, OLD, request)[2] == OK
    assert leaders.produce(PartitionLog(), elsewhere, UNVERIFIED, request)[2] == OK


def test_with_version_2_the_leader_has_its_partition_added() -> None:
    empty = Coordinator(TxnPhase.EMPTY, epoch=3)
    log, coordinator, answer = leaders.produce(PartitionLog(), empty, NEW, ProduceBatch(3, 0, FIRST))
    assert (answer, coordinator.phase, coordinator.partitions) == (OK, TxnPhase.ONGOING, (0,))
    assert len(log.batches) == 1


def test_with_version_2_a_batch_of_the_next_epoch_waits() -> None:
    """KAFKA-18575: what is open of the last epoch is not gone on with."""
    log, _, answer = leaders.produce(written(0), ONGOING._replace(epoch=4), NEW, ProduceBatch(4, 0, SECOND))
    assert (log, answer.error) == (written(0), ErrorCode.CONCURRENT_TRANSACTIONS)


@pytest.mark.parametrize(
    ("version", "epoch", "coordinator_epoch", "error"),
    [
        ("3.9.2", 3, 5, ErrorCode.NONE),
        ("3.9.2", 2, 5, ErrorCode.INVALID_PRODUCER_EPOCH),
        ("3.9.2", 4, 4, ErrorCode.TRANSACTION_COORDINATOR_FENCED),
        ("4.1.0", 3, 5, ErrorCode.NONE),
        ("4.2.0", 3, 5, ErrorCode.INVALID_PRODUCER_EPOCH),
        ("4.2.0", 4, 5, ErrorCode.NONE),
    ],
)
def test_a_marker_is_of_no_older_epoch(version: str, epoch: int, coordinator_epoch: int, error: ErrorCode) -> None:
    had = written(0, 1)
    log = had._replace(producer=had.producer._replace(coordinator_epoch=5))
    request = WriteTxnMarker(epoch, 0, commits=True, coordinator_epoch=coordinator_epoch)
    after, answer = leaders.write_marker(log, transaction_rules(version), request)
    assert (answer.error, after.producer.is_open) == (error, bool(error))


def test_a_marker_may_be_written_again_where_nothing_is_open() -> None:
    request = WriteTxnMarker(4, 0, commits=True, coordinator_epoch=0)
    once, _ = leaders.write_marker(written(0), NEW, request)
    twice, answer = leaders.write_marker(once, NEW, request)
    assert (answer, len(twice.batches)) == (OK, 3)
    refused = leaders.write_marker(once, transaction_rules("4.2.0~marker-may-be-written-again"), request)
    assert refused == (once, Answer(ErrorCode.INVALID_PRODUCER_EPOCH))


def test_sequences_go_on_after_a_marker_of_their_epoch_and_begin_anew_after_another() -> None:
    same, _ = leaders.write_marker(written(0, 1), OLD, WriteTxnMarker(3, 0, True, 0))
    assert leaders.append(same, OLD, ProduceBatch(3, 2, SECOND))[1] == OK
    other, _ = leaders.write_marker(written(0, 1), OLD, WriteTxnMarker(4, 0, False, 0))
    assert leaders.append(other, OLD, ProduceBatch(4, 0, SECOND))[1] == OK
    assert leaders.append(other, OLD, ProduceBatch(4, 2, SECOND))[1].error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_what_a_leader_knows_after_an_unclean_election_is_what_its_log_says() -> None:
    ended, _ = leaders.write_marker(written(0, 1), OLD, WriteTxnMarker(3, 0, True, 0))
    assert leaders.cut(ended, len(ended.batches) - 1) == written(0, 1)


def test_consumers_see_what_is_committed_below_the_open_transaction() -> None:
    marker = TxnBatch(3, NO_SEQUENCE, None, commits=True)
    aborts = marker._replace(commits=False)
    first, second, third = (TxnBatch(3, number, Record(number, 0)) for number in range(3))
    batches = (first, marker, second, aborts, third)
    assert leaders.last_stable_offset(batches) == 4
    assert leaders.read_committed(batches) == (Record(0, 0),)
    assert leaders.outcomes(batches) == {Record(0, 0): (True,), Record(1, 0): (False,)}
    assert leaders.last_stable_offset((*batches, marker)) == 6
    assert leaders.read_committed((*batches, marker)) == (Record(0, 0), Record(2, 0))
