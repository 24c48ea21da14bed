"""What do ledger, prediction and topic together say of every record id?

One row per id of a run, from one shuffle: every table is reduced to its part of that row and grouped by id, which is a
full outer join that cannot multiply rows. An id that occurs twice where it must not is counted, not hidden.
Ids are grouped block by block, so that rows of neighbouring ids stay together for what needs their order.

Columns: run, side (``measured``), block, record_id, attempts, outcomes, outcome, error, acknowledged_offset;
predictions, fate, was_committed, predicted_outcome, predicted_error, predicted_offset; copies, first_offset,
last_offset, values_match.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conformance.reconcile.run_files import OUTCOMES as OUTCOME_FILES
from conformance.reconcile.run_files import PREDICTED_RECORDS, RUN

# Which plain facts about a record do the classes share?
#
# Every function reads columns of ``records.joined``: what ledger, prediction and topic say of one id.


ACKNOWLEDGED = "acknowledged"
REFUSED = "refused"
INDETERMINATE = "indeterminate"


def is_attempted() -> Column:
    """Return whether the ledger knows of an attempt to send the record."""
    return F.col("attempts") > 0


def is_present() -> Column:
    """Return whether the record is in the topic, at least once."""
    return F.col("copies") > 0


def is_acknowledged() -> Column:
    """Return whether its producer was told that it is written."""
    return F.col("outcome") == ACKNOWLEDGED


def is_refused() -> Column:
    """Return whether its producer was told that it is not written."""
    return F.col("outcome") == REFUSED


def is_true(condition: Column) -> Column:
    """Return whether a condition is known to be true: what depends on a missing fact is not."""
    return F.coalesce(condition, F.lit(col=False))


# How do the words of outcomes, fates and errors travel through the join?
#
# As small numbers: a group of fixed-width columns is aggregated in a hash table, one with texts is sorted.


OUTCOMES = (ACKNOWLEDGED, REFUSED, INDETERMINATE)
FATES = ("present", "lost", "absent", "undetermined", "deleted")


def code_of(word: Column, words: Sequence[str]) -> Column:
    """Return the position of a word among the words, counted from 1; null for any other."""
    codes = (F.when(word == known, F.lit(code)) for code, known in enumerate(words, 1))
    return F.coalesce(F.lit(None).cast("int"), *codes)


def word_of(code: Column, words: Sequence[str]) -> Column:
    """Return the word that a code stands for."""
    return F.coalesce(F.lit(None).cast("string"), *(F.when(code == at, word) for at, word in enumerate(words, 1)))


def errors_of(runs: Sequence[Path]) -> tuple[str, ...]:
    """Return the different errors that the producers of some runs saw or their predictions name: a handful."""
    found: set[str] = set()
    for path in (path for run in runs for table in (OUTCOME_FILES, PREDICTED_RECORDS) for path in table.paths(run)):
        column = pq.read_table(path, columns=["error"]).column("error")
        found.update(error for error in column.unique().to_pylist() if error is not None)
    return tuple(sorted(found))


MEASURED = "measured"
PREDICTED = "predicted"
PRESENT = "present"

_BLOCK = 2**14
_KEY = (RUN, "block", "record_id", "foreign_offset")


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of some runs that are joined by run and record id, and the errors they name."""

    attempts: DataFrame
    outcomes: DataFrame
    predicted: DataFrame
    topic: DataFrame
    errors: Sequence[str]


def joined(tables: Tables) -> DataFrame:
    """Return one row per run and record id that any table knows; a key that is no id is a row of its own.

    Outcomes, fates and errors are codes: see ``worded``.
    """
    parts = (_attempts(tables), _outcomes(tables), _predicted(tables), _topic(tables))
    rows = parts[0]
    for part in parts[1:]:
        rows = rows.unionByName(part, allowMissingColumns=True)
    grouped = rows.withColumn("block", _block()).repartition(RUN, "block").groupBy(*_KEY)
    return grouped.agg(
        *(_count(name) for name in ("attempts", "outcomes", "predictions", "copies")),
        *(F.max(name).alias(name) for name in ("outcome", "error", "acknowledged_offset", "fate")),
        *(F.max(name).alias(name) for name in ("predicted_outcome", "predicted_error", "predicted_offset")),
        is_true(F.bool_or("was_committed")).alias("was_committed"),
        F.min("offset").alias("first_offset"),
        F.max("offset").alias("last_offset"),
        F.bool_and("value_matches").alias("values_match"),
    ).drop("foreign_offset")


def in_order(records: DataFrame) -> DataFrame:
    """Return the joined rows sorted by id within every block, in the memory of the executors or on their disks."""
    return records.sortWithinPartitions(RUN, "block", "record_id").persist()


def worded(records: DataFrame, errors: Sequence[str]) -> DataFrame:
    """Return joined rows with words for codes; an attempt without outcome is indeterminate."""
    outcome = F.coalesce(word_of(F.col("outcome"), OUTCOMES), F.lit(INDETERMINATE))
    return records.withColumns(
        {
            "side": F.lit(MEASURED),
            "outcome": F.when(F.col("attempts") > 0, outcome),
            "error": word_of(F.col("error"), errors),
            "fate": word_of(F.col("fate"), FATES),
            "predicted_outcome": word_of(F.col("predicted_outcome"), OUTCOMES),
            "predicted_error": word_of(F.col("predicted_error"), errors),
        }
    )


def as_predicted(predicted: DataFrame) -> DataFrame:
    """Return the same columns as if all had come out as predicted, so that the same classes can be counted."""
    is_present = F.col("fate") == PRESENT
    offset = F.when(is_present, F.col("offset"))
    return predicted.select(
        RUN,
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
        _block().alias("block"),
    )


def _attempts(tables: Tables) -> DataFrame:
    return tables.attempts.select(RUN, "record_id", _one("attempts"), F.lit(None).cast("bigint").alias(_KEY[-1]))


def _outcomes(tables: Tables) -> DataFrame:
    return tables.outcomes.select(
        RUN,
        "record_id",
        _one("outcomes"),
        code_of(F.col("outcome"), OUTCOMES).alias("outcome"),
        code_of(F.col("error"), tables.errors).alias("error"),
        F.when(F.col("offset") >= 0, F.col("offset")).alias("acknowledged_offset"),
    )


def _predicted(tables: Tables) -> DataFrame:
    return tables.predicted.select(
        RUN,
        "record_id",
        _one("predictions"),
        code_of(F.col("fate"), FATES).alias("fate"),
        "was_committed",
        code_of(F.col("outcome"), OUTCOMES).alias("predicted_outcome"),
        code_of(F.col("error"), tables.errors).alias("predicted_error"),
        F.col("offset").alias("predicted_offset"),
    )


def _topic(tables: Tables) -> DataFrame:
    foreign_offset = F.when(F.col("record_id").isNull(), F.col("offset")).alias(_KEY[-1])
    return tables.topic.select(RUN, "record_id", foreign_offset, _one("copies"), "offset", "value_matches")


def _block() -> Column:
    return F.floor(F.col("record_id") / _BLOCK)


def _one(name: str) -> Column:
    return F.lit(1).cast("bigint").alias(name)


def _count(name: str) -> Column:
    return F.coalesce(F.sum(name), F.lit(0).cast("bigint")).alias(name)
