"""Which records are not in the topic because an operator had them deleted, as the prediction says?"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conformance.reconcile.anomalies.facts import is_attempted, is_present, is_true


def deleted(records: DataFrame) -> DataFrame:
    """Mark attempted records that are not there and were to be deleted; nobody lost them."""
    is_to_be_deleted = is_true(F.col("fate") == "deleted")
    return records.withColumn("deleted", is_attempted() & ~is_present() & is_to_be_deleted)
