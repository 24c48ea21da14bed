"""What do the replicas' segment files hold? ``replica_logs/``: one row an offset of a replica's log, as Parquet."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING

from conformance.record.directory import RunDirectoryError
from conformance.spark_extra import at_first_use

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    import pyarrow.parquet as pq

    from conformance.record.directory import RunDirectory
else:
    pa = at_first_use("pyarrow")
    pq = at_first_use("pyarrow.parquet")

REPLICA_LOGS_FILE = "replica_logs/replica_logs.parquet"


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One offset of one replica's log.

    Attributes:
        record_id: the record's id; None of a record that is none of the run's.
        value_matches: whether the record's value is the one that was sent.
        high_watermark: the replica's, when the run had ended.
    """

    broker: int
    offset: int
    record_id: int | None
    leader_epoch: int
    value_matches: bool
    high_watermark: int


def logs_by_broker(entries: Iterable[LogEntry]) -> dict[int, list[LogEntry]]:
    """Return each replica's log in the order of its offsets; a replica that holds nothing has none."""
    logs: dict[int, list[LogEntry]] = {}
    for entry in sorted(entries, key=lambda entry: (entry.broker, entry.offset)):
        logs.setdefault(entry.broker, []).append(entry)
    return logs


def disagreeing_offsets(held: Iterable[tuple[int, object]]) -> frozenset[int]:
    """Return the offsets at which two replicas hold different records: of each offset of each log, what it holds."""
    found: dict[int, set[object]] = {}
    for offset, what in held:
        found.setdefault(offset, set()).add(what)
    return frozenset(offset for offset, different in found.items() if len(different) > 1)


@cache
def replica_logs_schema() -> pa.Schema:
    """Return the columns of a log entry."""
    return pa.schema(
        [
            ("broker", pa.int32()),
            ("offset", pa.int64()),
            ("record_id", pa.int64()),
            ("leader_epoch", pa.int32()),
            ("value_matches", pa.bool_()),
            ("high_watermark", pa.int64()),
        ]
    )


def write_replica_logs(run: RunDirectory, entries: Iterable[LogEntry]) -> None:
    """Write what the replicas' segments hold."""
    table = pa.Table.from_pylist([asdict(entry) for entry in entries], schema=replica_logs_schema())
    pq.write_table(table, run.path / REPLICA_LOGS_FILE)


def read_replica_logs(run: RunDirectory) -> list[LogEntry]:
    """Read what the replicas' segments held; empty of a run that ended before.

    Raises:
        RunDirectoryError: a file is no Parquet file, or lacks a column.
    """
    found: list[LogEntry] = []
    for path in sorted((run.path / "replica_logs").glob("*.parquet")):
        try:
            rows = pq.read_table(path, partitioning=None).to_pylist()
            found += [LogEntry(**{name: row[name] for name in replica_logs_schema().names}) for row in rows]
        except (pa.ArrowException, OSError, KeyError) as error:
            raise RunDirectoryError(f"{path} cannot be read: {error}") from error
    return found
