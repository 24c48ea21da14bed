"""How is every record of a soak reconciled with what its producers were told, and with what was predicted of it?

The topic is read once. Ledgers, prediction and topic are compared by blocks of ids (``soak_blocks``); the records of
blocks that differ, or have a record that is no plain case, are looked at one by one (``soak_records``), and all are
counted (``soak_counting``). Two checks may be asked for: a sample that is read again and joined record by record
(``soak_control``), and a second count by another engine (``soak_cross_check``).
"""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from conformance.reconcile import run_files
from conformance.reconcile.jvm import failing_as
from conformance.reconcile.session import tune
from conformance.reconcile.soak_blocks import facts_of, runs_of
from conformance.reconcile.soak_control import control_of, windows_of
from conformance.reconcile.soak_counting import Counting
from conformance.reconcile.soak_cross_check import differences
from conformance.reconcile.soak_replicas import compare_replicas
from conformance.reconcile.topic import decoded, records_between, write_topic
from conformance.record.directory import RunDirectory
from conformance.record.soak import Soak
from conformance.record.soak_counted import COUNTED_FILE, OF_NOTE, SoakCounted

READING = {
    "kafkaConsumer.pollTimeoutMs": "60000",
    "kafka.max.poll.records": "20000",
    "kafka.max.partition.fetch.bytes": str(8 * 2**20),
    "kafka.receive.buffer.bytes": str(4 * 2**20),
}
"""Settings of the consumers that read a soak's topic: large fetches, since all of it is read."""
_TASKS_A_CORE = 4


def soak_topic(spark: SparkSession, soak: Soak) -> DataFrame:
    """Return the topic from its beginning to its ends at rest, as rows of ``run_files.TOPIC``; read when they are used.

    Raises:
        ReconcileError: the source is not there, or refuses the options.
    """
    return decoded(soak_records(spark, soak, READING))


def soak_records(
    spark: SparkSession, soak: Soak, options: Mapping[str, str], ranges: Mapping[int, tuple[int, int]] | None = None
) -> DataFrame:
    """Return records of the topic as Spark's Kafka source has them, read in as many tasks as keep all cores busy.

    Args:
        spark: the session.
        soak: whose topic.
        options: of the source.
        ranges: of each partition the first offset, and the end; all of them without.

    Raises:
        ReconcileError: the source is not there, or refuses the options.
    """
    tasks = reading_tasks(spark, soak)
    wanted = {number: (0, end) for number, end in enumerate(soak.ends)} if ranges is None else ranges
    return records_between(spark, soak.bootstrap, soak.topic, wanted, {**options, "minPartitions": str(tasks)})


def reading_tasks(spark: SparkSession, soak: Soak) -> int:
    """Return in how many tasks a topic is to be read."""
    return max(soak.partitions, _TASKS_A_CORE * int(spark.sparkContext.defaultParallelism))


def reconcile_soak(
    spark: SparkSession,
    run: Path,
    soak: Soak,
    *,
    sampled: bool = False,
    cross_check: bool = False,
    data: Mapping[int, Path] | None = None,
    tell: Callable[[str], None] | None = None,
) -> SoakCounted:
    """Read the topic, count the records of every class and partition, and write what was counted.

    Args:
        spark: the session.
        run: the directory.
        soak: of it, with its ends.
        sampled: whether a sample is read again, and joined record by record.
        cross_check: whether what is read is written down, and counted again by DuckDB.
        data: of each broker the directory that has its replicas' folders, if executors can read them.
        tell: told when DuckDB begins.

    Raises:
        ReconcileError: the topic cannot be read, has offsets without a record, a file is unreadable, Spark failed, or
            DuckDB did or is not installed.
    """
    with failing_as(f"reconciling {run.name}"):
        tune(spark, sum(soak.ends))
        topic = soak_topic(spark, soak)
        if cross_check:
            write_topic(topic, run)
            topic = run_files.TOPIC.read(spark, [run])
        counted = count_soak(spark, run, soak, topic, sampled=sampled)
        if data is not None:
            counted = replace(counted, replicas=compare_replicas(spark, soak, data))
    if cross_check:
        counted = _counted_again(run, soak, counted, tell)
    RunDirectory(run).write(COUNTED_FILE, counted)
    return counted


def _counted_again(run: Path, soak: Soak, counted: SoakCounted, tell: Callable[[str], None] | None) -> SoakCounted:
    if tell is not None:
        tell("DuckDB counts every class again, joining every record; of many this takes longer than Spark did")
    with tempfile.TemporaryDirectory(dir=run) as scratch:
        return replace(counted, cross_check=differences(run, soak, counted, Path(scratch)))


def count_soak(spark: SparkSession, run: Path, soak: Soak, topic: DataFrame, *, sampled: bool = False) -> SoakCounted:
    """Count the records of every class and partition, given the topic as rows of ``run_files.TOPIC``.

    Raises:
        ReconcileError: the topic has offsets without a record, or a file is unreadable.
    """
    shutil.rmtree(run / OF_NOTE, ignore_errors=True)
    facts = facts_of(spark, run, soak, topic).persist()
    try:
        runs = runs_of(facts, soak)
        counted = Counting(spark, run, soak, facts, runs).counted()
        tune(spark, sum(soak.ends))  # few are joined one by one
        if not sampled:
            return counted
        windows = windows_of(soak)
        again = soak_records(spark, soak, READING, windows)
        return replace(counted, control=control_of(run, soak, runs, windows, decoded(again)))
    finally:
        spark.catalog.clearCache()
