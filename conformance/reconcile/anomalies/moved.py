"""Which records are at another offset than the one they were acknowledged at?"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conformance.reconcile.anomalies.facts import is_attempted, is_present


def moved(records: DataFrame) -> DataFrame:
    """Mark records whose first offset is not the acknowledged one; an ack without offset says nothing."""
    return records.withColumn(
        "moved",
        is_attempted()
        & is_present()
        & ~F.col("first_offset").eqNullSafe(F.coalesce("acknowledged_offset", "first_offset")),
    )
