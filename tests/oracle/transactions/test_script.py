"""Does a script play as the release's rules have it, and does each act say what it is?"""

from __future__ import annotations

import pytest

from oracle.rules.transactions import swaps_of, transaction_rules
from oracle.transactions.script import (
    TAKEN_OVER,
    Add,
    CommitOffset,
    Deliver,
    End,
    FailOver,
    Initialise,
    KillLeader,
    MarkAgain,
    ReadOffset,
    ReadPartitions,
    Send,
    TimeOut,
    predict,
)


def told(version: str, *acts: object, level: int | None = None) -> dict[str, object]:
    return dict(predict(acts, transaction_rules(version, level)))  # type: ignore[arg-type]


def last_look(answers: dict[str, object]) -> list[object]:
    return [value for what, value in answers.items() if "to read_committed" in what]


LATE = (Initialise(), Send("a1"), End(commits=False, late="first"), End(commits=False), Send("a2"))
LATE_ABORT = (*LATE, Deliver("first"), Send("b2", 1), End(commits=True), ReadPartitions("end"))


@pytest.mark.parametrize(
    ("version", "level", "read"),
    [("3.9.2", None, [[], ["b2"]]), ("4.4.0", 1, [[], ["b2"]]), ("4.4.0", None, [["a2"], ["b2"]])],
)
def test_a_late_abort_loses_what_was_acknowledged(version: str, level: int | None, read: list[object]) -> None:
    answers = told(version, *LATE_ABORT, level=level)
    assert last_look(answers) == read
    assert answers["3. the producer aborts, which is kept back as 'first': answer"] == "kept back"
    late = answers["6. what was kept back as 'first' arrives: answer"]
    assert late == ("PRODUCER_FENCED" if version == "4.4.0" and level is None else "NONE")
    assert answers["8. the producer commits: answer"] == ("epoch 2" if late != "NONE" else "NONE")


def test_a_partition_is_added_by_who_does_that() -> None:
    old, new = (told(version, Initialise(), Send("a1"), Add(1)) for version in ("3.9.2", "4.4.0"))
    assert set(old) - set(new) == {
        "2. the producer sends a1 to partition 0: answer to AddPartitionsToTxn",
        "3. the producer adds partition 1 to its transaction: answer",
    }
    assert len(told("3.9.2", Initialise(), Add(0), Send("a1"))) == 3


def test_a_producer_that_goes_on_begins_its_sequences_anew() -> None:
    acts = (Initialise(), Send("a1"), End(commits=False), Initialise(goes_on=True), Send("a2"), End(commits=True))
    answers = told("3.9.2", *acts, ReadPartitions("end"))
    assert answers["4. the producer asks for its next epoch: answer"] == "epoch 1"
    assert last_look(answers) == [["a2"], []]


def test_a_refused_request_changes_nothing() -> None:
    taken = (Initialise(), Send("a1"), Initialise(1), Send("a2"), End(commits=True), ReadPartitions("end"))
    answers = told("3.9.2", *taken)
    assert answers["4. the producer sends a2 to partition 0: answer"] == "INVALID_PRODUCER_EPOCH"
    assert answers["5. the producer commits: answer"] == "PRODUCER_FENCED"
    assert answers["6. both partitions are read: end: log of partition 0"] == ["a1", "ABORT"]
    assert told("3.9.2", Initialise(), End(commits=True))["2. the producer commits: answer"] == "INVALID_TXN_STATE"


def test_who_goes_on_too_late_is_fenced() -> None:
    acts = (Initialise(), Initialise(1), Initialise(goes_on=True))
    assert told("3.9.2", *acts)["3. the producer asks for its next epoch: answer"] == "PRODUCER_FENCED"
    assert told("3.9.2", Initialise(2, goes_on=True))["1. producer 3 asks for its next epoch: answer"] == "epoch 0"


def test_the_same_record_again_is_there_once() -> None:
    acts = (Initialise(), Send("a1"), Send("a2"), Send("a2", again=True), Send("a3", skips=2), End(commits=True))
    answers = told("3.9.2", *acts, ReadPartitions("end"))
    assert answers["4. the producer sends a2 to partition 0 with the sequence number of the last one: answer"] == "NONE"
    gap = answers["5. the producer sends a3 to partition 0, leaving out 2 sequence numbers: answer"]
    assert gap == "OUT_OF_ORDER_SEQUENCE_NUMBER"
    assert last_look(answers) == [["a1", "a2"], []]


@pytest.mark.parametrize(("version", "answer"), [("4.1.2", "NONE"), ("4.4.0", "INVALID_PRODUCER_EPOCH")])
def test_a_marker_again_is_of_the_partition_that_it_was_written_to(version: str, answer: str) -> None:
    acts = (Initialise(), Send("a1"), Send("b1", 1), End(commits=True), Send("b2", 1), MarkAgain(1), MarkAgain(0))
    answers = told(version, *acts, ReadPartitions("end"))
    assert answers["6. the last marker of partition 1 arrives again: answer"] == answer
    assert answers["7. the last marker of partition 0 arrives again: answer"] == "NONE"
    assert answers["8. both partitions are read: end: log of partition 0"] == ["a1", "COMMIT", "COMMIT"]


def test_an_offset_counts_once_its_transaction_has_committed() -> None:
    acts = (
        Initialise(),
        ReadOffset("at first"),
        CommitOffset(1),
        ReadOffset("open"),
        End(commits=True),
        ReadOffset("then"),
    )
    again = (CommitOffset(2), End(commits=False), ReadOffset("at last"))
    for version in ("3.9.2", "4.4.0"):
        answers = told(version, *acts, *again)
        told_in_order = [value for what, value in answers.items() if "is asked for" in what]
        assert told_in_order == ["no offset", "UNSTABLE_OFFSET_COMMIT", "1", "1"]


@pytest.mark.parametrize(
    ("version", "late", "then"),
    [
        ("3.6.2", "NONE", "UNSTABLE_OFFSET_COMMIT"),
        ("3.9.2", "TRANSACTION_ABORTABLE", "no offset"),
        ("4.4.0", "INVALID_PRODUCER_EPOCH", "no offset"),
    ],
)
def test_a_late_offset_may_change_for_ever_until_it_is_verified(version: str, late: str, then: str) -> None:
    acts = (Initialise(), Send("a1"), CommitOffset(1, late="offset"), End(commits=False), Deliver("offset"))
    answers = told(version, *acts, ReadOffset("end"))
    assert answers["5. what was kept back as 'offset' arrives: answer"] == late
    assert answers["6. the group's offset is asked for: end: answer"] == then


ENDING = (Initialise(), Send("a1"), Send("b1", 1), End(commits=True, late_marker="marker", fails_over=True))
AFTERWARDS = (Send("a2"), Deliver("marker"), End(commits=False), ReadPartitions("end"))


def test_a_coordinator_that_takes_over_writes_every_marker_and_the_former_one_s_is_refused() -> None:
    answers = told("3.9.2", *ENDING, *AFTERWARDS)
    assert answers["6. what was kept back as 'marker' arrives: answer"] == "TRANSACTION_COORDINATOR_FENCED"
    assert answers["8. both partitions are read: end: log of partition 0"] == ["a1", "COMMIT", "a2", "ABORT"]
    assert answers["8. both partitions are read: end: log of partition 1"] == ["b1", "COMMIT", "COMMIT"]


def test_without_its_rule_the_former_coordinator_s_marker_ends_the_next_transaction() -> None:
    rules = transaction_rules(swaps_of("3.9.2~marker-of-former-coordinator-is-refused"))
    assert last_look(dict(predict((*ENDING, *AFTERWARDS), rules)))[0] == ["a1", "a2"]


@pytest.mark.parametrize(("version", "again"), [("3.5.2", "NONE"), ("4.4.0", "INVALID_PRODUCER_EPOCH")])
def test_a_marker_whose_coordinator_heard_nothing_is_the_same_again(version: str, again: str) -> None:
    acts = (Initialise(), Send("a1"), End(commits=True, late_marker="marker"), Send("a2"), Deliver("marker"))
    assert told(version, *acts)["5. what was kept back as 'marker' arrives: answer"] == again


def test_a_coordinator_goes_on_with_what_is_open() -> None:
    answers = told("3.9.2", Initialise(), Send("a1"), FailOver(), End(commits=True), ReadPartitions("end"))
    assert answers["3. the broker that coordinates is killed: answer"] == TAKEN_OVER
    assert last_look(answers) == [["a1"], []]


def test_a_leader_that_takes_over_knows_the_sequence_numbers() -> None:
    acts = (Initialise(), Send("a1"), KillLeader(), Send("a1", again=True), Send("a2"), End(commits=True))
    answers = told("3.9.2", *acts, ReadPartitions("end"))
    assert answers["3. the leader of partition 0 is killed: answer"] == TAKEN_OVER
    assert last_look(answers) == [["a1", "a2"], []]


def test_a_transaction_that_lasts_too_long_is_aborted_and_its_producer_fenced() -> None:
    acts = (Initialise(timeout_s=2), Send("a1"), TimeOut(), End(commits=True), ReadPartitions("end"))
    answers = told("3.9.2", *acts)
    assert answers["3. the transaction has lasted too long: end of partition 0"] == "ABORT"
    assert answers["4. the producer commits: answer"] == "PRODUCER_FENCED"
    assert last_look(answers) == [[], []]
    assert dict(predict((Initialise(), TimeOut()), transaction_rules("3.9.2"))).keys() == {
        "1. the producer asks for an epoch: answer"
    }
