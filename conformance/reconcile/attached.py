"""How is a ledger reconciled that ran beside somebody else's cluster? Ledger and topic are joined; nothing predicted.

The classes are those of a run (``classify``). Records of one partition and one producer are in one order; a record in
another partition than its own is a phantom there; what is below the log's start was deleted, as retention does.
A record that is not there and was acknowledged without an offset may have been, if the start moved.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from conformance.reconcile import run_files
from conformance.reconcile.classify import CLASSES, classified
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.jvm import failing_as
from conformance.reconcile.records import (
    INDETERMINATE,
    OUTCOMES,
    REFUSED,
    Tables,
    errors_of,
    in_order,
    is_acknowledged,
    joined,
    worded,
)
from conformance.reconcile.session import tune
from conformance.reconcile.summary import SAMPLE_ROWS_MAX, rows_of
from conformance.reconcile.topic import read_ranges, write_topic
from conformance.record.attached import IDS_MAX, Attached
from conformance.record.attached_counted import COUNTED_FILE, NOTED, Counted, LossTimes, PartitionCounted, RecordOfNote
from conformance.record.directory import RunDirectory

NOT_KEPT = tuple(name for name in CLASSES if name != "kept")
_AMONG = ("partition", "sender")
_PATIENT = {"kafkaConsumer.pollTimeoutMs": "60000"}


def read_attached_topic(spark: SparkSession, run: Path, attached: Attached, connection: Mapping[str, str]) -> None:
    """Read the topic from where it ended before the first record up to its high watermarks at rest, into ``topic/``.

    Args:
        spark: the session.
        run: the directory.
        attached: of it, with its ends.
        connection: settings of a Java client that reach the cluster.

    Raises:
        ReconcileError: brokers did not give every offset in between.
    """
    tune(spark, sum(attached.ends) - sum(attached.starts))
    options = {**{f"kafka.{name}": value for name, value in connection.items()}, **_PATIENT}
    write_topic(read_ranges(spark, attached.bootstrap, attached.topic, _ranges(attached), options), run)


def _ranges(attached: Attached) -> Mapping[int, tuple[int, int]]:
    ends = enumerate(zip(map(max, attached.starts, attached.log_starts), attached.ends, strict=True))
    return {number: (min(first, end), end) for number, (first, end) in ends}


def reconcile_attached(spark: SparkSession, run: Path, attached: Attached) -> Counted:
    """Count the records of every class and partition, and write what was counted.

    Raises:
        ReconcileError: the topic was not read, a file is unreadable, or Spark failed.
    """
    if not run_files.TOPIC.paths(run):
        raise ReconcileError(f"{run} has no topic/*.parquet: the topic was never read.")
    with failing_as(f"reconciling {run.name}"):
        many_records = tune(spark, run_files.ATTEMPTS.rows(run))
        topic = run_files.TOPIC.read(spark, [run])
        records = _records(spark, run, attached, topic.where(_is_own(attached)), many_records=many_records)
        try:
            counted = _counted(records, topic.where(~_is_own(attached)).count(), run)
        finally:
            spark.catalog.clearCache()
    RunDirectory(run).write(COUNTED_FILE, counted)
    return counted


def _records(spark: SparkSession, run: Path, attached: Attached, topic: DataFrame, *, many_records: bool) -> DataFrame:
    attempts, outcomes = (table.read(spark, [run]) for table in (run_files.ATTEMPTS, run_files.OUTCOMES))
    predicted = run_files.PREDICTED_RECORDS.read(spark, [run])
    tables = Tables(attempts, outcomes, predicted, _in_place(topic, attached), errors_of([run]))
    records = worded(joined(tables), tables.errors)
    placed = records.withColumns({"partition": _partition(attached), "sender": _sender(attached)})
    placed = placed.withColumn("fate", F.when(_is_deleted(attached), "deleted").otherwise(F.lit(None).cast("string")))
    ordered = in_order(placed) if many_records else placed
    return classified(ordered, many_records=many_records, among=_AMONG)


def _is_own(attached: Attached) -> Column:
    is_own = F.col("record_id").between(attached.base, attached.base + IDS_MAX - 1)
    return F.coalesce(is_own, F.lit(col=False))


def _partition(attached: Attached) -> Column:
    return F.pmod(F.col("record_id") - F.lit(attached.base), F.lit(attached.partitions)).cast("int")


def _sender(attached: Attached) -> Column:
    begun = [(F.col("record_id") >= first).cast("int") for first in attached.senders]
    return sum(begun, F.lit(0))


def _in_place(topic: DataFrame, attached: Attached) -> DataFrame:
    """Return the topic's records, those in another partition than their own without an id, and told apart."""
    is_in_place = F.col("partition") == _partition(attached)
    elsewhere = F.col("offset") * attached.partitions + F.col("partition")
    return topic.withColumns(
        {
            "offset": F.when(is_in_place, F.col("offset")).otherwise(elsewhere),
            "record_id": F.when(is_in_place, F.col("record_id")),
        }
    )


def _is_deleted(attached: Attached) -> Column:
    """Return whether a record that is not there was acknowledged below the start of the log, or may have been."""
    starts = F.array(*(F.lit(one).cast("bigint") for one in attached.log_starts))[F.col("partition")]
    begun = F.array(*(F.lit(one).cast("bigint") for one in attached.starts))[F.col("partition")]
    is_below = F.col("acknowledged_offset") < starts
    return is_acknowledged() & F.coalesce(is_below, starts > begun)


def _counted(records: DataFrame, foreign: int, run: Path) -> Counted:
    noted = records.select(
        "partition",
        "record_id",
        "outcome",
        "error",
        "acknowledged_offset",
        "first_offset",
        "last_offset",
        "copies",
        "attempts",
        "outcomes",
        "classification",
        *CLASSES,
    ).persist()
    noted.where(_is_of_note()).drop("attempts", "outcomes").write.mode("overwrite").parquet(str(run / NOTED))
    errors = errors_of([run])
    counts = [row.asDict() for row in rows_of(_counts(noted, errors))]
    samples = [RecordOfNote(**row.asDict()) for row in rows_of(_samples(noted))]
    acknowledged_at = _lost_acknowledged_at(noted, run) if any(row["class_lost"] for row in counts) else {}
    ordered = sorted(counts, key=lambda one: _number(one["partition"]))
    partitions = tuple(_partition_counted(row, errors, acknowledged_at.get(row["partition"])) for row in ordered)
    return Counted(partitions, tuple(samples), foreign, _identity_holds(counts, run, foreign))


def _is_of_note() -> Column:
    return F.greatest(*(F.col(name) for name in NOT_KEPT)) & ~_was_refused()


def _was_refused() -> Column:
    """Return whether a record was refused, and is not there: as it should be."""
    return F.col("absent") & (F.col("outcome") == REFUSED)


def _number(partition: int | None) -> int:
    return -1 if partition is None else partition


def _lost_acknowledged_at(records: DataFrame, run: Path) -> Mapping[int, int]:
    """Return of each partition when its last acknowledgement of a lost record was known."""
    told = run_files.OUTCOMES.read(records.sparkSession, [run]).select("record_id", "completed_ns")
    lost = records.where("lost").select("partition", "record_id").join(told, "record_id")
    latest = lost.groupBy("partition").agg(F.max("completed_ns").alias("at"))
    return {row["partition"]: row["at"] for row in rows_of(latest)}


def _counts(records: DataFrame, errors: Sequence[str]) -> DataFrame:
    is_attempted = F.col("attempts") > 0
    return records.groupBy("partition").agg(
        F.count("*").alias("rows"),
        F.count("classification").alias("classified"),
        F.count_if(is_attempted).alias("attempted"),
        *(F.sum(name).alias(name) for name in ("attempts", "outcomes", "copies")),
        *(F.count_if(is_attempted & (F.col("outcome") == name)).alias(name) for name in OUTCOMES),
        *(F.count_if(F.col(name)).alias(f"class_{name}") for name in CLASSES),
        *(F.count_if(F.col("classification") == name).alias(f"primary_{name}") for name in CLASSES),
        *(F.count_if(_is_unknown() & (F.col("error") == name)).alias(f"error_{name}") for name in errors),
        F.count_if(F.col("deleted") & F.col("acknowledged_offset").isNull()).alias("unplaced"),
        F.min("acknowledged_offset").alias("first_acknowledged"),
        F.min(F.when(F.col("lost"), F.col("acknowledged_offset"))).alias("first_lost"),
    )


def _is_unknown() -> Column:
    return F.col("outcome") == INDETERMINATE


def _samples(records: DataFrame) -> DataFrame:
    """Return the first records of every class but the kept ones, class by class."""
    names = list(RecordOfNote.__dataclass_fields__)
    classes = F.array_compact(F.array(*(F.when(F.col(name), F.lit(name)) for name in NOT_KEPT)))
    told = records.where(_is_of_note()).withColumns(
        {"classification": F.explode(classes), "partition": F.coalesce("partition", F.lit(-1))}
    )
    rank = F.row_number().over(Window.partitionBy("classification").orderBy("record_id"))
    return (
        told.withColumn("rank", rank)
        .where(F.col("rank") <= SAMPLE_ROWS_MAX)
        .select(*names)
        .orderBy("classification", "record_id")
    )


def _partition_counted(row: Mapping[str, Any], errors: Sequence[str], acknowledged_at: int | None) -> PartitionCounted:
    is_first_lost = row["first_lost"] is not None and row["first_lost"] == row["first_acknowledged"]
    return PartitionCounted(
        partition=_number(row["partition"]),
        attempted=row["attempted"],
        read=row["copies"],
        outcomes={name: row[name] for name in OUTCOMES},
        classes={name: row[f"class_{name}"] for name in CLASSES},
        primary={name: row[f"primary_{name}"] for name in CLASSES},
        errors={name: count for name in errors if (count := row[f"error_{name}"])},
        unplaced=row["unplaced"],
        losses=None if acknowledged_at is None else LossTimes(acknowledged_at, is_first_lost),
    )


def _identity_holds(counts: Sequence[Mapping[str, Any]], run: Path, foreign: int) -> bool:
    """Return whether what Spark counted adds up to the rows of the files, and every record has one primary class."""
    total: dict[str, int] = defaultdict(int)
    for row in counts:
        for name, value in row.items():
            total[name] += value if isinstance(value, int) and name != "partition" else 0
    primary = sum(total[f"primary_{name}"] for name in CLASSES)
    return (
        total["rows"] == total["classified"] == primary == total["attempted"] + total["primary_phantom"]
        and total["attempts"] == total["attempted"] == run_files.ATTEMPTS.rows(run)
        and total["outcomes"] == run_files.OUTCOMES.rows(run)
        and total["copies"] + foreign == run_files.TOPIC.rows(run)
    )
