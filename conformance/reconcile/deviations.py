"""Which records differ from what was predicted of them?

Every record is compared with the frozen prediction in presence, offset and outcome; an undetermined fate
accepts presence and absence. What no prediction can contain, a phantom, a duplicate, a changed value, is a
deviation by itself.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conformance.reconcile.record_facts import REFUSED, is_attempted, is_present, is_true
from conformance.reconcile.records import PRESENT

#: Deviations of a record's presence: it must be there, or must not be there.
MISSING, UNEXPECTED = "missing", "unexpected"


def with_deviations(records: DataFrame) -> DataFrame:
    """Add ``deviations``, the names of all in which a classified record differs from its prediction."""
    names = F.array(*(F.when(condition, name) for name, condition in _conditions().items()))
    return records.withColumn("deviations", F.array_compact(names))


def _conditions() -> dict[str, Column]:
    is_predicted = F.col("predictions") > 0
    return {
        MISSING: is_attempted() & (F.col("fate") == PRESENT) & ~is_present(),
        UNEXPECTED: F.col("fate").isin("lost", "absent", "deleted") & is_present(),
        "phantom": F.col("phantom"),
        "duplicated": F.col("duplicated"),
        "value_changed": F.col("value_changed"),
        "moved": F.col("moved") | _is_elsewhere(),
        "outcome": is_attempted() & is_predicted & _outcome_differs(),
        "unattempted": is_predicted & ~is_attempted(),
        "unpredicted": is_attempted() & ~is_predicted,
    }


def _is_elsewhere() -> Column:
    return is_present() & (F.col("predicted_offset") != F.col("first_offset"))


def _outcome_differs() -> Column:
    other_error = (F.col("outcome") == REFUSED) & (F.col("predicted_error") != F.col("error"))
    return (F.col("predicted_outcome") != F.col("outcome")) | is_true(other_error)
