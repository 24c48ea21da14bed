"""What do the tables of a soak's prediction say, row by row? Read for people; Spark reads them by itself.

Ranges are few, however much was sent. Of batches only those are taken by name that were acknowledged and are lost, or
may be; all others are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.directory import RunDirectoryError
from conformance.record.soak_prediction import BATCHES_FILE, RANGES_FILE, REPLICAS_FILE, RangeRow, ReplicasRow
from conformance.spark_extra import at_first_use
from oracle.vocabulary import ProduceOutcome, RangeFate

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from conformance.record.directory import RunDirectory
else:
    pa = at_first_use("pyarrow")
    pc = at_first_use("pyarrow.compute")
    pq = at_first_use("pyarrow.parquet")


@dataclass(frozen=True, slots=True)
class NotKeptBatch:
    """A batch that was acknowledged, and is lost or may be."""

    partition: int
    leader_epoch: int
    fate: str
    base_offset: int
    count: int
    acks: int

    def shared(self, one: RangeRow) -> int:
        """Return how many of its records are in a range."""
        is_of = (self.partition, self.leader_epoch, self.fate) == (one.partition, one.leader_epoch, one.fate)
        first, end = max(self.base_offset, one.first_offset), min(self.base_offset + self.count, one.last_offset + 1)
        return max(end - first, 0) if is_of else 0


@dataclass(frozen=True, slots=True)
class AlikeBatches:
    """How many batches, and records in them, have the same answer, acks and fate."""

    answer: str
    acks: int
    fate: str
    batches: int
    records: int


def read_ranges(run: RunDirectory) -> list[RangeRow]:
    """Read what every partition must hold, has lost, or may have.

    Raises:
        RunDirectoryError: the table cannot be read.
    """
    return [RangeRow(**row) for row in _table(run, RANGES_FILE).to_pylist()]


def read_replicas(run: RunDirectory) -> list[ReplicasRow]:
    """Read where two replicas must differ, or may.

    Raises:
        RunDirectoryError: the table cannot be read.
    """
    return [ReplicasRow(**row) for row in _table(run, REPLICAS_FILE).to_pylist()]


def read_not_kept(run: RunDirectory) -> list[NotKeptBatch]:
    """Read which acknowledged batches are lost, or may be, if their offset is known.

    Raises:
        RunDirectoryError: the table cannot be read.
    """
    batches = _table(run, BATCHES_FILE)
    is_told = pc.equal(batches["answer"], ProduceOutcome.ACKNOWLEDGED.value)
    is_noted = pc.and_(is_told, pc.not_equal(batches["fate"], RangeFate.PRESENT.value))
    noted = batches.filter(pc.and_(is_noted, pc.is_valid(batches["base_offset"])))
    columns = ["partition", "leader_epoch", "fate", "base_offset", "count", "acks"]
    return [NotKeptBatch(**row) for row in noted.select(columns).to_pylist()]


def read_alike(run: RunDirectory) -> list[AlikeBatches]:
    """Read how many batches that are no plain case are alike; those with the most records first.

    Raises:
        RunDirectoryError: the table cannot be read.
    """
    grouped = _table(run, BATCHES_FILE).group_by(["answer", "acks", "fate"])
    counted = grouped.aggregate([("count", "count"), ("count", "sum")]).to_pylist()
    alike = [
        AlikeBatches(row["answer"], row["acks"], row["fate"], row["count_count"], row["count_sum"]) for row in counted
    ]
    return sorted(alike, key=lambda one: (-one.records, one.answer, one.acks, one.fate))


def _table(run: RunDirectory, name: str) -> pa.Table:
    try:
        return pq.read_table(run.path / name, partitioning=None)
    except (pa.ArrowException, OSError) as error:
        raise RunDirectoryError(f"{run.path / name} cannot be read: {error}") from error
