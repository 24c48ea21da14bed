"""How does ``explore --model Transactions`` search exactly-once? One release, and how much may go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.commands.choosing import Choice, rules_of
from conformance.commands.parser import given, whole_number
from fault_injection.releases import UsageError
from oracle.explorer.model import Always, SearchSubject, Sometimes
from oracle.rules.release import plain_version
from oracle.rules.transactions import TRANSACTION_VERSIONS, transaction_rules
from oracle.transactions.model import KINDS, TransactionBounds, Transactions
from oracle.transactions.producers import worded
from oracle.transactions.properties import ALWAYS, SOMETIMES
from oracle.transactions.state import AddPartitionToTxn, EndTxn, InitProducerId, ProduceBatch, WriteTxnMarker

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from oracle.rules.transactions import TransactionRules
    from oracle.transactions.model import TxnWorld
    from oracle.transactions.producers import Producer
    from oracle.transactions.state import Request, TxnBatch

NAMES = ("Transactions",)
AMOUNTS = (
    ("--transactions", "transactions", 1, "transactions begun"),
    ("--partitions", "partitions", 1, "partitions, each with a record a transaction"),
    ("--late", "late", 0, "requests that are delivered after their sender has stopped waiting"),
    ("--fail-overs", "fail_overs", 0, "times that another broker becomes coordinator"),
    ("--time-outs", "time_outs", 0, "transactions that last too long"),
    ("--take-overs", "take_overs", 0, "producers that begin with the id while another has it"),
    ("--unclean-elections", "unclean", 0, "leaders elected without the last batch"),
)
"""Options that count: what the bound is called, its least value, and what is counted."""
OPTIONS = (
    "--kafka",
    "--transaction-version",
    *(option for option, *_ in AMOUNTS),
    "--late-requests",
    "--reuse-sequences",
)
"""What this model reads; each is None where it is not given."""
LATE_REQUESTS: Mapping[str, type[Request]] = {
    "AddPartitionsToTxn": AddPartitionToTxn,
    "EndTxn": EndTxn,
    "InitProducerId": InitProducerId,
    "Produce": ProduceBatch,
    "WriteTxnMarkers": WriteTxnMarker,
}
"""Requests by the names that the protocol has for them."""
SAME_PARTITIONS = "Transactions has no symmetry to use; leave --symmetry out"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that only this model reads."""
    usual = TransactionBounds()
    options = parser.add_argument_group("model Transactions", "one transactional id, request by request")
    options.add_argument(
        "--transaction-version",
        type=int,
        choices=TRANSACTION_VERSIONS,
        help="level of the feature (default: what new clusters of the release have)",
    )
    for option, bound, least, what in AMOUNTS:
        amount = whole_number(least, 9)
        options.add_argument(option, type=amount, metavar="N", help=f"{what} (default: {getattr(usual, bound)})")
    options.add_argument(
        "--late-requests",
        nargs="+",
        choices=tuple(LATE_REQUESTS),
        metavar="R",
        help=f"which can be late, of {', '.join(LATE_REQUESTS)} (default: all)",
    )
    options.add_argument(
        "--reuse-sequences",
        action="store_const",
        const=True,
        help="producers that give a batch up go on in their epoch, as clients before 2.5 do",
    )


def subject(parsed: argparse.Namespace) -> SearchSubject[TxnWorld]:
    """Return what to search.

    Raises:
        UsageError: the release has no transactions, or not that version of them, or symmetry is asked for.
    """
    if parsed.symmetry:
        raise UsageError(SAME_PARTITIONS)
    rules = _rules(parsed.kafka or "newest", parsed.transaction_version)
    bounds = bounds_of(parsed)
    cannot = {"two transactions committed": bounds.transactions < 2, "a late request delivered": not bounds.late}
    cannot["records of two partitions committed"] = bounds.partitions < 2
    return SearchSubject(
        Transactions(rules, bounds),
        _constants(rules, bounds),
        tuple(Always(name, holds) for name, holds in ALWAYS.items()),
        lines,
        lambda world: list(lines(world)),
        sometimes=tuple(Sometimes(name, seen) for name, seen in SOMETIMES.items() if not cannot.get(name)),
    )


def _rules(kafka: str, level: int | None) -> TransactionRules:
    """Return the rules of a release; its name may swap rules of transactions."""
    plain = plain_version(kafka)
    release = rules_of(Choice(kafka=plain, metadata=None)).version
    try:
        return transaction_rules(release + kafka.removeprefix(plain), level)  # a rule of replication is refused here
    except ValueError as mistake:
        raise UsageError(str(mistake)) from None


def bounds_of(parsed: argparse.Namespace) -> TransactionBounds:
    """Return within which bounds is searched."""
    value = given(parsed)
    chosen = {bound: amount for option, bound, *_ in AMOUNTS if (amount := value(option)) is not None}
    kinds = frozenset(LATE_REQUESTS[name] for name in parsed.late_requests) if parsed.late_requests else KINDS
    return TransactionBounds(**chosen, kinds=kinds, reuses_sequences=bool(parsed.reuse_sequences))


def _constants(rules: TransactionRules, bounds: TransactionBounds) -> dict[str, object]:
    amounts = {bound: getattr(bounds, bound) for _, bound, *_ in AMOUNTS}
    kinds = [name for name, kind in LATE_REQUESTS.items() if kind in bounds.kinds]
    return {
        "kafka": rules.version,
        "transaction_version": rules.transaction_version,
        **amounts,
        "late_requests": kinds,
        "reuses_sequences": bounds.reuses_sequences,
    }


def lines(world: TxnWorld) -> Iterator[str]:
    """Tell a state: the coordinator, the logs, the producers, what is late, what was promised."""
    coordinator = world.coordinator
    partitions = f", partitions {', '.join(map(str, coordinator.partitions))}" if coordinator.partitions else ""
    phase = coordinator.phase.name.lower().replace("_", " ")
    yield f"coordinator {coordinator.coordinator_epoch}: {phase}, producer epoch {coordinator.epoch}{partitions}"
    for partition, log in enumerate(world.logs):
        open_ = ", a transaction is open" if log.producer.is_open else ""
        yield f"partition {partition}: [{' '.join(map(_cell, log.batches))}]{open_}"
    for index, producer in enumerate(world.producers):
        yield f"producer {index + 1}: {_producer(producer)}"
    for request in world.late:
        yield f"late: {worded(request)}"
    told = [f"{number} {promise.name.lower()}" for number, promise in enumerate(world.promises, 1) if promise]
    if told:
        yield f"transactions: {', '.join(told).replace('_', ' ')}"


def _cell(batch: TxnBatch) -> str:
    if batch.record is None:
        return f"{'COMMIT' if batch.commits else 'ABORT'}/{batch.epoch}"
    return f"t{batch.record.transaction + 1}/{batch.epoch}"


def _producer(producer: Producer) -> str:
    stage = producer.stage.name.lower().replace("_", " ")
    begun = producer.transaction < 0 or producer.epoch < 0
    return stage if begun else f"{stage}, transaction {producer.transaction + 1} in epoch {producer.epoch}"
