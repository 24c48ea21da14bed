"""Is every rule of transactions noticed when it is taken away? By what brokers answer to a script, or by a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.rules.transactions import TABLE, transaction_rules
from oracle.transactions.script import (
    CommitOffset,
    Deliver,
    End,
    Initialise,
    MarkAgain,
    ReadOffset,
    ReadPartitions,
    Send,
    predict,
)

if TYPE_CHECKING:
    from oracle.transactions.script import TransactionAct

END = ReadPartitions("at the end")
A1 = (Initialise(), Send("a1"))
TAKEN_OVER = (*A1, Initialise(1), Send("a2"), End(commits=True), END)
AFTER_ITS_ABORT = (Initialise(), Send("a1", late="late"), End(commits=False), Deliver("late"), END)
SENT_AGAIN = (*A1, Send("a1", again=True), END)
LEFT_OUT = (*A1, Send("b1", 1, skips=3), END)
MARKED_AGAIN = (*A1, End(commits=True), MarkAgain(), END)
MARKED_LATE = (*A1, End(commits=True), Initialise(1), Send("b1", producer=1), MarkAgain(), END)
LATE_OFFSET = (
    Initialise(),
    CommitOffset(1, late="late"),
    End(commits=False),
    Deliver("late"),
    ReadOffset("at the end"),
)
NOTICED: dict[str, tuple[str, tuple[TransactionAct, ...]]] = {
    "batch-follows-the-last-one": ("3.9.2", SENT_AGAIN),
    "batch-of-older-epoch-is-refused": ("2.8.2", TAKEN_OVER),
    "request-of-another-epoch-is-refused": ("3.9.2", TAKEN_OVER),
    "marker-of-older-epoch-is-refused": ("3.9.2", MARKED_LATE),
    "fenced-producer-is-told-so": ("3.9.2", TAKEN_OVER),
    "unknown-producer-is-out-of-order": ("0.11.0.3", LEFT_OUT),
    "unknown-producer-is-told": ("1.1.1", LEFT_OUT),
    "unknown-producer-begins-anew": ("4.4.0", LEFT_OUT),
    "producer-may-go-on-in-the-next-epoch": ("3.9.2", (Initialise(), Initialise(1), Initialise(goes_on=True))),
    "unstable-offset-is-told": ("2.8.2", LATE_OFFSET),
    "transaction-is-verified": ("3.9.2", AFTER_ITS_ABORT),
    "offset-in-transaction-is-verified": ("3.9.2", LATE_OFFSET),
    "unverified-batch-is-abortable": ("3.9.2", AFTER_ITS_ABORT),
    "produce-adds-its-partition": ("4.4.0", A1),
    "every-transaction-ends-its-epoch": ("4.4.0", MARKED_AGAIN),
    "marker-begins-its-epoch": ("4.4.0", (*A1, End(commits=True), Send("a2"), MarkAgain(), END)),
    "marker-may-be-written-again": ("4.4.0", MARKED_AGAIN),
    "fencing-takes-two-epochs": ("4.0.0", TAKEN_OVER),
}
"""What notices that a rule is missing: a release that has it, and a script."""
ELSEWHERE = {
    "next-transaction-waits-for-markers": "test_found_by_searching: a script has markers written before its next act",
    "batch-of-next-epoch-waits": "likewise",
    "marker-of-former-coordinator-is-refused": "test_leader: no script has a coordinator fail over",
    "leader-remembers-one-batch": "test_leader: no script sends a batch again that is not the last one",
}
AS_ALL_DO = {"fenced-producer-has-an-invalid-epoch", "leader-remembers-five-batches", "unknown-producer-is-taken"}
"""Rules that change nothing of what releases do that have no row for it."""


@pytest.mark.parametrize("rule", sorted(NOTICED))
def test_brokers_without_a_rule_would_answer_otherwise(rule: str) -> None:
    version, acts = NOTICED[rule]
    assert predict(acts, transaction_rules(version)) != predict(acts, transaction_rules(f"{version}~{rule}"))


def test_every_rule_is_noticed_somewhere() -> None:
    assert {row.rule.name for row in TABLE} == {*NOTICED, *ELSEWHERE, *AS_ALL_DO}


@pytest.mark.parametrize("rule", sorted(AS_ALL_DO))
def test_a_rule_that_all_follow_changes_nothing(rule: str) -> None:
    version = "2.0.1" if rule == "fenced-producer-has-an-invalid-epoch" else "3.9.2"
    for _, acts in NOTICED.values():
        assert predict(acts, transaction_rules(version)) == predict(acts, transaction_rules(f"{version}~{rule}"))
