"""Does a search of all orders find the known defects of transactions where they are, and nothing where they are not?"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import pytest

from oracle.explorer.model import Always, Exploration, SearchVerdict, Sometimes
from oracle.explorer.search import explore
from oracle.rules.transactions import transaction_rules
from oracle.transactions.model import KINDS, TransactionBounds, Transactions, TxnWorld
from oracle.transactions.properties import ALWAYS, SOMETIMES
from oracle.transactions.state import AddPartitionToTxn, EndTxn, InitProducerId, ProduceBatch, WriteTxnMarker

Bounds: TypeAlias = "tuple[tuple[str, object], ...]"
OF_ITS_END = frozenset({"NothingAbortedIsRead", "NothingCommittedIsMissing", "TransactionsAreAtomic"})
"""What a request breaks that ends, or joins, the next transaction."""
OPEN = frozenset({"OpenIsKnown"})
SOUND: frozenset[str] = frozenset()
LINES = (("0.11.0.3", None), ("2.4.1", None), ("3.5.2", None), ("3.9.2", None))
LEVELS = (("4.0.0", 2), ("4.1.2", 2), ("4.2.0", 2), ("4.4.0", 2), ("4.4.0", 1))
BEFORE_3_6 = ("0.11.0.3", "2.4.1", "3.5.2")


def searched(version: str, level: int | None, *names: str, **bounds: object) -> Exploration[TxnWorld]:
    model = Transactions(transaction_rules(version, level), TransactionBounds(**bounds))  # type: ignore[arg-type]
    return explore(model, [Always(name, ALWAYS[name]) for name in names])


@cache
def broken(version: str, level: int | None, bounds: Bounds) -> frozenset[str]:
    """Return the properties that do not hold."""
    if searched(version, level, *ALWAYS, **dict(bounds)).verdict is SearchVerdict.HOLDS:
        return SOUND
    found = {name: searched(version, level, name, **dict(bounds)) for name in ALWAYS}
    assert SearchVerdict.UNFINISHED not in {one.verdict for one in found.values()}
    return frozenset(name for name, one in found.items() if one.verdict is SearchVerdict.VIOLATED)


def late(kind: type[Any], **bounds: object) -> Bounds:
    return (("kinds", frozenset({kind})), *bounds.items())


@pytest.mark.parametrize(("version", "level"), [*LINES, *LEVELS])
def test_a_late_end_ends_the_next_transaction_unless_each_has_its_epoch(version: str, level: int | None) -> None:
    """KAFKA-17754; before the release that verifies, what it leaves behind may also be open for ever."""
    expected = SOUND if level == 2 else OF_ITS_END
    if version in BEFORE_3_6:
        expected = expected | OPEN
    assert broken(version, level, late(EndTxn)) == expected


@pytest.mark.parametrize(("version", "level"), [*LINES, *LEVELS])
def test_a_late_batch_is_open_for_ever_until_leaders_verify(version: str, level: int | None) -> None:
    """KIP-890 part 1: gone with 3.6, for clients that go on in another epoch."""
    found = broken(version, level, late(ProduceBatch))
    assert ("OpenIsKnown" in found) is (version in BEFORE_3_6)
    assert (found == SOUND) is (version[0] == "4" or version == "3.9.2")


@pytest.mark.parametrize(("version", "level"), [*LINES, *LEVELS])
def test_a_late_batch_joins_the_next_transaction_of_its_epoch(version: str, level: int | None) -> None:
    """KIP-890 part 2: verified as it is, the batch belongs to the transaction that goes on."""
    found = broken(version, level, late(ProduceBatch, reuses_sequences=True))
    assert (found >= OF_ITS_END) is (level != 2)


@pytest.mark.parametrize(("version", "level"), [*LINES, *LEVELS])
def test_a_late_marker_ends_the_next_transaction_unless_it_has_to_be_newer(version: str, level: int | None) -> None:
    """KIP-1228: also where every transaction has its epoch, as the marker is of the one that follows; gone with 4.2."""
    is_sound = level == 2 and version in ("4.2.0", "4.4.0")
    assert broken(version, level, late(WriteTxnMarker)) == (SOUND if is_sound else OF_ITS_END)


@pytest.mark.parametrize(("version", "level"), [*LINES, *LEVELS])
@pytest.mark.parametrize("kind", [InitProducerId, AddPartitionToTxn])
def test_no_other_late_request_breaks_anything(version: str, level: int | None, kind: type[Any]) -> None:
    assert broken(version, level, late(kind)) == SOUND


@pytest.mark.parametrize(("version", "level"), [*LINES, *LEVELS])
@pytest.mark.parametrize("what", ["fail_overs", "time_outs", "take_overs"])
def test_without_late_requests_everything_holds(version: str, level: int | None, what: str) -> None:
    assert broken(version, level, (("late", 0), (what, 1))) == SOUND


def test_who_would_go_on_after_another_has_taken_the_id_over_breaks_nothing() -> None:
    """It has given a batch up, and asks for its next epoch (KIP-360): it is fenced."""
    assert broken("3.9.2", None, late(ProduceBatch, transactions=3, partitions=1, take_overs=1)) == SOUND


@pytest.mark.parametrize(("version", "level"), [*LINES, *LEVELS])
def test_an_unclean_election_drops_a_marker_on_every_release(version: str, level: int | None) -> None:
    """KAFKA-20716: what is read no further was committed."""
    assert broken(version, level, (("late", 0), ("unclean", 1))) >= {"OpenIsKnown", "NothingCommittedIsMissing"}


PAIRS = (
    {"late": 2},
    {"late": 1, "fail_overs": 1},
    {"late": 1, "time_outs": 1},
    {"late": 1, "take_overs": 1},
    {"late": 0, "fail_overs": 2},
    {"late": 0, "fail_overs": 1, "take_overs": 1},
    {"late": 0, "time_outs": 1, "take_overs": 1},
)


@pytest.mark.parametrize("bounds", PAIRS, ids=str)
def test_the_newest_release_keeps_every_promise_in_pairs(bounds: dict[str, int]) -> None:
    """Two transactions of an id, two partitions, one record each; every pair of what may go wrong."""
    model = Transactions(transaction_rules("4.4.0"), TransactionBounds(**bounds))
    always = [Always(name, holds) for name, holds in ALWAYS.items()]
    seen = [Sometimes(name, holds) for name, holds in SOMETIMES.items() if bounds["late"] or "late" not in name]
    found = explore(model, always, seen)
    assert (found.verdict, found.never_seen) == (SearchVerdict.HOLDS, ())


DECIDING = {
    "batch-follows-the-last-one": {"NothingIsReadTwice"},
    "batch-of-older-epoch-is-refused": {"NothingAbortedIsRead", "TransactionsAreAtomic", "NothingIsReadTwice"},
    "request-of-another-epoch-is-refused": OF_ITS_END,
    "marker-of-older-epoch-is-refused": OF_ITS_END,
    "next-transaction-waits-for-markers": OPEN,
    "transaction-is-verified": OPEN,
    "every-transaction-ends-its-epoch": {"MarkersAreWritten"},
    "batch-of-next-epoch-waits": {"MarkersAreWritten"},
    "marker-begins-its-epoch": OF_ITS_END,
    "marker-may-be-written-again": {"MarkersAreWritten"},
}
"""The rules of 4.4.0 without which something breaks: with a late request and a fail-over, or another producer."""
DECIDES_NOTHING = {
    "marker-of-former-coordinator-is-refused",  # its marker is of an older producer epoch, or of the one that is open
    "fenced-producer-is-told-so",
    "leader-remembers-five-batches",
    "unknown-producer-is-taken",
    "unknown-producer-begins-anew",
    "unstable-offset-is-told",
    "producer-may-go-on-in-the-next-epoch",
    "offset-in-transaction-is-verified",
    "unverified-batch-is-abortable",
    "produce-adds-its-partition",
}
"""Those that say how an error is called, how many batches are remembered, or who asks: no promise hangs on them."""


@pytest.mark.parametrize("rule", sorted({*DECIDING, *DECIDES_NOTHING}))
def test_each_rule_of_the_newest_release_decides_what_is_said(rule: str) -> None:
    version = f"4.4.0~{rule}"
    found = broken(version, None, (("late", 1), ("fail_overs", 1))) | broken(
        version, None, (("late", 1), ("take_overs", 1))
    )
    assert found == DECIDING.get(rule, SOUND)


def test_every_rule_of_the_newest_release_was_left_out_once() -> None:
    assert {rule.name for rule in transaction_rules("4.4.0").rules} == {*DECIDING, *DECIDES_NOTHING}


def test_every_property_breaks_for_want_of_some_rule() -> None:
    assert frozenset().union(*DECIDING.values()) == set(ALWAYS)


def test_every_kind_of_request_can_be_late() -> None:
    assert {InitProducerId, AddPartitionToTxn, ProduceBatch, EndTxn, WriteTxnMarker} == KINDS


def test_the_shortest_way_to_half_a_transaction_is_told_in_words() -> None:
    found = searched("3.9.2", None, "NothingAbortedIsRead", kinds=frozenset({EndTxn}))
    assert [str(step.label) for step in found.path[1:]] == [
        "the producer sends InitProducerId",
        "the producer sends AddPartitionsToTxn 0 in epoch 0",
        "the producer sends record 1 to partition 0 with sequence 0 in epoch 0",
        "the producer: EndTxn commit in epoch 0 is late",
        "the producer sends EndTxn commit in epoch 0",
        "marker commit for partition 0 in epoch 0",
        "the producer sends AddPartitionsToTxn 0 in epoch 0",
        "the producer sends record 2 to partition 0 with sequence 1 in epoch 0",
        "late: EndTxn commit in epoch 0",
        "marker commit for partition 0 in epoch 0",
    ]
