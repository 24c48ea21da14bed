"""Which records are in the topic although nobody attempted to send them?"""

from pyspark.sql import DataFrame

from conformance.reconcile.anomalies.facts import is_attempted, is_present


def phantom(records: DataFrame) -> DataFrame:
    """Mark records that are there and not in the ledger, a key that is no record id among them."""
    return records.withColumn("phantom", ~is_attempted() & is_present())
