"""A small soak whose every file a test may change: what producers were told, what was predicted, what was read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.made_soaks import BASE, made_soak
from benchmarks.made_soaks import Size as MadeSize
from conformance.reconcile import run_files
from conformance.reconcile.soak import count_soak
from conformance.record.attached import IDS_MAX
from conformance.record.directory import RunDirectory
from conformance.record.ledger import Attempt, LedgerWriter, OutcomeEntry
from conformance.record.soak import PRODUCERS, Soak
from conformance.record.soak_prediction import (
    BATCHES_FILE,
    RANGES_FILE,
    BatchRow,
    RangeRow,
    batches_schema,
    ranges_schema,
    write_rows,
)
from oracle.vocabulary import ProduceOutcome, RangeFate

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from conformance.record.soak_counted import SoakCounted

PARTITIONS, PRODUCER_COUNT = 2, 2
Row = tuple[int | None, bool]
ACKNOWLEDGED, REFUSED, INDETERMINATE = ProduceOutcome


def record(producer: int, number: int) -> int:
    """Return the id of a producer's record."""
    return BASE + producer * IDS_MAX + number


@dataclass
class MadeRows:
    """Records that producers send in turns; each is appended to the log of its partition unless a test says otherwise.

    Attributes:
        logs: of each partition the records in their order, and whether each has its own value.
        told: by id what its producer was told; an id that is not in it was attempted, and that is all.
        batches: rows of the prediction.
    """

    logs: list[list[Row]] = field(default_factory=lambda: [[] for _ in range(PARTITIONS)])
    attempted: list[int] = field(default_factory=list)
    told: dict[int, tuple[ProduceOutcome, int | None]] = field(default_factory=dict)
    batches: list[BatchRow] = field(default_factory=list)

    @classmethod
    def of(cls, records: int) -> MadeRows:
        """Return so many records of each producer, all of them acknowledged and there."""
        made = cls()
        for number in range(records):
            for producer in range(PRODUCER_COUNT):
                made.send(record(producer, number))
        return made

    def send(
        self,
        record_id: int,
        outcome: ProduceOutcome | None = ACKNOWLEDGED,
        *,
        there: bool = True,
        told_at: int | None = None,
    ) -> int:
        """Send a record; return the offset that it has, or would have."""
        log = self.logs[self.partition_of(record_id)]
        offset = len(log)
        log += [(record_id, True)] if there else []
        self.attempted.append(record_id)
        if outcome is not None:
            at = offset if told_at is None else told_at
            self.told[record_id] = (outcome, at if outcome is ACKNOWLEDGED else None)
        return offset

    @staticmethod
    def partition_of(record_id: int) -> int:
        """Return where a record belongs."""
        return (record_id - BASE) % IDS_MAX % PARTITIONS

    def predict(self, fate: str, record_id: int, offset: int | None, answer: str = "none") -> None:
        """Add a row about one record to the prediction."""
        self.batches.append(
            BatchRow(
                partition=self.partition_of(record_id),
                producer=(record_id - BASE) // IDS_MAX,
                first_id=record_id,
                count=1,
                step=PARTITIONS,
                base_offset=offset,
                leader_epoch=0,
                acks=1,
                answer=answer,
                fate=fate,
                rule="",
                reason="",
            )
        )

    def written(self, directory: Path) -> tuple[RunDirectory, Soak]:
        """Write the files, the topic as it was read among them."""
        soak = made_soak("nowhere:1", "t", MadeSize(1, PRODUCER_COUNT, PARTITIONS))
        soak = replace(soak, ends=tuple(map(len, self.logs)), records=len(self.attempted))
        for producer in range(PRODUCER_COUNT):
            self._write_ledger(LedgerWriter(directory / PRODUCERS / str(producer) / "ledger"), producer)
        write_rows(directory / BATCHES_FILE, self.batches, batches_schema())
        ranges = [self._range(number) for number in range(PARTITIONS)]
        write_rows(directory / RANGES_FILE, ranges, ranges_schema())
        _write_topic(directory, self.logs)
        return RunDirectory(directory), soak

    def counted(self, spark: SparkSession, directory: Path) -> SoakCounted:
        """Write the files, and count."""
        run, soak = self.written(directory)
        return count_soak(spark, run.path, soak, run_files.TOPIC.read(spark, [run.path]))

    def _write_ledger(self, ledger: LedgerWriter, producer: int) -> None:
        mine = [one for one in self.attempted if (one - BASE) // IDS_MAX == producer]
        ledger.record_attempts([Attempt(one, "", "t", self.partition_of(one), -1, 0, 100, 0) for one in mine])
        told = [OutcomeEntry(one, self.told[one][0], None, self.told[one][1], 0) for one in mine if one in self.told]
        ledger.record_outcomes(told)

    def _range(self, partition: int) -> RangeRow:
        last = len(self.logs[partition]) - 1
        return RangeRow(partition, 0, 1, 0, last, RangeFate.PRESENT.value, rule="", reason="")


def _write_topic(directory: Path, logs: list[list[Row]]) -> None:
    rows = [(partition, offset, *row) for partition, log in enumerate(logs) for offset, row in enumerate(log)]
    columns = {"partition": pa.int32(), "offset": pa.int64(), "record_id": pa.int64(), "value_matches": pa.bool_()}
    table = pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows], pa.schema(columns))
    (directory / "topic").mkdir(parents=True, exist_ok=True)
    pq.write_table(table, directory / "topic" / "part-0.parquet")
