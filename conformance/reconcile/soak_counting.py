"""How many records of a soak are in each class, by partition, and how do they compare with the prediction?"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from conformance.reconcile import run_files
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.records import OUTCOMES
from conformance.reconcile.soak_blocks import (
    FOREIGN_BLOCK,
    IN_TOPIC,
    TOLD_ANYTHING,
    Kind,
    blocks_out_of_order,
    ends_before,
    is_kind,
    partition_of_block,
    stretches,
)
from conformance.reconcile.soak_records import primary, records_of, reordered, stretches_of
from conformance.reconcile.summary import SAMPLE_ROWS_MAX, rows_of
from conformance.record.directory import RunDirectory
from conformance.record.soak import Soak, ledger_directories
from conformance.record.soak_counted import (
    CLASSES,
    OF_NOTE,
    ClassCounted,
    Compared,
    Judged,
    PartitionCounted,
    RecordOfNote,
    SoakCounted,
)
from conformance.record.soak_prediction import RANGES_FILE, RangeFate

_COMMON = ("absent", "indeterminate_present", "kept")
Counts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Counting:
    """One soak being counted.

    Attributes:
        facts: as of ``soak_blocks.facts_of``.
        runs: as of ``soak_blocks.runs_of``.
    """

    spark: SparkSession
    run: Path
    soak: Soak
    facts: DataFrame
    runs: DataFrame

    def counted(self) -> SoakCounted:
        """Return what was counted, and write down the records of note.

        Raises:
            ReconcileError: the topic has offsets without a record, or a file is unreadable.
        """
        read = self._rows_by_partition()
        _require_every_offset(self.soak, read)
        runs = self.runs
        plain = _by_partition(_plain_counts(runs, self.soak))
        joined, late = self._joined_blocks(runs, plain)
        records = self._records(runs, joined, late=late, any_foreign=any(one["foreign"] for one in read.values()))
        others = {} if records is None else _by_partition(_record_counts(records))
        samples = [] if records is None else self._noted(records)
        for number, one in _by_partition(_late_counts(runs, joined, self.soak)).items() if late else ():
            plain[number] = {**plain[number], "records": plain[number]["records"] - one["records"]}
        told = sum(one["records"] for one in plain.values()) + sum(one["told"] for one in others.values())
        partitions = tuple(self._partition(number, read, plain, others) for number in range(self.soak.partitions))
        return SoakCounted(
            partitions=partitions,
            samples=tuple(samples),
            compared=Compared(
                blocks=sum(one["blocks"] for one in plain.values()),
                joined_blocks=0 if joined is None else joined.count(),
                joined_records=sum(one["rows"] for one in others.values()),
            ),
            identity_holds=self._identity_holds(partitions, read, told),
            errors=self._errors(partitions),
        )

    def _rows_by_partition(self) -> dict[int, Counts]:
        """Return by partition of the topic what was read, and by partition of their own the rows of ledgers."""
        is_ours = F.col("block") != FOREIGN_BLOCK
        at = F.when(F.col("partition") >= 0, F.col("partition")).otherwise(partition_of_block(self.soak))
        counts = {
            "read": is_kind(*IN_TOPIC),
            "foreign": is_kind(*IN_TOPIC) & ~is_ours,
            "attempts": is_kind(Kind.ATTEMPTED) & is_ours,
            "outcomes": is_kind(*TOLD_ANYTHING) & is_ours,
        }
        sums = (F.sum(F.when(which, F.col("rows")).otherwise(0)).alias(name) for name, which in counts.items())
        return _by_partition(self.facts.groupBy(at.alias("own")).agg(*sums))

    def _joined_blocks(self, runs: DataFrame, plain: dict[int, Counts]) -> tuple[DataFrame | None, bool]:
        """Return the blocks whose records are looked at one by one, None if none is; and whether order is a reason."""
        odd = runs.where(~F.col("is_plain")).select("block").distinct().persist()
        found = stretches(runs, self.soak)
        is_any = any(one["odd_blocks"] for one in plain.values())
        if is_any:
            found = found.unionByName(stretches_of(records_of(self.facts, odd, self.soak)))
        late = blocks_out_of_order(found, self.soak).persist()
        if late.isEmpty():
            return (odd if is_any else None), False
        return odd.union(late).distinct().persist(), True

    def _records(self, runs: DataFrame, joined: DataFrame | None, *, late: bool, any_foreign: bool) -> DataFrame | None:
        if joined is None and not any_foreign:
            return None
        blocks = runs.select("block").limit(0) if joined is None else joined
        records = records_of(self.facts, blocks, self.soak)
        if late:
            found = stretches(runs, self.soak).join(blocks, "block", "left_anti").unionByName(stretches_of(records))
            records = reordered(records, ends_before(found, self.soak))
        return records.withColumn("classification", primary()).persist()

    def _noted(self, records: DataFrame) -> list[RecordOfNote]:
        """Write the records of note, and return a sample of every class."""
        is_uncommon = reduce(or_, (F.col(name) for name in CLASSES if name not in _COMMON))
        of_note = records.where(is_uncommon | (F.col("judged") != Judged.PREDICTED.value))
        told = ("own", "record_id", "outcome", "acknowledged_offset", "copies", "found_partition", "found_offset")
        written = of_note.select(*told, "there", "expected", "judged", "classification", *CLASSES)
        written.write.mode("overwrite").parquet(str(self.run / OF_NOTE))
        return [RecordOfNote(**row.asDict()) for row in rows_of(_samples(records))]

    def _partition(
        self, number: int, read: Mapping[int, Counts], plain: Mapping[int, Counts], others: Mapping[int, Counts]
    ) -> PartitionCounted:
        kept, rows, at = plain[number]["records"], others.get(number, _NONE), read.get(number, _NONE)
        classes, chosen = (_classes(rows, prefix, kept) for prefix in ("class", "primary"))
        outcomes = {name: rows[name] for name in OUTCOMES}
        present, end = _predicted_offsets(self.run, number), self.soak.ends[number]
        return PartitionCounted(
            partition=number,
            attempted=kept + rows["attempted"],
            outcomes={**outcomes, OUTCOMES[0]: outcomes[OUTCOMES[0]] + kept},
            copies=kept + rows["copies"],
            read=at["read"],
            foreign=at["foreign"],
            classes=classes,
            primary=chosen,
            not_predicted=end - _covered(present[RangeFate.PRESENT] + present[RangeFate.EITHER], 0, end),
            beyond_end=_covered(present[RangeFate.PRESENT], end, None),
        )

    def _identity_holds(self, partitions: Sequence[PartitionCounted], read: Mapping[int, Counts], told: int) -> bool:
        """Return whether rows of files, offsets of the topic, and primary classes add up.

        Args:
            partitions: what was counted.
            read: rows that were gone through.
            told: attempted records that have an outcome.
        """
        ledgers = ledger_directories(RunDirectory(self.run), self.soak)
        attempts, outcomes = (
            sum(table.rows(ledger) for ledger in ledgers) for table in (run_files.ATTEMPTS, run_files.OUTCOMES)
        )
        primary_counts: dict[str, int] = defaultdict(int)
        for one in partitions:
            for name, counted in one.primary.items():
                primary_counts[name] += counted.records
        attempted = sum(one.attempted for one in partitions)
        return (
            attempts == attempted == sum(primary_counts.values()) - primary_counts["phantom"]
            and attempts == sum(one["attempts"] for one in read.values())
            and outcomes == sum(one["outcomes"] for one in read.values()) == told
            and sum(one.copies + one.foreign for one in partitions) == sum(self.soak.ends)
        )

    def _errors(self, partitions: Sequence[PartitionCounted]) -> dict[str, int]:
        """Return how many outcomes name which error."""
        _, *others = OUTCOMES
        if not any(one.outcomes[name] for one in partitions for name in others):
            return {}
        outcomes = run_files.OUTCOMES.read(self.spark, ledger_directories(RunDirectory(self.run), self.soak))
        named = outcomes.where(F.col("error").isNotNull()).groupBy("error").count()
        return {row["error"]: row["count"] for row in rows_of(named.orderBy("error"))}


_NONE: Counts = defaultdict(int)


def _by_partition(counts: DataFrame) -> dict[int, Counts]:
    found: dict[int, Counts] = defaultdict(lambda: _NONE)
    return found | {row["own"]: row.asDict() for row in rows_of(counts)}


def _require_every_offset(soak: Soak, read: Mapping[int, Counts]) -> None:
    """Refuse a topic that lacks offsets: nothing can be told of what is not there any more."""
    for number, end in enumerate(soak.ends):
        found = read.get(number, _NONE)["read"]
        if found != end:
            raise ReconcileError(
                f"Partition {number} of {soak.topic} ends at {end}, and {found} records were read of it. Offsets "
                "without a record are markers of transactions, or their records were removed by compaction, by "
                "retention, or by an operator: a soak's topic may have none of these."
            )


def _plain_counts(runs: DataFrame, soak: Soak) -> DataFrame:
    is_odd = F.when(~F.col("is_plain"), F.col("block"))
    return runs.groupBy(partition_of_block(soak).alias("own")).agg(
        F.sum(F.when(F.col("is_plain"), F.bit_count("told")).otherwise(0)).alias("records"),
        F.count_distinct("block").alias("blocks"),
        F.count_distinct(is_odd).alias("odd_blocks"),
    )


def _late_counts(runs: DataFrame, joined: DataFrame | None, soak: Soak) -> DataFrame:
    """Return how many records of plain blocks are looked at one by one all the same."""
    late = runs.where("is_plain").join(joined, "block", "left_semi")
    return late.groupBy(partition_of_block(soak).alias("own")).agg(F.sum(F.bit_count("told")).alias("records"))


def _record_counts(records: DataFrame) -> DataFrame:
    is_attempted = F.col("attempts") > 0
    return records.groupBy("own").agg(
        F.count("*").alias("rows"),
        F.count_if(is_attempted).alias("attempted"),
        F.count_if(is_attempted & (F.col("outcomes") > 0)).alias("told"),
        F.sum(F.when(F.col("record_id").isNotNull(), F.col("copies")).otherwise(0)).alias("copies"),
        *(F.count_if(F.col("outcome") == name).alias(name) for name in OUTCOMES),
        *(
            F.count_if(which & (F.col("judged") == judged.value)).alias(f"{prefix}_{name}_{judged.value}")
            for judged in Judged
            for name in CLASSES
            for prefix, which in (("class", F.col(name)), ("primary", F.col("classification") == name))
        ),
    )


def _classes(rows: Counts, prefix: str, kept: int) -> dict[str, ClassCounted]:
    found = {
        name: ClassCounted(**{judged.value: rows[f"{prefix}_{name}_{judged.value}"] for judged in Judged})
        for name in CLASSES
    }
    return {**found, "kept": found["kept"] + ClassCounted(predicted=kept)}


def _samples(records: DataFrame) -> DataFrame:
    """Return some records of every class, those against the prediction first; of the kept ones no others."""
    is_predicted = F.col("judged") == Judged.PREDICTED.value
    named = (F.when(F.col(name) & ((name != "kept") | ~is_predicted), F.lit(name)) for name in CLASSES)
    told = records.withColumn("classification", F.explode(F.array_compact(F.array(*named))))
    among = Window.partitionBy("classification").orderBy(is_predicted, "record_id", "found_offset")
    chosen = told.withColumn("place", F.row_number().over(among)).where(F.col("place") <= SAMPLE_ROWS_MAX)
    names = [name for name in RecordOfNote.__dataclass_fields__ if name != "partition"]
    ordered = chosen.orderBy("classification", "place")
    return ordered.select(*names, F.col("own").alias("partition"))


# What does the prediction say of offsets?


def _predicted_offsets(run: Path, partition: int) -> dict[str, list[tuple[int, int]]]:
    """Return the ranges of a partition by fate: first offset, and the one behind the last."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    path = run / RANGES_FILE
    for row in pq.read_table(path, filters=[("partition", "=", partition)]).to_pylist() if path.exists() else ():
        found[row["fate"]].append((row["first_offset"], row["last_offset"] + 1))
    return found


def _covered(ranges: Sequence[tuple[int, int]], start: int, end: int | None) -> int:
    """Return how many offsets from a start on, and below an end, are in some range."""
    covered, at = 0, start
    for first, behind in sorted(ranges):
        low, high = max(first, at), behind if end is None else min(behind, end)
        covered += max(0, high - low)
        at = max(at, high)
    return covered
