"""Which records are in the topic although their producer was told they were refused?"""

from pyspark.sql import DataFrame

from conformance.reconcile.anomalies.facts import is_attempted, is_present, is_refused


def resurrected(records: DataFrame) -> DataFrame:
    """Mark refused records that are there."""
    return records.withColumn("resurrected", is_attempted() & is_refused() & is_present())
