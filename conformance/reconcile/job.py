"""How are runs reconciled: ledger, prediction, topic and replica logs?

Two actions of Spark: the topic is read and written down; then everything is joined, counted and sampled in
one query over the run directories. The query of a few records takes seconds whatever they are, so one serves many
small runs. Judging an old run again is the second action alone: both see the same rows.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from conformance.reconcile import run_files
from conformance.reconcile.classify import classified, diverged, with_deviations
from conformance.reconcile.counting import Reconciliation, reconciliation_of
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.jvm import failing_as
from conformance.reconcile.records import Tables, as_predicted, errors_of, in_order, is_true, joined, worded
from conformance.reconcile.run_files import RUN, predicted_divergences
from conformance.reconcile.session import tune
from conformance.reconcile.summary import collected, divergence_parts, has_undetermined, record_parts, replica_log_parts
from conformance.reconcile.topic import read_topic, write_topic
from conformance.record.directory import RunDirectory
from conformance.record.reconciliation import read_counts
from conformance.record.run import read_run

LISTED_RECORDS_MAX = 20_000
"""A run of more records has its classes counted and sampled, not listed."""
SMALL_RUN_RECORDS = 1_000
"""A run of more records has a query of its own, so that what is listed of it does not depend on the others."""
_PLAIN_NAME = re.compile(r"[A-Za-z0-9._+~-]+")
"""A name of a directory that is the same in a URI."""


def read(spark: SparkSession, run_directory: Path, *, bootstrap: str, topic: str, end_offset: int) -> None:
    """Read the topic from the brokers into ``topic/``.

    Args:
        spark: the session.
        run_directory: the run.
        bootstrap: ``host:port`` of live brokers, separated by commas.
        topic: the topic's name.
        end_offset: the leader's high watermark, probed at rest; 0 reads nothing.

    Raises:
        ReconcileError: the brokers did not give every offset below the end offset, or Spark's JVM died.
    """
    tune(spark, end_offset)
    write_topic(read_topic(spark, bootstrap, topic, end_offset), run_directory)


def reconcile_all(spark: SparkSession, runs: Sequence[Path]) -> list[Reconciliation | ReconcileError]:
    """Reconcile runs whose topic was read, small ones in one query, and write what was found into each.

    Where one of those cannot be reconciled each is reconciled alone, so that the others are.
    """
    small = [run for run in runs if _is_small(run)]
    found: dict[Path, Reconciliation] = {}
    if len(small) > 1 and _can_be_told_apart(small):
        with suppress(ReconcileError):
            found = dict(zip(small, _reconciled(spark, small), strict=True))
    return [found[run] if run in found else _alone(spark, run) for run in runs]


def _is_small(run: Path) -> bool:
    with suppress(ReconcileError):
        return run_files.ATTEMPTS.rows(run) <= SMALL_RUN_RECORDS
    return False


def _can_be_told_apart(runs: Sequence[Path]) -> bool:
    """Return whether Spark gives the names of the directories as they are, and no two have the same."""
    names = {run.name for run in runs if _PLAIN_NAME.fullmatch(run.name)}
    return len(names) == len(runs)


def _alone(spark: SparkSession, run: Path) -> Reconciliation | ReconcileError:
    try:
        return reconcile_from_files(spark, run)
    except ReconcileError as error:
        return error


def reconcile_from_files(spark: SparkSession, run_directory: Path) -> Reconciliation:
    """Reconcile a run from its files: ledger, prediction, replica logs and the topic that was read; write the result.

    Raises:
        ReconcileError: the topic was never read, or the reconciliation could not be done.
    """
    (found,) = _reconciled(spark, [run_directory])
    return found


def _reconciled(spark: SparkSession, runs: Sequence[Path]) -> list[Reconciliation]:
    for run in runs:
        _require_sides(run)
    with failing_as(f"reconciling {', '.join(run.name for run in runs)}"):
        attempted = sum(run_files.ATTEMPTS.rows(run) for run in runs)
        many_records = tune(spark, attempted)
        records = _judged_records(spark, runs, many_records=many_records)
        parts = record_parts(records, sample_kept=not many_records, lists_all=attempted <= LISTED_RECORDS_MAX)
        parts += _replica_log_parts(spark, runs)
        try:
            told = collected(parts)
            found = [reconciliation_of(told.get(run.name, {}), run, _end_offset_of(run)) for run in runs]
        finally:
            spark.catalog.clearCache()
        for run, reconciliation in zip(runs, found, strict=True):
            reconciliation.write(run)
    return found


def _judged_records(spark: SparkSession, runs: Sequence[Path], *, many_records: bool) -> DataFrame:
    sources = (run_files.ATTEMPTS, run_files.OUTCOMES, run_files.PREDICTED_RECORDS, run_files.TOPIC)
    attempts, outcomes, predicted, topic = (table.read(spark, runs) for table in sources)
    tables = Tables(attempts, outcomes, predicted, topic, errors_of(runs))
    records = joined(tables)
    measured = worded(in_order(records) if many_records else records, tables.errors)
    sides = (measured, as_predicted(tables.predicted))
    judged = [with_deviations(classified(side, many_records=many_records)) for side in sides]
    return judged[0].unionByName(judged[1])


def _replica_log_parts(spark: SparkSession, runs: Sequence[Path]) -> list[DataFrame]:
    logs = run_files.REPLICA_LOGS.read(spark, runs)
    parts = divergence_parts(diverged(logs), {run.name: predicted_divergences(run) for run in runs})
    predicting = [run for run in runs if run_files.PREDICTED_REPLICA_LOGS.paths(run)]
    undetermined = [run for run in predicting if has_undetermined(run)]
    determined = [run for run in predicting if run not in undetermined]
    logs_of = (run_files.REPLICA_LOGS, run_files.PREDICTED_REPLICA_LOGS)
    if undetermined:
        sources = (*logs_of, run_files.PREDICTED_RECORDS)
        parts += replica_log_parts(deviating_presence(*(table.read(spark, undetermined) for table in sources)))
    if determined:
        parts += replica_log_parts(deviating_entries(*(table.read(spark, determined) for table in logs_of)))
    return parts


def _require_sides(run_directory: Path) -> None:
    """Refuse a run that lacks a side to compare: nothing read must not look like nothing different."""
    if not run_files.TOPIC.paths(run_directory):
        raise ReconcileError(f"{run_directory} has no topic/*.parquet: the topic was never read.")
    if not run_files.PREDICTED_RECORDS.paths(run_directory):
        raise ReconcileError(f"{run_directory} has no prediction/records.parquet.")
    predicted_logs = run_files.PREDICTED_REPLICA_LOGS.rows(run_directory)
    if predicted_logs and not run_files.REPLICA_LOGS.paths(run_directory):
        raise ReconcileError(f"{run_directory} predicts replica logs, but has no replica_logs/*.parquet.")


def _end_offset_of(run_directory: Path) -> int | None:
    """Return the end offset up to which the topic was read: as an earlier reconciliation noted it, else run.json."""
    run = RunDirectory(run_directory)
    counts = read_counts(run)
    return read_run(run).end_offset if counts is None else counts.end_offset_read


# In which entries does the log of a replica differ from the predicted log of that replica?
#
# Record by record at the same broker and offset. Where the prediction leaves the fate of a record open, the
# offsets behind it are open too: then only the presence of the other records on each replica is compared.


def deviating_entries(replica_logs: DataFrame, predicted_logs: DataFrame) -> DataFrame:
    """Return every entry that differs: run, broker, offset, predicted_record, measured_record, value_matches.

    Either record is null where its log has none; ``value_matches`` is null where there is no measured entry.
    """
    measured = replica_logs.select(
        RUN, "broker", "offset", F.col("record_id").alias("measured_record"), "value_matches"
    )
    predicted = predicted_logs.select(RUN, "broker", "offset", F.col("record_id").alias("predicted_record"))
    entries = predicted.join(measured, on=[RUN, "broker", "offset"], how="full_outer")
    return entries.where(~_agrees()).select(
        RUN, "broker", "offset", "predicted_record", "measured_record", "value_matches"
    )


def deviating_presence(replica_logs: DataFrame, predicted_logs: DataFrame, predicted_records: DataFrame) -> DataFrame:
    """Return the same rows, looking only at which determined records each replica holds."""
    undetermined = predicted_records.where(F.col("fate") == "undetermined").select(RUN, "record_id")
    measured = replica_logs.select(
        RUN, "broker", "record_id", "offset", F.col("record_id").alias("measured_record"), "value_matches"
    )
    predicted = predicted_logs.select(RUN, "broker", "record_id", F.col("record_id").alias("predicted_record"))
    entries = predicted.join(measured, on=[RUN, "broker", "record_id"], how="full_outer")
    determined = entries.where(~_agrees()).join(F.broadcast(undetermined), on=[RUN, "record_id"], how="left_anti")
    return determined.select(RUN, "broker", "offset", "predicted_record", "measured_record", "value_matches")


def _agrees() -> Column:
    same = F.col("predicted_record") == F.col("measured_record")
    return is_true(same & F.col("value_matches"))
