"""How many records of a soak are in each class, by partition, and how do they compare with the prediction?"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, GroupedData, SparkSession, Window
from pyspark.sql import functions as F

from conformance.reconcile import run_files
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.records import OUTCOMES
from conformance.reconcile.session import tune
from conformance.reconcile.soak_blocks import (
    FOREIGN_BLOCK,
    IN_TOPIC,
    RANKS,
    TOLD_ANYTHING,
    Fact,
    is_kind,
    is_late,
    order_of,
    partition_of_block,
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
    ComparedAs,
    SoakCounted,
    SoakPartition,
    SoakRecord,
)
from conformance.record.soak_prediction import RANGES_FILE
from oracle.vocabulary import RangeFate

_COMMON = ("absent", "indeterminate_present", "kept")
Counts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Joined:
    """What is looked at one by one: its records (None if there are none), how many blocks it is of.

    plain: how many records are in the others, by partition; None if these are all that are plain.
    """

    records: DataFrame | None = None
    blocks: int = 0
    plain: dict[int, Counts] | None = None


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
        totals = self._totals()
        _require_every_offset(self.soak, totals)
        joined = self._joined(totals)
        others = {} if joined.records is None else _counts_of(joined.records)
        samples = [] if joined.records is None else self._noted(joined.records)
        plain = totals if joined.plain is None else joined.plain
        told = sum(one["records"] for one in plain.values()) + sum(one["told"] for one in others.values())
        partitions = tuple(self._partition(number, totals, plain, others) for number in range(self.soak.partitions))
        return SoakCounted(
            partitions=partitions,
            samples=tuple(samples),
            compared=Compared(
                blocks=sum(one["blocks"] for one in totals.values()),
                joined_blocks=joined.blocks,
                joined_records=sum(one["rows"] for one in others.values()),
            ),
            identity_holds=self._identity_holds(partitions, totals, told),
            errors=self._errors(partitions),
        )

    def _totals(self) -> dict[int, Counts]:
        """Return what needs no look at single records, by partition; one query, in which the topic is read.

        read, foreign: rows of this partition of the topic. attempts, outcomes: rows of the ledgers. blocks, odd_blocks:
        all, and those that are not plain. records: those in plain blocks. late: stretches that may be
        out of order.
        """
        is_ours = F.col("block") != FOREIGN_BLOCK
        at = F.when(F.col("partition") >= 0, F.col("partition")).otherwise(partition_of_block(self.soak))
        rows = {
            "read": is_kind(*IN_TOPIC),
            "foreign": is_kind(*IN_TOPIC) & ~is_ours,
            "attempts": is_kind(Fact.ATTEMPTED) & is_ours,
            "outcomes": is_kind(*TOLD_ANYTHING) & is_ours,
        }
        sums = {name: F.sum(F.when(which, F.col("rows")).otherwise(0)) for name, which in rows.items()}
        blocks = {
            "blocks": F.count_if("is_first"),
            "odd_blocks": F.count_if(F.col("is_first") & ~F.col("is_plain")),
            "records": F.sum(F.when(F.col("is_plain"), F.bit_count("told")).otherwise(0).cast("bigint")),
            "late": F.count_if("is_late"),
        }
        runs = self.runs.withColumn("is_late", is_late()).groupBy(partition_of_block(self.soak).alias("own"))
        parts = (_named(self.facts.groupBy(at.alias("own")), sums), _named(runs, blocks))
        found: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for row in rows_of(reduce(DataFrame.unionByName, parts)):
            found[row["own"]][row["name"]] = row["count"]
        return dict(found)

    def _joined(self, totals: Mapping[int, Counts]) -> _Joined:
        """Return what is looked at one by one: records of blocks that are not plain, or late, and what is foreign."""
        if not any(one["odd_blocks"] or one["late"] or one["foreign"] for one in totals.values()):
            return _Joined()
        odd_blocks = sum(one["odd_blocks"] for one in totals.values())
        tune(self.spark, RANKS * odd_blocks)
        runs = self.runs.persist()
        odd = runs.where(~F.col("is_plain")).select("block").distinct()
        records = records_of(self.facts, odd, self.soak).persist()
        order = order_of(runs, stretches_of(records), self.soak).persist()
        late = order.where("is_late").join(odd, "block", "left_anti").select("block")
        joined = _Joined(records, odd_blocks)
        if not late.isEmpty():
            blocks = odd.union(late).distinct().persist()
            plain = self.runs.join(blocks, "block", "left_anti").groupBy(partition_of_block(self.soak).alias("own"))
            counted = rows_of(plain.agg(F.sum(F.bit_count("told")).alias("records")))
            counts = {row["own"]: row.asDict() for row in counted}
            joined = _Joined(records_of(self.facts, blocks, self.soak), blocks.count(), counts)
        ordered = reordered(joined.records, order).withColumn("classification", primary()).persist()
        return replace(joined, records=ordered)

    def _noted(self, records: DataFrame) -> list[SoakRecord]:
        """Write the records of note, and return a sample of every class."""
        is_uncommon = reduce(or_, (F.col(name) for name in CLASSES if name not in _COMMON))
        of_note = records.where(is_uncommon | (F.col("judged") != ComparedAs.PREDICTED.value))
        told = ("own", "record_id", "outcome", "acknowledged_offset", "copies", "found_partition", "found_offset")
        written = of_note.select(*told, "there", "expected", "judged", "classification", *CLASSES)
        written.write.mode("overwrite").parquet(str(self.run / OF_NOTE))
        return [SoakRecord(**row.asDict()) for row in rows_of(_samples(records))]

    def _partition(
        self, number: int, totals: Mapping[int, Counts], plain: Mapping[int, Counts], others: Mapping[int, Counts]
    ) -> SoakPartition:
        rows, at = others.get(number, _NONE), totals.get(number, _NONE)
        kept = plain.get(number, _NONE)["records"]
        classes, chosen = (_classes(rows, prefix, kept) for prefix in ("class", "primary"))
        outcomes = {name: rows[name] for name in OUTCOMES}
        present, end = _predicted_offsets(self.run, number), self.soak.ends[number]
        return SoakPartition(
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

    def _identity_holds(self, partitions: Sequence[SoakPartition], totals: Mapping[int, Counts], told: int) -> bool:
        """Return whether rows of files, offsets of the topic, and primary classes add up.

        Args:
            partitions: what was counted.
            totals: what was gone through.
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
            and attempts == sum(one["attempts"] for one in totals.values())
            and outcomes == sum(one["outcomes"] for one in totals.values()) == told
            and sum(one.copies + one.foreign for one in partitions) == sum(self.soak.ends)
        )

    def _errors(self, partitions: Sequence[SoakPartition]) -> dict[str, int]:
        """Return how many outcomes name which error."""
        _, *others = OUTCOMES
        if not any(one.outcomes[name] for one in partitions for name in others):
            return {}
        outcomes = run_files.OUTCOMES.read(self.spark, ledger_directories(RunDirectory(self.run), self.soak))
        named = outcomes.where(F.col("error").isNotNull()).groupBy("error").count()
        return {row["error"]: row["count"] for row in rows_of(named.orderBy("error"))}


_NONE: Counts = defaultdict(int)


def _require_every_offset(soak: Soak, totals: Mapping[int, Counts]) -> None:
    """Refuse a topic that lacks offsets: nothing can be told of what is not there any more."""
    for number, end in enumerate(soak.ends):
        found = totals.get(number, _NONE)["read"]
        if found != end:
            raise ReconcileError(
                f"Partition {number} of {soak.topic} ends at {end}, and {found} records were read of it. Offsets "
                "without a record are markers of transactions, or their records were removed by compaction, by "
                "retention, or by an operator: a soak's topic may have none of these."
            )


def _named(grouped: GroupedData, counts: Mapping[str, Column]) -> DataFrame:
    """Return counts of each partition, one a row: own, name, count."""
    found = grouped.agg(*(count.cast("bigint").alias(name) for name, count in counts.items()))
    return found.unpivot("own", list(counts), "name", "count")


def _counts_of(records: DataFrame) -> dict[int, Counts]:
    """Return how many records there are of every class, by partition: few kinds of records are summed up here."""
    flags = {
        "attempted": F.col("attempts") > 0,
        "told": (F.col("attempts") > 0) & (F.col("outcomes") > 0),
        "is_ours": F.col("record_id").isNotNull(),
    }
    kinds = records.groupBy(
        "own", "judged", "classification", "outcome", *CLASSES, *(flag.alias(name) for name, flag in flags.items())
    )
    found: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows_of(kinds.agg(F.count("*").alias("rows"), F.sum("copies").alias("copies"))):
        counts, judged = found[row["own"]], row["judged"]
        names = ["rows", row["outcome"], f"primary_{row['classification']}_{judged}"]
        names += [name for name in ("attempted", "told") if row[name]]
        names += [f"class_{name}_{judged}" for name in CLASSES if row[name]]
        for name in names:
            counts[name] += row["rows"]
        counts["copies"] += row["copies"] if row["is_ours"] else 0
    return dict(found)


def _classes(rows: Counts, prefix: str, kept: int) -> dict[str, ClassCounted]:
    found = {
        name: ClassCounted(**{judged.value: rows[f"{prefix}_{name}_{judged.value}"] for judged in ComparedAs})
        for name in CLASSES
    }
    return {**found, "kept": found["kept"] + ClassCounted(predicted=kept)}


def _samples(records: DataFrame) -> DataFrame:
    """Return some records of every class, those against the prediction first; of the kept ones no others."""
    is_predicted = F.col("judged") == ComparedAs.PREDICTED.value
    named = (F.when(F.col(name) & ((name != "kept") | ~is_predicted), F.lit(name)) for name in CLASSES)
    told = records.withColumn("classification", F.explode(F.array_compact(F.array(*named))))
    among = Window.partitionBy("classification").orderBy(is_predicted, "record_id", "found_offset")
    chosen = told.withColumn("place", F.row_number().over(among)).where(F.col("place") <= SAMPLE_ROWS_MAX)
    names = [name for name in SoakRecord.__dataclass_fields__ if name != "partition"]
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
