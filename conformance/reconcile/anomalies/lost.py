"""Which records should be readable and are not in the topic?"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conformance.reconcile.anomalies.facts import is_acknowledged, is_attempted, is_present


def lost(records: DataFrame) -> DataFrame:
    """Mark attempted records that were acknowledged, or committed by the prediction, and are not there.

    Needs the column ``deleted``.
    """
    is_gone = is_attempted() & ~is_present() & ~F.col("deleted")
    return records.withColumn("lost", is_gone & (is_acknowledged() | F.col("was_committed")))
