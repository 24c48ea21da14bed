"""What do ledger, prediction and topic together say of every record id?

One row per id, from one shuffle: every table is reduced to its part of that row and grouped by id, which is a
full outer join that cannot multiply rows. An id that occurs twice where it must not is counted, not hidden.

Columns: side (``measured``), record_id, attempts, outcomes, outcome, error, acknowledged_offset; predictions,
fate, was_committed, predicted_outcome, predicted_error, predicted_offset; copies, first_offset, last_offset,
values_match.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conformance.reconcile.anomalies.facts import ACKNOWLEDGED, INDETERMINATE, is_true

MEASURED = "measured"
PREDICTED = "predicted"
PRESENT = "present"


def joined(attempts: DataFrame, outcomes: DataFrame, predicted: DataFrame, topic: DataFrame) -> DataFrame:
    """Give one row per record id that any table knows; a key that is no id is a row of its own."""
    parts = (_attempts(attempts), _outcomes(outcomes), _predicted(predicted), _topic(topic))
    rows = parts[0]
    for part in parts[1:]:
        rows = rows.unionByName(part, allowMissingColumns=True)
    grouped = rows.groupBy("record_id", "foreign_offset").agg(
        *(_count(name) for name in ("attempts", "outcomes", "predictions", "copies")),
        *(F.max(name).alias(name) for name in ("outcome", "error", "acknowledged_offset", "fate")),
        *(F.max(name).alias(name) for name in ("predicted_outcome", "predicted_error", "predicted_offset")),
        is_true(F.bool_or("was_committed")).alias("was_committed"),
        F.min("offset").alias("first_offset"),
        F.max("offset").alias("last_offset"),
        F.bool_and("value_matches").alias("values_match"),
    )
    outcome = F.when(F.col("attempts") > 0, F.coalesce("outcome", F.lit(INDETERMINATE)))
    return grouped.drop("foreign_offset").withColumns({"side": F.lit(MEASURED), "outcome": outcome})


def as_predicted(predicted: DataFrame) -> DataFrame:
    """Give the same columns as if all had come out as predicted, so that the same classes can be counted."""
    is_present = F.col("fate") == PRESENT
    offset = F.when(is_present, F.col("offset"))
    return predicted.select(
        "record_id",
        *(F.lit(1).cast("bigint").alias(name) for name in ("attempts", "outcomes", "predictions")),
        F.coalesce("outcome", F.lit(INDETERMINATE)).alias("outcome"),
        "error",
        F.when(F.col("outcome") == ACKNOWLEDGED, offset).alias("acknowledged_offset"),
        "fate",
        is_true(F.col("was_committed")).alias("was_committed"),
        F.col("outcome").alias("predicted_outcome"),
        F.col("error").alias("predicted_error"),
        F.col("offset").alias("predicted_offset"),
        is_present.cast("bigint").alias("copies"),
        offset.alias("first_offset"),
        offset.alias("last_offset"),
        F.lit(col=True).alias("values_match"),
        F.lit(PREDICTED).alias("side"),
    )


def _attempts(attempts: DataFrame) -> DataFrame:
    return attempts.select("record_id", _one("attempts"), F.lit(None).cast("bigint").alias("foreign_offset"))


def _outcomes(outcomes: DataFrame) -> DataFrame:
    known_offset = F.when(F.col("offset") >= 0, F.col("offset"))
    return outcomes.select("record_id", _one("outcomes"), "outcome", "error", known_offset.alias("acknowledged_offset"))


def _predicted(predicted: DataFrame) -> DataFrame:
    return predicted.select(
        "record_id",
        _one("predictions"),
        "fate",
        "was_committed",
        F.col("outcome").alias("predicted_outcome"),
        F.col("error").alias("predicted_error"),
        F.col("offset").alias("predicted_offset"),
    )


def _topic(topic: DataFrame) -> DataFrame:
    foreign_offset = F.when(F.col("record_id").isNull(), F.col("offset")).alias("foreign_offset")
    return topic.select("record_id", foreign_offset, _one("copies"), "offset", "value_matches")


def _one(name: str) -> Column:
    return F.lit(1).cast("bigint").alias(name)


def _count(name: str) -> Column:
    return F.coalesce(F.sum(name), F.lit(0).cast("bigint")).alias(name)
