"""At which committed offsets do replicas disagree?

Two replicas must hold the same record, of the same leader epoch, at every offset below the smaller of their
high watermarks; a record that one of the two lacks is a disagreement too. Offsets are grouped once, instead
of joining every pair of logs.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def diverged(replica_logs: DataFrame) -> DataFrame:
    """Give offset, broker_a, record_a, broker_b, record_b of every two replicas that disagree there."""
    offsets = _by_offset(replica_logs).where(_disagree())
    pairs = offsets.select("offset", "entries", "holders", F.explode("holders").alias("broker_a")).select(
        "offset", "entries", "broker_a", F.explode("holders").alias("broker_b")
    )
    entry_a, entry_b = (F.try_element_at("entries", F.col(name)) for name in ("broker_a", "broker_b"))
    differing = pairs.where((F.col("broker_a") < F.col("broker_b")) & ~entry_a.eqNullSafe(entry_b))
    return differing.select(
        "offset",
        "broker_a",
        entry_a["record_id"].alias("record_a"),
        "broker_b",
        entry_b["record_id"].alias("record_b"),
    )


def _by_offset(replica_logs: DataFrame) -> DataFrame:
    """Give per offset what each replica holds (entries) and which replicas have it committed (holders)."""
    content = F.struct("record_id", "value_matches", "leader_epoch")
    entries = F.map_from_entries(F.collect_list(F.struct("broker", content)))
    committed = replica_logs.where(F.col("offset") < F.col("high_watermark"))
    watermarks = replica_logs.groupBy("broker").agg(F.max("high_watermark").alias("high_watermark"))
    watermarks = watermarks.agg(F.collect_list(F.struct("broker", "high_watermark")).alias("watermarks"))
    offsets = committed.groupBy("offset").agg(entries.alias("entries")).crossJoin(F.broadcast(watermarks))
    return offsets.withColumn("holders", _holders())


def _holders() -> Column:
    above = F.filter("watermarks", lambda replica: replica["high_watermark"] > F.col("offset"))
    return F.transform(above, lambda replica: replica["broker"])


def _disagree() -> Column:
    contents = F.array_distinct(F.map_values("entries"))
    return (F.size("entries") < F.size("holders")) | (F.size(contents) > 1)
