"""Which records are not in the topic, and nobody was told that they are?"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conformance.reconcile.anomalies.facts import is_acknowledged, is_attempted, is_present


def absent(records: DataFrame) -> DataFrame:
    """Mark attempted records that were neither acknowledged nor committed, and are not there.

    Needs the column ``deleted``.
    """
    is_gone = is_attempted() & ~is_present() & ~F.col("deleted")
    return records.withColumn("absent", is_gone & ~(is_acknowledged() | F.col("was_committed")))
