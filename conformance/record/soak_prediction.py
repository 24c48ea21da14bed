"""What must have become of the records of a soak? ``prediction/``, frozen and hashed before the topic is read.

``prediction.json`` (``SoakPrediction``) has the digest of three tables of Parquet:

``prediction/ranges.parquet``: what every partition's log must hold, as ranges of offsets by leader epoch.
``prediction/batches.parquet``: what must have become of the batches that are no plain case. A plain case is a record
that was acknowledged with an offset, and that offset of the partition holds this record. Every other batch that left a
producer has a row: one that was acknowledged and must be lost, one that nobody was told of, one that was sent again.
A record that is in no row, and was not acknowledged, never left its producer: it must be absent.
``prediction/replicas.parquet``: below the end of a partition's log, the offsets at which two replicas must hold
different records, or may. Everywhere else all replicas that have an offset must hold the same there.

A record's copies, as predicted: its acknowledged offset, unless a row says that this batch is lost or may be either;
and ``base_offset`` plus its place in the batch, for each row with the fate ``present``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping  # noqa: TC003 - the decoder evaluates the fields' types
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from conformance.spark_extra import at_first_use

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

    from conformance.record.directory import RunDirectory
else:
    pa = at_first_use("pyarrow")
    pq = at_first_use("pyarrow.parquet")

PREDICTION_FILE = "prediction/prediction.json"
RANGES_FILE = "prediction/ranges.parquet"
BATCHES_FILE = "prediction/batches.parquet"
REPLICAS_FILE = "prediction/replicas.parquet"
ACKNOWLEDGED, UNANSWERED = "acknowledged", "none"
"""Of a batch's answers two; the others are names of errors."""


Int32: TypeAlias = int
"""A number that a column keeps in 32 bits; other columns have 64 for theirs."""


class ReplicasFate(StrEnum):
    """What two replicas must hold at the same offsets: different records, or different or the same."""

    DIFFERENT = "different"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class RangeRow:
    """A row of ``prediction/ranges.parquet``: what a partition must hold, or have lost.

    Attributes:
        leader: the broker that appended them, -1 if unknown.
        fate: a ``RangeFate``.
        rule: the name of the rule by which they are lost, or may be.
        reason: why they are lost, or why either may be; empty of what is present.
        promise: what their loss is to the promise of the settings, a ``PromiseVerdict``; the gravest, if they were
            acknowledged with different acks; empty of what is present, or was not acknowledged.
    """

    partition: Int32
    leader_epoch: Int32
    leader: Int32
    first_offset: int
    last_offset: int
    fate: str
    rule: str
    reason: str
    promise: str = ""


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A row of ``prediction/batches.parquet``: a batch that is no plain case.

    Attributes:
        first_id, count, step: the ids in it: ``first_id``, ``first_id + step``, and so on.
        base_offset: None if unknown.
        answer: ``acknowledged``, the name of an error, or ``none``. A row with this answer and fate ``lost`` is an
            acknowledged batch that must be lost.
        fate, rule, reason, promise: as of a range.
    """

    partition: Int32
    producer: Int32
    first_id: int
    count: int
    step: int
    base_offset: int | None
    leader_epoch: Int32
    acks: Int32
    answer: str
    fate: str
    rule: str
    reason: str
    promise: str = ""


@dataclass(frozen=True, slots=True)
class ReplicasRow:
    """A row of ``prediction/replicas.parquet``: where two replicas must differ, or may.

    Attributes:
        fate: a ``ReplicasFate``.
        rule: the name of the rule by which they do.
        reason: which leader epochs their records are of.
    """

    partition: Int32
    broker_a: Int32
    broker_b: Int32
    first_offset: int
    last_offset: int
    fate: str
    rule: str
    reason: str


@cache
def ranges_schema() -> pa.Schema:
    """Return the columns of ``prediction/ranges.parquet``: the fields of its rows."""
    return _schema(RangeRow)


@cache
def batches_schema() -> pa.Schema:
    """Return the columns of ``prediction/batches.parquet``: the fields of its rows."""
    return _schema(BatchRow)


@cache
def replicas_schema() -> pa.Schema:
    """Return the columns of ``prediction/replicas.parquet``: the fields of its rows."""
    return _schema(ReplicasRow)


def _schema(row: type[RangeRow | BatchRow | ReplicasRow]) -> pa.Schema:
    kinds = {"Int32": pa.int32(), "int": pa.int64(), "int | None": pa.int64(), "str": pa.string()}
    columns = ((field.name, str(field.type)) for field in fields(row))
    return pa.schema([pa.field(name, kinds[kind], nullable="None" in kind) for name, kind in columns])


@dataclass(frozen=True, slots=True)
class SoakPrediction:
    """What is frozen.

    Attributes:
        rules_of: the release and mode whose rules predict.
        digest: SHA-256 of the rows of all tables.
        records: how many offsets are in ranges of each fate.
        touched: how many records were first sent while a fault stood.
        violation: the first event that no rule of the release allows, in words; None if every one is allowed.
        events: how many the wire and the producers showed.
        seconds: how long it took.
        why_not: why the wire cannot be relied on; None if it can.
    """

    rules_of: str
    digest: str
    records: Mapping[str, int]
    touched: int
    events: int
    seconds: float
    violation: str | None = None
    why_not: str | None = None


def digest_of(*tables: pa.Table) -> str:
    """Return the SHA-256 of the rows of some tables, whatever their files look like."""
    digest = hashlib.sha256()
    for table in tables:
        for row in table.to_pylist():
            digest.update(repr(tuple(row.values())).encode())
    return digest.hexdigest()


def write_rows(
    path: Path, rows: Sequence[RangeRow] | Sequence[BatchRow] | Sequence[ReplicasRow], schema: pa.Schema
) -> pa.Table:
    """Write rows of one of the tables, in their order, and return the table."""
    table = pa.Table.from_pylist([asdict(row) for row in rows], schema)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
    return table


def read_soak_prediction(run: RunDirectory) -> SoakPrediction:
    """Read what was frozen.

    Raises:
        RunDirectoryError: nothing was, or it cannot be read.
    """
    return run.read(PREDICTION_FILE, SoakPrediction)
