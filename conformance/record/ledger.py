"""What does one line of the ledger say?"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from conformance.record.directory import RunDirectoryError
from conformance.spark_extra import at_first_use
from oracle.vocabulary import ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

    from conformance.record.directory import RunDirectory
else:
    pa = at_first_use("pyarrow")
    pq = at_first_use("pyarrow.parquet")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A record that is about to be sent, once.

    Attributes:
        record_id: the record's id, unique in the run; also the key of the record.
        label: the record's name in the schedule.
        topic: the topic it is sent to.
        partition: the partition it is sent to.
        acks: what the request asks the broker to wait for; a value of ``Acks``, or one that brokers refuse.
        step: the index of the step that sends it.
        value_length: the length of its value in bytes.
        attempted_ns: when the attempt was written, in nanoseconds of the run clock.
    """

    record_id: int
    label: str
    topic: str
    partition: int
    acks: int
    step: int
    value_length: int
    attempted_ns: int


@dataclass(frozen=True, slots=True)
class OutcomeEntry:
    """What the producer was told about an attempted record.

    Attributes:
        record_id: the record's id.
        outcome: acknowledged, refused or indeterminate.
        error: the error's name in Kafka's ``Errors``, or librdkafka's own with a leading underscore.
        offset: the offset as acknowledged; None when none was given.
        completed_ns: when the outcome was known, in nanoseconds of the run clock.
    """

    record_id: int
    outcome: ProduceOutcome
    error: str | None
    offset: int | None
    completed_ns: int


# Which columns do the ledger's Parquet files have, and how are the files named?


NOT_SENT = "_NOT_SENT"
"""The error of a record that was attempted, and never handed to the client: refused."""
ATTEMPTS_PREFIX = "attempts-"
OUTCOMES_PREFIX = "outcomes-"


@cache
def attempts_schema() -> pa.Schema:
    """Return the columns of what was attempted."""
    return pa.schema(
        [
            pa.field("record_id", pa.int64(), nullable=False),
            pa.field("label", pa.string(), nullable=False),
            pa.field("topic", pa.string(), nullable=False),
            pa.field("partition", pa.int32(), nullable=False),
            pa.field("acks", pa.int32(), nullable=False),
            pa.field("step", pa.int32(), nullable=False),
            pa.field("value_length", pa.int32(), nullable=False),
            pa.field("attempted_ns", pa.int64(), nullable=False),
        ]
    )


@cache
def outcomes_schema() -> pa.Schema:
    """Return the columns of what came of it."""
    return pa.schema(
        [
            pa.field("record_id", pa.int64(), nullable=False),
            pa.field("outcome", pa.string(), nullable=False),
            pa.field("error", pa.string()),
            pa.field("offset", pa.int64()),
            pa.field("completed_ns", pa.int64(), nullable=False),
        ]
    )


class LedgerError(Exception):
    """The ledger cannot be written or read as what it claims to be."""


def ledger_files(directory: Path, prefix: str) -> tuple[Path, ...]:
    """Return the ledger's files of one kind, the first written first: by their numbers, which outgrow five digits."""
    return tuple(sorted(directory.glob(f"{prefix}[0-9]*.parquet"), key=lambda file: _number_of(file, prefix)))


def _number_of(file: Path, prefix: str) -> int:
    return int(file.stem.removeprefix(prefix))


# How does an attempt get onto the disk before its record is sent?
#
# Every call writes one new numbered file: under a temporary name, synced, then linked to its final name, which
# must not exist yet, and the directory is synced too. When the call returns the lines survive a crash of the
# tester; a file with a final name is complete and is never touched again.


class LedgerWriter:
    """Appends attempts and outcomes to a ledger directory; it never rewrites a file."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._following: dict[str, int] = {}
        directory.mkdir(parents=True, exist_ok=True)

    def record_attempts(self, attempts: Sequence[Attempt]) -> Path:
        """Write attempts and sync them; send the records only after this returns.

        Returns:
            The new file.

        Raises:
            LedgerError: there is nothing to write, or another writer took the file's number.
        """
        return self.append_attempts(pa.Table.from_pylist([asdict(it) for it in attempts], attempts_schema()))

    def record_outcomes(self, outcomes: Sequence[OutcomeEntry]) -> Path:
        """Write outcomes and sync them.

        Returns:
            The new file.

        Raises:
            LedgerError: there is nothing to write, or another writer took the file's number.
        """
        return self.append_outcomes(pa.Table.from_pylist([asdict(it) for it in outcomes], outcomes_schema()))

    def append_attempts(self, table: pa.Table) -> Path:
        """Write a whole table of attempts (columns of ``attempts_schema``), for runs of many records."""
        return self._append(ATTEMPTS_PREFIX, table.cast(attempts_schema()))

    def append_outcomes(self, table: pa.Table) -> Path:
        """Write a whole table of outcomes (columns of ``outcomes_schema``), for runs of many records."""
        return self._append(OUTCOMES_PREFIX, table.cast(outcomes_schema()))

    def _append(self, prefix: str, table: pa.Table) -> Path:
        if table.num_rows == 0:
            raise LedgerError("A ledger file holds at least one line.")
        number = self._next_number(prefix)
        final = self._directory / f"{prefix}{number:05d}.parquet"
        scratch = final.with_name(f".{final.name}.{os.getpid()}")
        try:
            _write_synced(table, scratch)
            os.link(scratch, final)
        except FileExistsError as taken:
            raise LedgerError(f"{final.name} exists already: a ledger has one writer.") from taken
        finally:
            scratch.unlink(missing_ok=True)
        _sync(self._directory)
        self._following[prefix] = number + 1
        return final

    def _next_number(self, prefix: str) -> int:
        """Return the number of the next file: the directory, which may have very many, is looked into once."""
        if prefix not in self._following:
            present = ledger_files(self._directory, prefix)
            self._following[prefix] = _number_of(present[-1], prefix) + 1 if present else 0
        return self._following[prefix]


def _write_synced(table: pa.Table, path: Path) -> None:
    """Write a file: ids, offsets and times by their differences, a tenth of what they are by a dictionary."""
    names = [field.name for field in table.schema if field.type == pa.int64()]
    with path.open("wb") as stream:
        pq.write_table(
            table,
            stream,
            use_dictionary=[name for name in table.schema.names if name not in names],
            column_encoding=dict.fromkeys(names, "DELTA_BINARY_PACKED"),
        )
        stream.flush()
        os.fsync(stream.fileno())


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# What does a ledger on disk say?


def read_attempts(run: RunDirectory) -> list[Attempt]:
    """Read what was attempted, in the order of writing, whatever it says.

    Raises:
        RunDirectoryError: a file is no Parquet file, or has other columns.
    """
    return [Attempt(**row) for row in _rows(run, ATTEMPTS_PREFIX, attempts_schema())]


def read_outcomes(run: RunDirectory) -> list[OutcomeEntry]:
    """Read what producers were told, in the order of writing.

    Raises:
        RunDirectoryError: a file is no Parquet file, has other columns, or an outcome is none.
    """
    rows = _rows(run, OUTCOMES_PREFIX, outcomes_schema())
    unknown = {row["outcome"] for row in rows} - set(ProduceOutcome)
    if unknown:
        raise RunDirectoryError(f"{run.path / 'ledger'} has outcomes that are none: {', '.join(map(str, unknown))}")
    return [OutcomeEntry(**row) for row in rows]


def _rows(run: RunDirectory, prefix: str, schema: pa.Schema) -> list[dict[str, Any]]:
    directory = run.path / "ledger"
    try:
        tables = [pq.read_table(file, partitioning=None) for file in ledger_files(directory, prefix)]
        return [row for table in tables for row in table.select(schema.names).to_pylist()]
    except (pa.ArrowException, OSError, KeyError) as error:
        raise RunDirectoryError(f"{directory} cannot be read: {error}") from error
