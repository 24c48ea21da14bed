"""What does a consumer see of open transactions? RM-06: the last stable offset, beside the high watermark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.clients.producer import OpenTransaction
from conformance.clients.questions import FetchLimits, Questioner
from conformance.examining.fetch_limits import append, one_replica
from fault_injection.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.context import ExaminationContext
    from oracle.rules.rule_set import RuleSet

LATEST = -1
RECORDS = 3
DEADLINE_S = 30.0
OPEN, ENDED = "while the transaction is open", "once it is committed"
UNCOMMITTED, COMMITTED = "latest offset, read_uncommitted", "latest offset, read_committed"
SEEN_UNCOMMITTED, SEEN_COMMITTED = "records from offset 0, read_uncommitted", "records from offset 0, read_committed"
STABLE = "last stable offset in the answer to Fetch"


@dataclass(frozen=True, slots=True)
class LastStableOffset:
    """A record, one of a transaction, another one; then the transaction is committed."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            "create a topic with one replica; produce record 0 without a transaction",
            "begin a transaction and produce record 1 in it; produce record 2 without it",
            "ask for the latest offset and fetch, read_uncommitted and read_committed",
            "commit the transaction, which appends a marker; ask and fetch again",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:  # noqa: ARG002 - the same on every release
        """Predict both offsets and the records below them: the open transaction begins at offset 1."""
        return (
            QuestionAnswer(f"{UNCOMMITTED}, {OPEN}", 3),
            QuestionAnswer(f"{COMMITTED}, {OPEN}", 1),
            QuestionAnswer(f"{SEEN_UNCOMMITTED}, {OPEN}", [0, 1, 2]),
            QuestionAnswer(f"{SEEN_COMMITTED}, {OPEN}", [0]),
            QuestionAnswer(f"{STABLE}, {OPEN}", 1),
            QuestionAnswer(f"{UNCOMMITTED}, {ENDED}", 4),
            QuestionAnswer(f"{COMMITTED}, {ENDED}", 4),
            QuestionAnswer(f"{SEEN_UNCOMMITTED}, {ENDED}", [0, 1, 2]),
            QuestionAnswer(f"{SEEN_COMMITTED}, {ENDED}", [0, 1, 2]),
            QuestionAnswer(f"{STABLE}, {ENDED}", 4),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Ask a real leader."""
        with one_replica(context) as (address, topic):
            append(address, topic, 0)
            with OpenTransaction(address, f"{topic}-transaction") as transaction:
                transaction.produce(topic, 1)
                append(address, topic, 2)
                yield from _seen(Questioner(address, topic), OPEN)
                transaction.commit()
                _await_marker(Questioner(address, topic))
                yield from _seen(Questioner(address, topic), ENDED)


def _await_marker(questioner: Questioner) -> None:
    """Wait until the log has grown by the marker: the coordinator answers before it has had it written."""
    until(lambda: (questioner.list_offset(LATEST).offset or 0) > RECORDS, deadline_s=DEADLINE_S, what="the marker")


def _seen(questioner: Questioner, when: str) -> Iterator[QuestionAnswer]:
    for name, seen, reads_committed in ((UNCOMMITTED, SEEN_UNCOMMITTED, False), (COMMITTED, SEEN_COMMITTED, True)):
        yield QuestionAnswer(f"{name}, {when}", questioner.list_offset(LATEST, reads_committed=reads_committed).offset)
        fetched = questioner.fetch(0, FetchLimits(reads_committed=reads_committed))
        yield QuestionAnswer(f"{seen}, {when}", [record for record in fetched.record_ids if record is not None])
        if reads_committed:
            yield QuestionAnswer(f"{STABLE}, {when}", fetched.last_stable_offset)


READ_COMMITTED = LastStableOffset()
