"""What did the topic hold when it was read? ``topic/``: one row a record, as Spark wrote it down."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from conformance.record.directory import RunDirectoryError
from conformance.spark_extra import at_first_use

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

    from conformance.record.directory import RunDirectory
else:
    pa = at_first_use("pyarrow")
    pq = at_first_use("pyarrow.parquet")

TOPIC_FOLDER = "topic"


@dataclass(frozen=True, slots=True)
class RecordRead:
    """One record of the topic.

    Attributes:
        record_id: the record's id; None of a record that is none of the run's.
        value_matches: whether the record's value is the one that was sent.
    """

    partition: int
    offset: int
    record_id: int | None
    value_matches: bool


def topic_files(run: RunDirectory) -> list[Path]:
    """Return the files of the topic, sorted by name; none if it was never read."""
    return sorted((run.path / TOPIC_FOLDER).glob("[!.]*.parquet"))


def read_topic(run: RunDirectory) -> list[RecordRead] | None:
    """Read the records in the order of their offsets; None of a run whose topic was never read.

    Raises:
        RunDirectoryError: a file is no Parquet file, or lacks a column.
    """
    paths = topic_files(run)
    found: list[RecordRead] = []
    for path in paths:
        try:
            rows = pq.read_table(path, partitioning=None).to_pylist()
            found += [RecordRead(**{one.name: row[one.name] for one in fields(RecordRead)}) for row in rows]
        except (pa.ArrowException, OSError, KeyError) as error:
            raise RunDirectoryError(f"{path} cannot be read: {error}") from error
    return sorted(found, key=lambda record: (record.partition, record.offset)) if paths else None
