"""Which records have another value than the one that was sent?"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conformance.reconcile.anomalies.facts import is_attempted, is_present


def value_changed(records: DataFrame) -> DataFrame:
    """Mark records of which a copy has a value that does not belong to its key."""
    return records.withColumn("value_changed", is_attempted() & is_present() & ~F.col("values_match"))
