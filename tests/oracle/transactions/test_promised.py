"""Is the promise of transactions the same on all releases, and is each way to break it told?"""

from __future__ import annotations

import pytest

from conformance.examining import transaction_scripts as scripts
from conformance.examining.transaction_scripts import TransactionScript
from oracle.rules.transactions import transaction_rules
from oracle.transactions.promised import MISSING, PROMISED, STUCK, UNASKED, PromisedRecords
from oracle.transactions.script import predict

KEPT = {MISSING: [], UNASKED: [], STUCK: []}
ALL = {name: one for name, one in vars(scripts).items() if isinstance(one, TransactionScript)}


def broken(script: TransactionScript, version: str) -> dict[str, object]:
    level = script.level if version[0] == "4" else None
    told = dict(predict(script.acts, transaction_rules(version, level)))
    return {what: value for what, value in told.items() if what.startswith(PROMISED)}


@pytest.mark.parametrize(
    ("name", "version", "what"),
    [
        ("LATE_ABORT", "3.9.2", {MISSING: ["a2"]}),
        ("LATE_COMMIT", "3.9.2", {UNASKED: ["a2"]}),
        ("LATE_COMMIT_VERSION_1", "4.4.0", {UNASKED: ["a2"]}),
        ("HANGS", "3.5.2", {STUCK: [0]}),
        ("JOINS", "3.9.2", {MISSING: ["a2"], UNASKED: ["a1"]}),
        ("LATE_MARKER", "4.1.2", {UNASKED: ["a2"]}),
        ("MARKER_LOST", "4.4.0", {MISSING: ["a1"], STUCK: [0]}),
    ],
)
def test_what_a_defect_breaks(name: str, version: str, what: dict[str, object]) -> None:
    assert broken(ALL[name], version) == KEPT | what


OPEN = {"MARKER_LOST"}
"""What breaks a promise on every release: KAFKA-20716."""


@pytest.mark.parametrize("name", sorted(ALL))
def test_the_newest_release_keeps_every_promise_with_what_new_clusters_have(name: str) -> None:
    if ALL[name].level is None:
        assert (broken(ALL[name], "4.4.0") == KEPT) == (name not in OPEN)
    assert len(broken(ALL[name], "4.4.0")) == len(KEPT)


def test_a_transaction_that_goes_on_may_be_read_no_further() -> None:
    records = PromisedRecords()
    records.began(0)
    records.sent(0, "a1", is_acknowledged=True)
    assert dict(records.held_against([], [(0, 1)])) == KEPT
    records.ended(0, commits=True, is_told=False)
    assert dict(records.held_against([], [(0, 1)])) == KEPT
    assert dict(records.held_against(["a1"], [(2, 2)])) == KEPT
    records.ended(0, commits=True, is_told=True)
    assert dict(records.held_against([], [(0, 1)])) == {MISSING: ["a1"], UNASKED: [], STUCK: [0]}


def test_what_another_producer_has_left_behind_does_not_go_on() -> None:
    records = PromisedRecords()
    records.began(0)
    records.sent(0, "a1", is_acknowledged=True)
    records.began(1)
    assert dict(records.held_against(["a1"], [(0, 1)])) == {MISSING: [], UNASKED: ["a1"], STUCK: [0]}


def test_a_record_that_was_never_acknowledged_may_be_missing() -> None:
    records = PromisedRecords()
    records.began(0)
    records.sent(0, "a1", is_acknowledged=False)
    records.ended(0, commits=True, is_told=True)
    assert dict(records.held_against([], [(1, 1)])) == KEPT
