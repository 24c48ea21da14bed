"""Which records are in the topic more than once?"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conformance.reconcile.anomalies.facts import is_attempted


def duplicated(records: DataFrame) -> DataFrame:
    """Mark attempted records that are there at two offsets or more."""
    return records.withColumn("duplicated", is_attempted() & (F.col("copies") > 1))
