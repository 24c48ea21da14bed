"""Which records come before one that was produced earlier?

Ids are given in produce order, so the first offsets of attempted records must rise with their ids. A record
is reordered when an earlier one has a greater offset. For many records the greatest earlier offset is found
in two steps, within a block of ids and over whole blocks, so that no single task has to sort them all.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from conformance.reconcile.anomalies.facts import is_attempted, is_true

_BLOCK = 2**18


def reordered(records: DataFrame) -> DataFrame:
    """Mark attempted records whose first offset is less than that of a record produced earlier."""
    earlier = Window.partitionBy("side").orderBy("record_id").rowsBetween(Window.unboundedPreceding, -1)
    return records.withColumn("reordered", _is_before(F.max(_offset()).over(earlier)))


def reordered_by_blocks(records: DataFrame, block: int = _BLOCK) -> DataFrame:
    """Do the same for more records than one task can sort."""
    blocks = records.withColumn("block", F.floor(F.col("record_id") / block))
    within = Window.partitionBy("side", "block").orderBy("record_id")
    over_blocks = Window.partitionBy("side").orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
    ends = blocks.where(is_attempted()).groupBy("side", "block").agg(F.max("first_offset").alias("end"))
    ends = ends.select("side", "block", F.max("end").over(over_blocks).alias("earlier_blocks"))
    in_block = F.max(_offset()).over(within.rowsBetween(Window.unboundedPreceding, -1))
    greatest = F.greatest(in_block, F.col("earlier_blocks"))
    joined = blocks.join(F.broadcast(ends), on=["side", "block"], how="left")
    return joined.withColumn("reordered", _is_before(greatest)).drop("block", "earlier_blocks")


def _offset() -> Column:
    return F.when(is_attempted(), F.col("first_offset"))


def _is_before(earlier_offset: Column) -> Column:
    return is_true(is_attempted() & (F.col("first_offset") < earlier_offset))
