"""Which records come before one that was produced earlier?

Ids are given in produce order, so the first offsets of attempted records must rise with their ids. A record
is reordered when an earlier one has a greater offset. For many records the greatest earlier offset is found
in two steps, within a block of ids and over whole blocks, so that no single task has to sort them all.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from conformance.reconcile.anomalies.facts import is_attempted, is_true


def reordered(records: DataFrame) -> DataFrame:
    """Mark attempted records whose first offset is less than that of a record produced earlier."""
    earlier = Window.partitionBy("side").orderBy("record_id").rowsBetween(Window.unboundedPreceding, -1)
    return records.withColumn("reordered", _is_before(F.max(_offset()).over(earlier)))


def reordered_by_blocks(records: DataFrame) -> DataFrame:
    """Do the same, for the records of one side, when they are more than one task can sort."""
    within = Window.partitionBy("block").orderBy("record_id").rowsBetween(Window.unboundedPreceding, -1)
    over_blocks = Window.partitionBy("side").orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
    ends = records.groupBy("side", "block").agg(F.max(_offset()).alias("end"))
    ends = ends.select("block", F.max("end").over(over_blocks).alias("earlier_blocks"))
    greatest = F.greatest(F.max(_offset()).over(within), F.col("earlier_blocks"))
    joined = records.join(F.broadcast(ends), on="block", how="left")
    return joined.withColumn("reordered", _is_before(greatest)).drop("earlier_blocks")


def _offset() -> Column:
    return F.when(is_attempted(), F.col("first_offset"))


def _is_before(earlier_offset: Column) -> Column:
    return is_true(is_attempted() & (F.col("first_offset") < earlier_offset))
