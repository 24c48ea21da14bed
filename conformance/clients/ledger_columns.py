"""How do the attempts and outcomes of many records become tables, without an object for each of them?

Attempts are constants and an arithmetic progression. Outcomes are appended to arrays by the client's callback, three
numbers a record, and their memory becomes the table's.
"""

from __future__ import annotations

import sys
import time
from array import array
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

from conformance.clients.outcomes import kafka_error_name
from conformance.record.ledger import attempts_schema, outcomes_schema
from conformance.spark_extra import at_first_use
from oracle.vocabulary import Acks, ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pyarrow as pa
    import pyarrow.compute as pc

    from conformance.clients.ledger_load import LedgerLoad
else:
    pa = at_first_use("pyarrow")
    pc = at_first_use("pyarrow.compute")

NO_OFFSET = -1


def attempts_of(chunk: range, load: LedgerLoad, sender: int) -> pa.Table:
    """Return the attempts of records that follow one another, as of now.

    Args:
        chunk: their ids.
        load: what they are of.
        sender: the number of the producer that is to send them: what a schedule has as its step.
    """
    count = len(chunk)
    first = (chunk.start - load.base) % load.partitions
    partitions = array("i", islice(cycle(range(load.partitions)), first, first + load.partitions))
    partitions *= count // load.partitions + 1
    constants = {"acks": int(load.acks), "step": sender, "value_length": load.value_length}
    columns = {
        "record_id": _column(array("q", chunk), pa.int64()),
        "label": pa.repeat("", count),
        "topic": pa.repeat(load.topic, count),
        "partition": _column(partitions[:count], pa.int32()),
        **{name: pa.repeat(pa.scalar(value, pa.int32()), count) for name, value in constants.items()},
        "attempted_ns": pa.repeat(time.time_ns(), count),
    }
    return pa.table(columns, schema=attempts_schema())


class ToldOutcomes:
    """What producers were told and is not written yet.

    Args:
        acks: what producers wait for. Who waits for nothing is never told that a record was acknowledged.
        on_failure: given each error with which the client gives a record back.
    """

    def __init__(self, acks: Acks, on_failure: Callable[[Any], object]) -> None:
        self._good = ProduceOutcome.INDETERMINATE if acks is Acks.NONE else ProduceOutcome.ACKNOWLEDGED
        self._keys, self._offsets, self._told_ns = array("q"), array("q"), array("q")
        self._failed = _Failed()
        self._written = dict.fromkeys(ProduceOutcome, 0)
        self._is_offset_told = acks is not Acks.NONE
        self.on_delivery = self._callback(on_failure)

    def __len__(self) -> int:
        return len(self._told_ns) + len(self._failed)

    def count(self, outcome: ProduceOutcome) -> int:
        """Return how many records had this outcome so far, written or not."""
        told = len(self._told_ns) if outcome is self._good else 0
        return self._written[outcome] + told + self._failed.counts[outcome]

    def refuse(self, record_ids: Iterable[int], error: str) -> None:
        """Note records that were no part of a request."""
        self._failed.note(record_ids, ProduceOutcome.REFUSED, error)

    def taken(self) -> pa.Table:
        """Return what was told, which is forgotten here; the caller writes it."""
        table = pa.concat_tables([self._answered(), self._failed.table()])
        for outcome in ProduceOutcome:
            self._written[outcome] = self.count(outcome)
        for column in (self._keys, self._offsets, self._told_ns):
            del column[:]
        self._failed = _Failed()
        return table

    def _answered(self) -> pa.Table:
        """Return those that came back without an error; keys were appended as they are, big-endian."""
        ids, offsets, told_ns = self._keys[:], self._offsets[:], self._told_ns[:]
        if sys.byteorder == "little":
            ids.byteswap()
        placed = _column(offsets, pa.int64())
        columns = {
            "record_id": _column(ids, pa.int64()),
            "outcome": pa.repeat(self._good.value, len(ids)),
            "error": pa.nulls(len(ids), pa.string()),
            "offset": pc.if_else(pc.equal(placed, NO_OFFSET), pa.scalar(None, pa.int64()), placed),
            "completed_ns": _column(told_ns, pa.int64()),
        }
        return pa.table(columns, schema=outcomes_schema())

    def _callback(self, on_failure: Callable[[Any], object]) -> Callable[[Any, Any], None]:
        """Return what the client calls for each record: 0.4 us, where one with an object a record takes 2.5."""
        append_key, append_offset, append_ns = self._keys.frombytes, self._offsets.append, self._told_ns.append
        now, is_offset_told = time.time_ns, self._is_offset_told

        def on_delivery(error: Any, message: Any) -> None:  # noqa: ANN401 - untyped client
            if error is not None:
                on_failure(error)
                record_id = int.from_bytes(message.key(), "big")
                self._failed.note([record_id], ProduceOutcome.INDETERMINATE, kafka_error_name(error.name()))
                return
            offset = message.offset() if is_offset_told else None
            append_key(message.key())
            append_offset(NO_OFFSET if offset is None else offset)
            append_ns(now())

        return on_delivery


class _Failed:
    """Records that came back with an error, or were not taken: columns, and their few kinds by number."""

    def __init__(self) -> None:
        self._ids, self._kinds, self._told_ns = array("q"), array("i"), array("q")
        self._numbers: dict[tuple[ProduceOutcome, str], int] = {}
        self.counts = dict.fromkeys(ProduceOutcome, 0)

    def __len__(self) -> int:
        return len(self._ids)

    def note(self, record_ids: Iterable[int], outcome: ProduceOutcome, error: str) -> None:
        before = len(self._ids)
        self._ids.extend(record_ids)
        added = len(self._ids) - before
        kind = self._numbers.setdefault((outcome, error), len(self._numbers))
        self._kinds.extend(array("i", [kind]) * added)
        self._told_ns.extend(array("q", [time.time_ns()]) * added)
        self.counts[outcome] += added

    def table(self) -> pa.Table:
        kinds = _column(self._kinds, pa.int32())
        columns = {
            "record_id": _column(self._ids, pa.int64()),
            "outcome": pa.array([outcome.value for outcome, _ in self._numbers], pa.string()).take(kinds),
            "error": pa.array([error for _, error in self._numbers], pa.string()).take(kinds),
            "offset": pa.nulls(len(self), pa.int64()),
            "completed_ns": _column(self._told_ns, pa.int64()),
        }
        return pa.table(columns, schema=outcomes_schema())


def _column(values: array[int], kind: pa.DataType) -> pa.Array:
    """Return an array of numbers as a column that shares its memory."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
