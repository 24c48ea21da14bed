"""What were the producers told, and when? The ledger as events, in the order of time.

A producer may have been told a little before its outcome was written down, never after.

Attempts and outcomes are read side by side, so that only records without outcome are kept. An outcome that no
broker gave (a client's own error, silence) shows nothing of the brokers and is passed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.interruption import GIVEN_UP
from conformance.ledger.outcomes import NEVER_SENT
from conformance.ledger.schema import ATTEMPTS_PREFIX, OUTCOMES_PREFIX, ledger_files
from conformance.observation.errors import TraceUnreadableError
from conformance.spark_extra import at_first_use
from oracle.tracing.observed import Acknowledged, Refused, TopicPartition
from oracle.vocabulary import Acks, Offset, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    pa = at_first_use("pyarrow")
    pq = at_first_use("pyarrow.parquet")

ROWS_AT_ONCE = 10_000
CLIENTS_OWN = "_"
"""How the names of librdkafka's own errors begin."""

Row = dict[str, Any]


class LedgerEvents:
    """Reads one run's ledger in the order in which outcomes came.

    Args:
        directory: the run's ledger.
        topic: whose records count.
    """

    def __init__(self, directory: Path, topic: str) -> None:
        self._directory = directory
        self._topic = topic
        self._attempts = _rows(directory, ATTEMPTS_PREFIX)
        self._open: dict[int, Row] = {}

    def __iter__(self) -> Iterator[Acknowledged | Refused]:
        """Give the events.

        Raises:
            TraceUnreadableError: the ledger cannot be read, or an outcome has no attempt.
        """
        last_ns = 0
        for outcome in _rows(self._directory, OUTCOMES_PREFIX):
            last_ns = outcome["completed_ns"] = max(last_ns, outcome["completed_ns"])
            attempt = self._attempt(outcome["record_id"])
            if attempt["topic"] == self._topic:
                event = _event(attempt, outcome)
                if event is not None:
                    yield event

    def _attempt(self, record_id: int) -> Row:
        while record_id not in self._open:
            attempt = next(self._attempts, None)
            if attempt is None:
                raise TraceUnreadableError(f"the ledger has an outcome of record {record_id} and no attempt")
            self._open[attempt["record_id"]] = attempt
        return self._open.pop(record_id)


def _event(attempt: Row, outcome: Row) -> Acknowledged | Refused | None:
    if attempt["acks"] not in tuple(Acks):
        return None
    partition = TopicPartition(attempt["topic"], attempt["partition"])
    acks, at, error = Acks(attempt["acks"]), outcome["completed_ns"], outcome["error"]
    if outcome["outcome"] == Outcome.ACKNOWLEDGED:
        offset = None if outcome["offset"] is None else Offset(outcome["offset"])
        return Acknowledged(
            at=at,
            partition=partition,
            acks=acks,
            sent_at=attempt["attempted_ns"],
            base_offset=offset,
            last_offset=offset,
        )
    if error is None or error == GIVEN_UP or error in NEVER_SENT or error.startswith(CLIENTS_OWN):
        return None
    return Refused(at=at, partition=partition, acks=acks, error=error, sent_at=attempt["attempted_ns"])


def _rows(directory: Path, prefix: str) -> Iterator[Row]:
    for path in ledger_files(directory, prefix):
        try:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=ROWS_AT_ONCE):
                    yield from batch.to_pylist()
        except (pa.ArrowInvalid, OSError) as broken:
            raise TraceUnreadableError(f"ledger/{path.name} cannot be read: {broken}") from broken
