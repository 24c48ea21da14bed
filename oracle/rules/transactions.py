"""Which release has which rules for transactions? One table, as for replication (``by_version``).

``transaction.version`` is a feature of the cluster from 4.0 on: 2 for new clusters, which has clients and brokers end
every transaction with a new epoch. Before, and with 0 or 1 from then on, an epoch lasts as long as its producer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from oracle.error_codes import ErrorCode
from oracle.rules.release import (
    WITH,
    WITHOUT,
    RuleKey,
    before,
    between,
    every_release,
    parse_version,
    plain_version,
    since,
    swap_text,
    swapped_rules,
)
from oracle.rules.rule import Rule
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TRANSACTION_FEATURE = "transaction.version"
TRANSACTION_VERSIONS = (0, 1, 2)
HAS_FEATURE = since("4.0.0")


@dataclass(frozen=True, slots=True)
class TransactionRules:
    """What a release does with transactions.

    Attributes:
        version: the release, with the rules that are swapped.
        transaction_version: level of the feature: 0 or 1 without epochs that move, 2 with them.
        fenced: error of a coordinator to a producer of another epoch.
        remembers: batches whose sequence numbers a leader remembers.
        unknown_producer: error to a first batch of a producer that does not begin with 0; None if it is taken.
        goes_on_in_next_epoch: a producer may ask for its next epoch, and so start its sequence numbers anew.
        tells_unstable_offsets: who asks for a group's offset may be told that it may still change.
        verifies: a leader asks the coordinator about a batch that would begin a transaction on its partition.
        verifies_offsets: a group's coordinator likewise, about an offset.
        not_in_transaction: what the leader answers if the coordinator does not know the partition.
        adds_by_produce: that question adds the partition; producers do not add it themselves.
        bumps_at_end: EndTxn begins the next epoch.
        waits_for_last_epoch: a leader takes no batch of the next epoch while a transaction of the last one is open.
        marker_needs_newer_epoch: a marker of the epoch that a leader knows already is refused.
        takes_marker_again: but not if no transaction is open, which is how a marker sent twice is known.
        bumps_twice_to_fence: a transaction that the coordinator ends itself takes two epochs.
        checks_sequences: a leader takes a batch only behind the producer's last one, and knows one that is sent again.
        fences_batches: a leader refuses a batch of an older epoch.
        fences_requests: a coordinator refuses a producer of another epoch.
        fences_markers: a leader refuses a marker of an older epoch.
        fences_coordinators: a leader refuses a marker of a coordinator that another has taken over from.
        waits_for_markers: no transaction begins before the markers of the last one are written.
        rules: every rule that the set names.
    """

    version: str
    transaction_version: int
    fenced: ErrorCode = ErrorCode.INVALID_PRODUCER_EPOCH
    remembers: int = 5
    unknown_producer: ErrorCode | None = None
    goes_on_in_next_epoch: bool = False
    tells_unstable_offsets: bool = False
    verifies: bool = False
    verifies_offsets: bool = False
    not_in_transaction: ErrorCode = ErrorCode.INVALID_TXN_STATE
    adds_by_produce: bool = False
    bumps_at_end: bool = False
    waits_for_last_epoch: bool = False
    marker_needs_newer_epoch: bool = False
    takes_marker_again: bool = False
    bumps_twice_to_fence: bool = False
    checks_sequences: bool = False
    fences_batches: bool = False
    fences_requests: bool = False
    fences_markers: bool = False
    fences_coordinators: bool = False
    waits_for_markers: bool = False
    rules: tuple[Rule, ...] = ()


SEQUENCES = Rule(
    "batch-follows-the-last-one",
    "KIP-98, ProducerAppendInfo.checkSequence",
    "A leader appends a batch only behind the producer's last one, and answers one that is there as appended.",
)
FENCED_BATCH = Rule(
    "batch-of-older-epoch-is-refused",
    "KIP-98, ProducerAppendInfo.checkProducerEpoch",
    "A leader refuses a batch whose producer epoch is older than the one that it knows.",
)
FENCED_REQUEST = Rule(
    "request-of-another-epoch-is-refused",
    "KIP-98, TransactionCoordinator",
    "A coordinator refuses a request whose producer epoch is not the one that it gave last.",
)
FENCED_MARKER = Rule(
    "marker-of-older-epoch-is-refused",
    "KIP-98, ProducerAppendInfo.appendEndTxnMarker",
    "A leader refuses a marker whose producer epoch is older than the one that it knows.",
)
FENCED_COORDINATOR = Rule(
    "marker-of-former-coordinator-is-refused",
    "KIP-98, ProducerAppendInfo.checkCoordinatorEpoch",
    "A leader refuses a marker of an older coordinator epoch than that of the last one.",
)
MARKERS_FIRST = Rule(
    "next-transaction-waits-for-markers",
    "KIP-98, TransactionCoordinator.handleAddPartitionsToTransaction",
    "A coordinator takes no partition into a transaction before all markers of the last one are written.",
)
FENCED_BY_OLD_NAME = Rule(
    "fenced-producer-has-an-invalid-epoch",
    "KIP-588, KAFKA-9911",
    "A coordinator answers a producer of another epoch that its epoch is invalid.",
)
FENCED_BY_NAME = Rule(
    "fenced-producer-is-told-so",
    "KIP-588, KAFKA-9911",
    "A coordinator answers a producer of another epoch that it is fenced.",
)
REMEMBERS_ONE = Rule(
    "leader-remembers-one-batch",
    "KAFKA-5494, ProducerIdEntry.isDuplicate",
    "A leader knows a batch that is sent again only if it was the producer's last one.",
)
REMEMBERS_FIVE = Rule(
    "leader-remembers-five-batches",
    "KAFKA-5494, ProducerStateEntry.NumBatchesToRetain",
    "A leader knows the producer's last five batches if they are sent again.",
)
UNKNOWN_IS_OUT_OF_ORDER = Rule(
    "unknown-producer-is-out-of-order",
    "ProducerAppendInfo.validateAppend",
    "A producer that a leader does not know has to begin with sequence number 0.",
)
UNKNOWN_IS_TOLD = Rule(
    "unknown-producer-is-told",
    "KAFKA-5793, ProducerAppendInfo.checkSequence",
    "A producer that a leader does not know, and that does not begin with 0, is told that it is not known.",
)
UNKNOWN_IS_TAKEN = Rule(
    "unknown-producer-is-taken",
    "KIP-360, ProducerAppendInfo.checkSequence",
    "A producer that a leader does not know may begin with any sequence number.",
)
UNKNOWN_BEGINS_ANEW = Rule(
    "unknown-producer-begins-anew",
    "KIP-890 part 2, ProducerAppendInfo.checkSequence",
    "As every transaction has its epoch, a producer that a leader does not know has to begin with 0 again.",
)
NEXT_EPOCH = Rule(
    "producer-may-go-on-in-the-next-epoch",
    "KIP-360, InitProducerId v3",
    "A producer that cannot tell what became of a batch asks for its next epoch and begins its sequences anew.",
)
UNSTABLE_IS_TOLD = Rule(
    "unstable-offset-is-told",
    "KIP-447, OffsetFetch v7",
    "Who asks for a group's stable offset is told to wait while a transaction may still change it.",
)
VERIFIED = Rule(
    "transaction-is-verified",
    "KIP-890 part 1, KAFKA-14402",
    "A batch that would begin a transaction on a partition is taken only if the coordinator knows of it.",
)
OFFSET_VERIFIED = Rule(
    "offset-in-transaction-is-verified",
    "KIP-890 part 1, GroupCoordinator.handleTxnCommitOffsets",
    "An offset that would begin a transaction on its group's partition is taken only if the coordinator knows of it.",
)
ABORTABLE = Rule(
    "unverified-batch-is-abortable",
    "KIP-890, KIP-1050, KAFKA-16513",
    "A batch that the coordinator does not know of ends its transaction only, if it came by Produce v11 or newer.",
)
ADDED_BY_PRODUCE = Rule(
    "produce-adds-its-partition",
    "KIP-890 part 2, AddPartitionsToTxn v4",
    "The leader has the coordinator add the partition of a batch to the transaction.",
)
NEW_EPOCH_AT_END = Rule(
    "every-transaction-ends-its-epoch",
    "KIP-890 part 2, EndTxn v5",
    "A transaction ends with the next producer epoch, in which its markers are written.",
)
LAST_EPOCH_FIRST = Rule(
    "batch-of-next-epoch-waits",
    "KAFKA-18575, UnifiedLog.hasOngoingTransaction",
    "A leader takes no batch of a newer epoch while a transaction of an older one is open on its partition.",
)
NEWER_MARKER = Rule(
    "marker-begins-its-epoch",
    "KIP-1228, ProducerAppendInfo.checkProducerEpoch",
    "A marker has to be of a newer epoch than all that its partition has of the producer.",
)
MARKER_AGAIN = Rule(
    "marker-may-be-written-again",
    "KAFKA-19999, ProducerAppendInfo.checkProducerEpoch",
    "A marker of the epoch that the partition knows is written again if no transaction is open there.",
)
FENCES_TWICE = Rule(
    "fencing-takes-two-epochs",
    "KAFKA-19367, TransactionCoordinator.endTransaction",
    "A transaction that its coordinator aborts itself takes one epoch to fence its producer and one to end.",
)


def having(**fields: Any) -> Callable[[TransactionRules], TransactionRules]:  # noqa: ANN401 - as dataclasses.replace
    """Return the change that sets fields of the rules; without any, what all have by default."""
    return lambda rules: replace(rules, **fields)


@dataclass(frozen=True, slots=True)
class TransactionRow:
    """One row of the table: a rule, the releases that have it, the least transaction.version, what it changes."""

    rule: Rule
    applies: Callable[[RuleKey], bool]
    change: Callable[[TransactionRules], TransactionRules]
    transaction_version: int = 0


TABLE: tuple[TransactionRow, ...] = (
    TransactionRow(SEQUENCES, every_release, having(checks_sequences=True)),
    TransactionRow(FENCED_BATCH, every_release, having(fences_batches=True)),
    TransactionRow(FENCED_REQUEST, every_release, having(fences_requests=True)),
    TransactionRow(FENCED_MARKER, every_release, having(fences_markers=True)),
    TransactionRow(FENCED_COORDINATOR, every_release, having(fences_coordinators=True)),
    TransactionRow(MARKERS_FIRST, every_release, having(waits_for_markers=True)),
    TransactionRow(FENCED_BY_OLD_NAME, before("2.7.0"), having()),
    TransactionRow(FENCED_BY_NAME, since("2.7.0"), having(fenced=ErrorCode.PRODUCER_FENCED)),
    TransactionRow(REMEMBERS_ONE, before("1.0.0"), having(remembers=1)),
    TransactionRow(REMEMBERS_FIVE, since("1.0.0"), having()),
    TransactionRow(
        UNKNOWN_IS_OUT_OF_ORDER, before("1.0.0"), having(unknown_producer=ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
    ),
    TransactionRow(UNKNOWN_IS_TOLD, between("1.0.0", "2.5.0"), having(unknown_producer=ErrorCode.UNKNOWN_PRODUCER_ID)),
    TransactionRow(UNKNOWN_IS_TAKEN, since("2.5.0"), having()),
    TransactionRow(
        UNKNOWN_BEGINS_ANEW, since("4.1.0"), having(unknown_producer=ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER), 2
    ),
    TransactionRow(NEXT_EPOCH, since("2.5.0"), having(goes_on_in_next_epoch=True)),
    TransactionRow(UNSTABLE_IS_TOLD, since("2.5.0"), having(tells_unstable_offsets=True)),
    TransactionRow(VERIFIED, since("3.6.0"), having(verifies=True)),
    TransactionRow(OFFSET_VERIFIED, since("3.7.0"), having(verifies_offsets=True)),
    TransactionRow(ABORTABLE, since("3.8.0"), having(not_in_transaction=ErrorCode.TRANSACTION_ABORTABLE)),
    TransactionRow(ADDED_BY_PRODUCE, HAS_FEATURE, having(adds_by_produce=True), 2),
    TransactionRow(NEW_EPOCH_AT_END, HAS_FEATURE, having(bumps_at_end=True), 2),
    TransactionRow(LAST_EPOCH_FIRST, HAS_FEATURE, having(waits_for_last_epoch=True), 2),
    TransactionRow(NEWER_MARKER, since("4.2.0"), having(marker_needs_newer_epoch=True), 2),
    TransactionRow(MARKER_AGAIN, since("4.2.0"), having(takes_marker_again=True), 2),
    TransactionRow(FENCES_TWICE, between("4.0.0", "4.0.1"), having(bumps_twice_to_fence=True), 2),
)
NAMES = frozenset(row.rule.name for row in TABLE)
FIRST = "0.11.0.0"
"""The first release with transactions (KIP-98)."""


def transaction_rules(version: str, transaction_version: int | None = None) -> TransactionRules:
    """Return the rules of a release, with those swapped that its name swaps.

    Args:
        version: such as 3.9.2, or ``4.1.2+marker-begins-its-epoch``.
        transaction_version: level of the feature; None for what new clusters have.

    Raises:
        ValueError: the release has no transactions, or not that version of them, or a rule cannot be swapped.
    """
    release = RuleKey(parse_version(version), MetadataMode.KRAFT, has_elr=False)
    if release.numbers < parse_version(FIRST):
        raise ValueError(f"Kafka {version} has no transactions: {FIRST} is the first release that has them (KIP-98)")
    level = _level(release, version, transaction_version)
    swapped = swapped_rules(version)
    rules = TransactionRules(version, level)
    for row in TABLE:
        has = row.applies(release) and level >= row.transaction_version
        if has != (row.rule.name in swapped):
            rules = replace(row.change(rules), rules=(*rules.rules, row.rule))
    _check_swapped(version, swapped, release, level)
    return rules


def rules_of(version: str) -> tuple[Rule, ...]:
    """Return the rules of a release with the transaction.version of new clusters; none where it has no transactions."""
    return transaction_rules(swaps_of(version)).rules if parse_version(version) >= parse_version(FIRST) else ()


def swaps_of(version: str) -> str:
    """Return a version with those swapped rules that are of transactions, and without the others."""
    swapped = {name: given for name, given in swapped_rules(version).items() if name in NAMES}
    return plain_version(version) + "".join(f"{WITH if given else WITHOUT}{name}" for name, given in swapped.items())


def one_transaction_rule_apart(rules: TransactionRules) -> dict[str, TransactionRules]:
    """Return the rule sets that differ in a single row, by the row's rule; rows that change nothing are left out."""
    found = {}
    for row in TABLE:
        sign = WITHOUT if row.rule in rules.rules else WITH
        try:
            other = transaction_rules(swap_text(rules.version, sign, row.rule.name), rules.transaction_version)
        except ValueError:
            continue  # a row of another transaction.version
        if replace(other, version=rules.version, rules=rules.rules) != rules:
            found[row.rule.name] = other
    return found


def _level(release: RuleKey, version: str, asked: int | None) -> int:
    """Return the level of transaction.version.

    Raises:
        ValueError: the release does not have the level that is asked for.
    """
    newest = 2 if HAS_FEATURE(release) else 0
    if asked is None:
        return newest
    if asked not in TRANSACTION_VERSIONS or asked > newest:
        levels = "0, 1 and 2" if newest else "0 alone: the feature came with 4.0"
        raise ValueError(f"Kafka {plain_version(version)} has no transaction.version {asked}; it has {levels}")
    return asked


def _check_swapped(version: str, swapped: Mapping[str, bool], release: RuleKey, level: int) -> None:
    """Check that what is given was missing, and what is taken away was there.

    Raises:
        ValueError: it was not so, or there is no such rule.
    """
    rows = {row.rule.name: row for row in TABLE}
    for name, is_given in swapped.items():
        if name not in rows:
            raise ValueError(f"{version}: there is no rule {name!r} of transactions; there are {', '.join(rows)}")
        has = rows[name].applies(release) and level >= rows[name].transaction_version
        if has == is_given:
            state = "has it already" if has else "does not have it"
            raise ValueError(f"{version}: {name} cannot be swapped: Kafka {plain_version(version)} {state}")
