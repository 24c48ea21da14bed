"""How is one run reconciled: ledger, prediction, topic and replica logs?

Two actions of Spark: the topic is read and written down; then everything is joined, counted and sampled in
one query over the run directory. Judging an old run again is the second action alone: both see the same rows.
"""

from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from conformance.reconcile import run_files
from conformance.reconcile.classify import classified, diverged, with_deviations
from conformance.reconcile.counting import Reconciliation, reconciliation_of
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.jvm import failing_as
from conformance.reconcile.records import Tables, as_predicted, errors_of, in_order, is_true, joined, worded
from conformance.reconcile.run_files import predicted_divergences
from conformance.reconcile.session import tune
from conformance.reconcile.summary import collected, divergence_parts, has_undetermined, record_parts, replica_log_parts
from conformance.reconcile.topic import read_topic, write_topic
from conformance.record.directory import RunDirectory
from conformance.record.reconciliation import read_counts

LISTED_RECORDS_MAX = 20_000
"""A run of more records has its classes counted and sampled, not listed."""


def reconcile(
    spark: SparkSession,
    run_directory: Path,
    *,
    bootstrap: str,
    topic: str,
    end_offset: int,
) -> Reconciliation:
    """Read the topic from the brokers, join it with ledger and frozen prediction, write and return the result.

    Args:
        spark: the session.
        run_directory: the run: ledger, prediction, replica logs; gets ``topic/`` and ``reconciliation/``.
        bootstrap: ``host:port`` of live brokers, separated by commas.
        topic: the topic's name.
        end_offset: the leader's high watermark, probed at rest; 0 reads nothing.

    Raises:
        ReconcileError: the reconciliation could not be done, e.g. Spark's JVM died or offsets are missing.
    """
    tune(spark, end_offset)
    records = read_topic(spark, bootstrap, topic, end_offset)
    write_topic(records, run_directory)
    return _reconciled(spark, run_directory, end_offset)


def reconcile_from_files(spark: SparkSession, run_directory: Path) -> Reconciliation:
    """Do the same for a run whose topic was read before, without brokers.

    Raises:
        ReconcileError: the topic was never read, or the reconciliation could not be done.
    """
    if not run_files.TOPIC.paths(run_directory):
        raise ReconcileError(f"{run_directory} has no topic/*.parquet: the topic was never read.")
    return _reconciled(spark, run_directory, _end_offset_of(run_directory))


def _reconciled(spark: SparkSession, run_directory: Path, end_offset: int | None) -> Reconciliation:
    _require_prediction(run_directory)
    with failing_as(f"reconciling {run_directory.name}"):
        attempted = run_files.ATTEMPTS.rows(run_directory)
        many_records = tune(spark, attempted)
        records = _judged_records(spark, run_directory, many_records=many_records)
        parts = record_parts(records, sample_kept=not many_records, lists_all=attempted <= LISTED_RECORDS_MAX)
        parts += _replica_log_parts(spark, run_directory)
        try:
            reconciliation = reconciliation_of(collected(parts), run_directory, end_offset)
        finally:
            spark.catalog.clearCache()
        reconciliation.write(run_directory)
    return reconciliation


def _judged_records(spark: SparkSession, run_directory: Path, *, many_records: bool) -> DataFrame:
    sources = (run_files.ATTEMPTS, run_files.OUTCOMES, run_files.PREDICTED_RECORDS, run_files.TOPIC)
    attempts, outcomes, predicted, topic = (table.read(spark, run_directory) for table in sources)
    tables = Tables(attempts, outcomes, predicted, topic, errors_of(run_directory))
    records = joined(tables)
    measured = worded(in_order(records) if many_records else records, tables.errors)
    sides = (measured, as_predicted(tables.predicted))
    judged = [with_deviations(classified(side, many_records=many_records)) for side in sides]
    return judged[0].unionByName(judged[1])


def _replica_log_parts(spark: SparkSession, run_directory: Path) -> list[DataFrame]:
    logs = run_files.REPLICA_LOGS.read(spark, run_directory)
    parts = divergence_parts(diverged(logs), predicted_divergences(run_directory))
    if not run_files.PREDICTED_REPLICA_LOGS.paths(run_directory):
        return parts
    predicted_logs = run_files.PREDICTED_REPLICA_LOGS.read(spark, run_directory)
    if has_undetermined(run_directory):
        predicted_records = run_files.PREDICTED_RECORDS.read(spark, run_directory)
        return [*parts, *replica_log_parts(deviating_presence(logs, predicted_logs, predicted_records))]
    return [*parts, *replica_log_parts(deviating_entries(logs, predicted_logs))]


def _require_prediction(run_directory: Path) -> None:
    """Refuse a run that lacks a side to compare: nothing read must not look like nothing different."""
    if not run_files.PREDICTED_RECORDS.paths(run_directory):
        raise ReconcileError(f"{run_directory} has no prediction/records.parquet.")
    predicted_logs = run_files.PREDICTED_REPLICA_LOGS.rows(run_directory)
    if predicted_logs and not run_files.REPLICA_LOGS.paths(run_directory):
        raise ReconcileError(f"{run_directory} predicts replica logs, but has no replica_logs/*.parquet.")


def _end_offset_of(run_directory: Path) -> int | None:
    """Return the end offset that the earlier reading of the topic noted."""
    counts = read_counts(RunDirectory(run_directory))
    return None if counts is None else counts.end_offset_read


# In which entries does the log of a replica differ from the predicted log of that replica?
#
# Record by record at the same broker and offset. Where the prediction leaves the fate of a record open, the
# offsets behind it are open too: then only the presence of the other records on each replica is compared.


def deviating_entries(replica_logs: DataFrame, predicted_logs: DataFrame) -> DataFrame:
    """Return every entry that differs: broker, offset, predicted_record, measured_record, value_matches.

    Either record is null where its log has none; ``value_matches`` is null where there is no measured entry.
    """
    measured = replica_logs.select("broker", "offset", F.col("record_id").alias("measured_record"), "value_matches")
    predicted = predicted_logs.select("broker", "offset", F.col("record_id").alias("predicted_record"))
    entries = predicted.join(measured, on=["broker", "offset"], how="full_outer")
    return entries.where(~_agrees()).select("broker", "offset", "predicted_record", "measured_record", "value_matches")


def deviating_presence(replica_logs: DataFrame, predicted_logs: DataFrame, predicted_records: DataFrame) -> DataFrame:
    """Return the same rows, looking only at which determined records each replica holds."""
    undetermined = predicted_records.where(F.col("fate") == "undetermined").select("record_id")
    measured = replica_logs.select(
        "broker", "record_id", "offset", F.col("record_id").alias("measured_record"), "value_matches"
    )
    predicted = predicted_logs.select("broker", "record_id", F.col("record_id").alias("predicted_record"))
    entries = predicted.join(measured, on=["broker", "record_id"], how="full_outer")
    determined = entries.where(~_agrees()).join(F.broadcast(undetermined), on="record_id", how="left_anti")
    return determined.select("broker", "offset", "predicted_record", "measured_record", "value_matches")


def _agrees() -> Column:
    same = F.col("predicted_record") == F.col("measured_record")
    return is_true(same & F.col("value_matches"))
