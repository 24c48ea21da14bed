"""In which entries does the log of a replica differ from the predicted log of that replica?

Record by record at the same broker and offset. Where the prediction leaves the fate of a record open, the
offsets behind it are open too: then only the presence of the other records on each replica is compared.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conformance.reconcile.anomalies.facts import is_true


def deviating_entries(replica_logs: DataFrame, predicted_logs: DataFrame) -> DataFrame:
    """Give every entry that differs: broker, offset, predicted_record, measured_record, value_matches.

    Either record is null where its log has none; ``value_matches`` is null where there is no measured entry.
    """
    measured = replica_logs.select("broker", "offset", F.col("record_id").alias("measured_record"), "value_matches")
    predicted = predicted_logs.select("broker", "offset", F.col("record_id").alias("predicted_record"))
    entries = predicted.join(measured, on=["broker", "offset"], how="full_outer")
    return entries.where(~_agrees()).select("broker", "offset", "predicted_record", "measured_record", "value_matches")


def deviating_presence(replica_logs: DataFrame, predicted_logs: DataFrame, predicted_records: DataFrame) -> DataFrame:
    """Give the same rows, looking only at which determined records each replica holds."""
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
