"""Which plain facts about a record do the classes share?

Every function reads columns of ``records.joined``: what ledger, prediction and topic say of one id.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

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
