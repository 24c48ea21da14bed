"""Which records are exactly as their producer left them?"""

from functools import reduce
from operator import or_

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conformance.reconcile.anomalies.facts import is_attempted, is_present

_FLAWS = ("resurrected", "duplicated", "reordered", "moved", "value_changed")


def kept(records: DataFrame) -> DataFrame:
    """Mark attempted records that are there once, in order, unchanged, at the acknowledged offset if any.

    Needs the columns of the flaws that a record in the topic can have.
    """
    flawed = reduce(or_, (F.col(flaw) for flaw in _FLAWS))
    return records.withColumn("kept", is_attempted() & is_present() & ~flawed)
