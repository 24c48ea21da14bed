"""What does a coordinator answer in each state, by the rules of each release?"""

from __future__ import annotations

import pytest

from oracle.error_codes import ErrorCode
from oracle.rules.transactions import transaction_rules
from oracle.transactions import coordinator as coordinators
from oracle.transactions.state import (
    NO_EPOCH,
    AddPartitionToTxn,
    Answer,
    Coordinator,
    EndTxn,
    InitProducerId,
    TxnPhase,
    WriteTxnMarker,
)

OLD, NEW = transaction_rules("3.9.2"), transaction_rules("4.4.0")
FIRST_2 = transaction_rules("4.0.0")
CONCURRENT = Answer(ErrorCode.CONCURRENT_TRANSACTIONS)
INVALID_STATE = Answer(ErrorCode.INVALID_TXN_STATE)
FENCED = Answer(ErrorCode.PRODUCER_FENCED)
OK = Answer()
ONGOING = Coordinator(TxnPhase.ONGOING, epoch=3, partitions=(0, 1))


def test_a_producer_begins_with_epoch_0_and_the_next_one_with_1() -> None:
    first, answer = coordinators.init_producer_id(Coordinator(), OLD, InitProducerId(None))
    assert (answer, first.epoch, first.phase) == (Answer(epoch=0), 0, TxnPhase.EMPTY)
    second, answer = coordinators.init_producer_id(first, OLD, InitProducerId(None))
    assert (answer.epoch, second.last_epoch) == (1, NO_EPOCH)


def test_a_producer_goes_on_in_its_next_epoch_and_may_ask_twice() -> None:
    had = Coordinator(TxnPhase.COMPLETE_ABORT, epoch=4)
    bumped, answer = coordinators.init_producer_id(had, OLD, InitProducerId(4))
    assert (answer.epoch, bumped.last_epoch) == (5, 4)
    assert coordinators.init_producer_id(bumped, OLD, InitProducerId(4)) == (bumped, Answer(epoch=5))
    assert coordinators.init_producer_id(bumped, OLD, InitProducerId(3)) == (bumped, FENCED)


@pytest.mark.parametrize("phase", [TxnPhase.PREPARE_COMMIT, TxnPhase.PREPARE_ABORT])
def test_nothing_begins_before_the_markers_are_written(phase: TxnPhase) -> None:
    prepared = Coordinator(phase, epoch=3, partitions=(1,))
    assert coordinators.init_producer_id(prepared, OLD, InitProducerId(None)) == (prepared, CONCURRENT)
    assert coordinators.add_partition(prepared, OLD, AddPartitionToTxn(3, 0)) == (prepared, CONCURRENT)
    assert coordinators.verify(prepared, OLD, AddPartitionToTxn(3, 1)) == CONCURRENT


@pytest.mark.parametrize(("rules", "epoch"), [(OLD, 4), (FIRST_2, 5), (NEW, 4)])
def test_a_transaction_under_way_is_aborted_for_the_next_producer(rules: object, epoch: int) -> None:
    """KAFKA-19367: the first release of version 2 takes two epochs."""
    fenced, answer = coordinators.init_producer_id(ONGOING, rules, InitProducerId(None))  # type: ignore[arg-type]
    assert (fenced.phase, fenced.epoch, fenced.partitions) == (TxnPhase.PREPARE_ABORT, epoch, (0, 1))
    assert answer == CONCURRENT


def test_partitions_are_added_once_and_verified() -> None:
    begun, answer = coordinators.add_partition(
        Coordinator(TxnPhase.COMPLETE_COMMIT, epoch=3), OLD, AddPartitionToTxn(3, 1)
    )
    assert (begun.phase, begun.partitions, answer) == (TxnPhase.ONGOING, (1,), OK)
    assert coordinators.add_partition(begun, OLD, AddPartitionToTxn(3, 1)) == (begun, OK)
    both, _ = coordinators.add_partition(begun, OLD, AddPartitionToTxn(3, 0))
    assert both.partitions == (0, 1)
    assert coordinators.verify(begun, OLD, AddPartitionToTxn(3, 1)) == OK
    assert coordinators.verify(begun, OLD, AddPartitionToTxn(3, 0)) == Answer(ErrorCode.TRANSACTION_ABORTABLE)
    assert coordinators.verify(begun, transaction_rules("3.6.2"), AddPartitionToTxn(3, 0)) == INVALID_STATE


def test_a_producer_of_another_epoch_is_fenced_by_the_name_of_the_release() -> None:
    assert coordinators.add_partition(ONGOING, OLD, AddPartitionToTxn(2, 0)) == (ONGOING, FENCED)
    old_name = Answer(ErrorCode.INVALID_PRODUCER_EPOCH)
    assert coordinators.end(ONGOING, transaction_rules("2.6.3"), EndTxn(2, commits=True)) == (ONGOING, old_name)


@pytest.mark.parametrize("commits", [True, False])
def test_an_end_is_answered_before_the_markers_are_written(commits: bool) -> None:
    prepared, answer = coordinators.end(ONGOING, OLD, EndTxn(3, commits=commits))
    assert (prepared.phase, prepared.epoch) == (
        (TxnPhase.PREPARE_ABORT, TxnPhase.PREPARE_COMMIT)[commits],
        3,
    )
    assert answer == Answer(epoch=3)
    assert coordinators.end(prepared, OLD, EndTxn(3, commits=commits)) == (prepared, CONCURRENT)
    assert coordinators.end(prepared, OLD, EndTxn(3, commits=not commits)) == (prepared, INVALID_STATE)
    complete = prepared
    for marker in coordinators.markers(prepared):
        complete = coordinators.marker_answered(complete, marker, OK)
    assert complete.phase is (TxnPhase.COMPLETE_ABORT, TxnPhase.COMPLETE_COMMIT)[commits]
    assert coordinators.end(complete, OLD, EndTxn(3, commits=commits)) == (complete, Answer(epoch=3))
    assert coordinators.end(complete, OLD, EndTxn(3, commits=not commits)) == (complete, INVALID_STATE)


def test_with_version_2_an_end_begins_the_next_epoch_and_is_known_when_it_comes_again() -> None:
    prepared, answer = coordinators.end(ONGOING, NEW, EndTxn(3, commits=True))
    assert (prepared.epoch, answer.epoch) == (4, 4)
    assert coordinators.end(prepared, NEW, EndTxn(3, commits=True)) == (prepared, CONCURRENT)
    complete = prepared._replace(phase=TxnPhase.COMPLETE_COMMIT, partitions=())
    assert coordinators.end(complete, NEW, EndTxn(3, commits=True)) == (complete, Answer(epoch=4))
    begun, _ = coordinators.add_partition(complete, NEW, AddPartitionToTxn(4, 0))
    assert coordinators.end(begun, NEW, EndTxn(3, commits=True)) == (begun, FENCED)


@pytest.mark.parametrize("phase", [TxnPhase.EMPTY, TxnPhase.COMPLETE_COMMIT, TxnPhase.COMPLETE_ABORT])
def test_with_version_2_an_abort_of_nothing_takes_an_epoch(phase: TxnPhase) -> None:
    had = Coordinator(phase, epoch=4, has_bumped=phase.is_complete)
    ended, answer = coordinators.end(had, NEW, EndTxn(4, commits=False))
    assert (ended.phase, ended.epoch, answer) == (TxnPhase.COMPLETE_ABORT, 5, Answer(epoch=5))
    if phase is TxnPhase.EMPTY:
        assert coordinators.end(had, OLD, EndTxn(4, commits=False)) == (had, INVALID_STATE)


@pytest.mark.parametrize("phase", [TxnPhase.EMPTY, TxnPhase.COMPLETE_COMMIT, TxnPhase.COMPLETE_ABORT])
def test_with_version_2_a_commit_of_nothing_is_no_transition(phase: TxnPhase) -> None:
    """A hunt found that no such producer is fenced: its epoch is the one that it was given last."""
    had = Coordinator(phase, epoch=4, has_bumped=phase.is_complete)
    assert coordinators.end(had, NEW, EndTxn(4, commits=True)) == (had, INVALID_STATE)


@pytest.mark.parametrize(
    ("version", "expected", "given"),
    [("3.9.2", 3, None), ("4.0.0", 3, None), ("4.0.0", 4, 5), ("4.4.0", 3, 4)],
)
def test_who_goes_on_while_its_transaction_is_open_gets_the_epoch_of_the_abort(
    version: str, expected: int, given: int | None
) -> None:
    """A hunt found it; where fencing takes two epochs the first one is nobody's."""
    rules = transaction_rules(version)
    request = InitProducerId(expected)
    aborted, answer = coordinators.init_producer_id(ONGOING, rules, request)
    assert answer == CONCURRENT
    complete = aborted._replace(phase=TxnPhase.COMPLETE_ABORT, partitions=())
    _, answer = coordinators.init_producer_id(complete, rules, request)
    assert answer == (FENCED if given is None else Answer(epoch=given))


def test_markers_are_of_the_epoch_and_the_coordinator_that_has_them_written() -> None:
    prepared = Coordinator(TxnPhase.PREPARE_ABORT, epoch=3, partitions=(0, 1), coordinator_epoch=7)
    assert coordinators.markers(prepared) == (WriteTxnMarker(3, 0, False, 7), WriteTxnMarker(3, 1, False, 7))
    assert coordinators.markers(ONGOING) == ()


def test_one_that_takes_over_has_every_marker_of_the_transaction_written() -> None:
    ended, _ = coordinators.end(Coordinator(TxnPhase.ONGOING, 3, partitions=(0, 1)), OLD, EndTxn(3, commits=True))
    first, second = coordinators.markers(ended)
    one_left = coordinators.marker_answered(ended, first, Answer())
    assert coordinators.markers(one_left) == (second,)
    taken = coordinators.fail_over(one_left)
    assert [(one.partition, one.coordinator_epoch) for one in coordinators.markers(taken)] == [(0, 1), (1, 1)]
    complete = coordinators.marker_answered(one_left, second, Answer())
    assert coordinators.markers(coordinators.fail_over(complete)) == ()


def test_a_coordinator_that_gave_up_goes_on_after_a_fail_over() -> None:
    """KAFKA-19999: how version 2 stood still where a marker was refused that had been written."""
    prepared = Coordinator(TxnPhase.PREPARE_COMMIT, epoch=3, partitions=(0,), logged=(0,))
    marker = coordinators.markers(prepared)[0]
    stuck = coordinators.marker_answered(prepared, marker, Answer(ErrorCode.INVALID_PRODUCER_EPOCH))
    assert (stuck.has_given_up, coordinators.markers(stuck)) == (True, ())
    assert coordinators.markers(coordinators.fail_over(stuck)) == (WriteTxnMarker(3, 0, True, 1),)
