"""How is a soak made without a soak? A topic of a chosen content on real brokers, its ledgers, and its prediction.

Producers take turns in every partition, a batch each, so that offsets are known by arithmetic: the ledgers say so, and
the topic is written by Spark, one task a partition, in that order. ``Planted`` puts another record than the ledger's at
an offset, or behind the end: what is made is what a broker would hold that did so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - its name for everybody

from conformance.record.attached import IDS_MAX
from conformance.record.directory import RunDirectory
from conformance.record.ledger import LedgerWriter
from conformance.record.soak import PRODUCERS, AcksOfProducers, Soak, note_soak
from conformance.record.soak_prediction import (
    BATCHES_FILE,
    RANGES_FILE,
    RangeRow,
    batches_schema,
    ranges_schema,
    write_rows,
)
from oracle.vocabulary import RangeFate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import Column, DataFrame, SparkSession

BASE = 7 << 32
VALUE_LENGTH = 100
BATCH = 150
AT_ONCE = 200_000
"""Records in a file of a ledger."""
FLIPPED = 50
"""Which byte of a value is another one, if one is."""
SINK = {"kafka.linger.ms": "20", "kafka.batch.size": "65536"}


@dataclass(frozen=True, slots=True)
class Planted:
    """A record that is not as the ledgers have it.

    Attributes:
        partition, offset: where it is; at the end of a partition it is appended.
        record_id: of its key; None of a key that is none of the soak's.
        is_flipped: whether a byte of its value is another one.
    """

    partition: int
    offset: int
    record_id: int | None
    is_flipped: bool = False


@dataclass(frozen=True, slots=True)
class Size:
    """How large a made soak is: each producer sends so many batches to each partition."""

    batches: int
    producers: int = 4
    partitions: int = 12

    @classmethod
    def of(cls, records: int, producers: int = 4, partitions: int = 12) -> Size:
        """Return the size that is next to a number of records."""
        return cls(max(1, round(records / (producers * partitions * BATCH))), producers, partitions)

    @property
    def ranks(self) -> int:
        """Return how many records a producer sends to a partition."""
        return self.batches * BATCH

    @property
    def end(self) -> int:
        """Return where a partition ends, without what is appended."""
        return self.ranks * self.producers

    @property
    def records(self) -> int:
        """Return how many records all ledgers have, without those that are hidden."""
        return self.end * self.partitions

    def id_at(self, partition: int, offset: int) -> int:
        """Return which record the ledgers say is at an offset."""
        turn, place = divmod(offset, BATCH)
        rank = turn // self.producers * BATCH + place
        return BASE + turn % self.producers * IDS_MAX + rank * self.partitions + partition


def made_soak(bootstrap: str, topic: str, size: Size, planted: Sequence[Planted] = (), *, replicas: int = 1) -> Soak:
    """Return what a soak of a size says of itself, once its records are predicted."""
    appended = Counter(one.partition for one in planted if one.offset >= size.end)
    return Soak(
        version="4.4.0",
        metadata="kraft",
        topic=topic,
        partitions=size.partitions,
        replicas=replicas,
        min_insync_replicas=1,
        producers=size.producers,
        acks=AcksOfProducers.ALL,
        is_idempotent=True,
        base=BASE,
        value_length=VALUE_LENGTH,
        seed=0,
        records=size.records,
        ends=tuple(size.end + appended[number] for number in range(size.partitions)),
        bootstrap=bootstrap,
    )


# The topic.


def produce(spark: SparkSession, soak: Soak, size: Size, planted: Sequence[Planted] = ()) -> None:
    """Write the records of a soak to its topic, which is there and empty."""
    length = max(soak.ends)
    numbers = spark.range(0, length * size.partitions, numPartitions=size.partitions)
    rows = numbers.select(
        F.expr(f"cast(id div {length} as int)").alias("partition"), (F.col("id") % length).alias("at")
    )
    ends = F.array(*map(F.lit, soak.ends))
    told = rows.where(F.col("at") < ends[F.col("partition")]).withColumns(_content(size, planted))
    is_ours, key = F.col("record_id").isNotNull(), F.unhex(F.lpad(F.hex("record_id"), 16, "0"))
    keyed = told.withColumn("key", F.when(is_ours, key).otherwise(F.lit(b"somebody's")))
    records = keyed.select("partition", "key", _value().cast("binary").alias("value"))
    sink = {"kafka.bootstrap.servers": soak.bootstrap, "topic": soak.topic, **SINK}
    records.write.format("kafka").mode("append").options(**sink).save()


def _content(size: Size, planted: Sequence[Planted]) -> Mapping[str, Column]:
    turn, place = F.expr(f"at div {BATCH}"), F.col("at") % BATCH
    producer = turn % size.producers
    rank = F.expr(f"(at div {BATCH * size.producers}) * {BATCH}") + place
    record_id = BASE + producer * IDS_MAX + rank * size.partitions + F.col("partition")
    flips = F.lit(col=False)
    for one in planted:
        is_there = (F.col("partition") == one.partition) & (F.col("at") == one.offset)
        record_id = F.when(is_there, F.lit(one.record_id).cast("bigint")).otherwise(record_id)
        flips = F.when(is_there, F.lit(one.is_flipped)).otherwise(flips)
    return {"record_id": record_id, "is_flipped": flips}


def _value() -> Column:
    key = F.col("key")
    seed = F.upper(F.sha2(F.concat(key, F.lit(str(VALUE_LENGTH)).cast("binary")), 256))
    value = F.substring(F.concat(F.hex(key), F.repeat(seed, VALUE_LENGTH // 64 + 1)), 1, VALUE_LENGTH)
    return F.when(F.col("is_flipped"), F.overlay(value, F.lit("~"), F.lit(FLIPPED), F.lit(1))).otherwise(value)


# The ledgers and the prediction.


def write_soak(directory: Path, soak: Soak, size: Size, hidden: Sequence[int] = ()) -> RunDirectory:
    """Write everything of a soak but its topic: every record acknowledged, and predicted to be where it was.

    Args:
        directory: a new one.
        soak: what it says of itself.
        size: of it.
        hidden: ids that no ledger has.
    """
    run = RunDirectory(directory)
    for producer in range(size.producers):
        ledger = LedgerWriter(directory / PRODUCERS / str(producer) / "ledger")
        count = size.ranks * size.partitions
        for first in range(0, count, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, count))
            _write_part(ledger, soak, size, producer, [one for one in numbers if _id(producer, one) not in hidden])
    write_rows(directory / BATCHES_FILE, [], batches_schema())
    write_rows(
        directory / RANGES_FILE, [_range(number, size.end) for number in range(size.partitions)], ranges_schema()
    )
    note_soak(run, soak)
    return run


def _id(producer: int, number: int) -> int:
    return BASE + producer * IDS_MAX + number


def _write_part(ledger: LedgerWriter, soak: Soak, size: Size, producer: int, numbers: list[int]) -> None:
    ids, count = pa.array([_id(producer, one) for one in numbers], pa.int64()), len(numbers)
    partitions = pa.array([one % size.partitions for one in numbers], pa.int32())
    offsets = pa.array([_offset(size, producer, one // size.partitions) for one in numbers], pa.int64())
    attempts = {
        "record_id": ids, "label": _same("", count), "topic": _same(soak.topic, count), "partition": partitions,
        "acks": _same(-1, count), "step": _same(0, count), "value_length": _same(VALUE_LENGTH, count),
        "attempted_ns": _same(0, count),
    }  # fmt: skip
    ledger.append_attempts(pa.table(attempts))
    outcomes = {
        "record_id": ids, "outcome": _same("acknowledged", count), "error": pa.nulls(count, pa.string()),
        "offset": offsets, "completed_ns": _same(0, count),
    }  # fmt: skip
    ledger.append_outcomes(pa.table(outcomes))


def _offset(size: Size, producer: int, rank: int) -> int:
    batch, place = divmod(rank, BATCH)
    return (batch * size.producers + producer) * BATCH + place


def _same(value: str | int, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(value), count)


def _range(partition: int, end: int) -> RangeRow:
    return RangeRow(
        partition=partition, leader_epoch=0, leader=1, first_offset=0, last_offset=end - 1,
        fate=RangeFate.PRESENT.value, rule="", reason="",
    )  # fmt: skip


def topic_rows(spark: SparkSession, soak: Soak, size: Size, planted: Sequence[Planted] = ()) -> DataFrame:
    """Return what reading the topic would give, without a topic: rows of ``run_files.TOPIC``."""
    rows = spark.range(0, max(soak.ends) * size.partitions).select(
        F.expr(f"cast(id div {max(soak.ends)} as int)").alias("partition"), (F.col("id") % max(soak.ends)).alias("at")
    )
    there = rows.where(F.col("at") < F.array(*map(F.lit, soak.ends))[F.col("partition")])
    told = there.withColumns(_content(size, planted))
    matches = F.col("record_id").isNotNull() & ~F.col("is_flipped")
    return told.select("partition", F.col("at").alias("offset"), "record_id", matches.alias("value_matches"))
