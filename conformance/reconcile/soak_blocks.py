"""How are ledger and topic of a soak compared without joining their records? Block by block, and nothing is left out.

Ids of one producer and partition are an arithmetic progression; a record's place in it is its rank. Rank and offset
differ by the same number for all records of a batch, mostly for those of many: their shift. So a row for each block of
64 ranks and each shift, with a mask of 64 bits that says which ranks, says the same as all their records, in a few
hundredths of the space. What producers attempted and were told, what the prediction says, and what the topic holds is
each brought into that form while it is read, once. No digest is needed: the masks are the records.

A block is plain if all of its records that were attempted were acknowledged with an offset, these offsets hold them
unchanged, and the prediction has no row about them. Only the records of other blocks are looked at one by one.
"""

from enum import IntEnum
from functools import reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession, Window, WindowSpec
from pyspark.sql import functions as F

from conformance.reconcile import run_files
from conformance.reconcile.records import ACKNOWLEDGED, REFUSED, is_true
from conformance.record.attached import IDS_MAX
from conformance.record.directory import RunDirectory
from conformance.record.soak import Soak, ledger_directories
from conformance.record.soak_prediction import BATCHES_FILE
from oracle.vocabulary import RangeFate

RANKS = 64
"""How many ids a block has: as many as a mask has bits."""
_RANK_BITS = 6
_PRODUCER_BITS = 32
FOREIGN_BLOCK = -1
"""Of ids that are none of the soak's."""
FACT_KEY = ("block", "kind", "partition", "shift")


class Fact(IntEnum):
    """What a row says of the records in its mask.

    ATTEMPTED. TOLD: acknowledged at an offset; ACKNOWLEDGED: without one; REFUSED; INDETERMINATE: told an error.
    THERE: in the topic, in their own partition and with their own value; CHANGED: with another value; ELSEWHERE and
    ELSEWHERE_CHANGED: in another partition. PRESENT: predicted at an offset; SOMEWHERE: predicted without one. GONE:
    what was acknowledged at this offset is predicted to be lost; GONE_SOMEWHERE: at whatever offset. EITHER: may be at
    this offset; EITHER_SOMEWHERE: at whatever offset. NOTED: the prediction has a row that places nothing.
    """

    ATTEMPTED = 0
    TOLD = 1
    ACKNOWLEDGED = 2
    REFUSED = 3
    INDETERMINATE = 4
    THERE = 5
    CHANGED = 6
    ELSEWHERE = 7
    ELSEWHERE_CHANGED = 8
    PRESENT = 9
    SOMEWHERE = 10
    GONE = 11
    GONE_SOMEWHERE = 12
    EITHER = 13
    EITHER_SOMEWHERE = 14
    NOTED = 15


TOLD_ANYTHING = (Fact.TOLD, Fact.ACKNOWLEDGED, Fact.REFUSED, Fact.INDETERMINATE)
IN_TOPIC = (Fact.THERE, Fact.CHANGED, Fact.ELSEWHERE, Fact.ELSEWHERE_CHANGED)


def is_kind(*kinds: Fact) -> Column:
    """Return whether a row is of one of some kinds."""
    return F.col("kind").isin(*(int(kind) for kind in kinds))


# Where does each id belong, and what is said of it?


def facts_of(spark: SparkSession, run: Path, soak: Soak, topic: DataFrame) -> DataFrame:
    """Return what is said of all records: block, kind, partition, shift, mask, rows.

    ``partition`` is of the topic where a record is in another than its own, else -1. Ids that are none of the soak's
    are in a block of their own, with their offset as shift.

    Args:
        spark: the session.
        run: the directory.
        soak: of it.
        topic: rows of ``run_files.TOPIC``; they are gone through once, when the facts are.
    """
    ledgers = ledger_directories(RunDirectory(run), soak)
    attempts, outcomes = (table.read(spark, ledgers) for table in (run_files.ATTEMPTS, run_files.OUTCOMES))
    sources = [_attempted(attempts, soak), _told(outcomes, soak), _there(topic, soak)]
    if (run / BATCHES_FILE).exists():
        sources.append(_predicted(spark.read.parquet(str(run / BATCHES_FILE)), soak))
    masks = [one.groupBy(*FACT_KEY).agg(F.bit_or("bit").alias("mask"), F.count("*").alias("rows")) for one in sources]
    return reduce(DataFrame.unionByName, masks)  # each has kinds of its own


def partition_of_block(soak: Soak) -> Column:
    """Return the partition that the ids of a block belong into."""
    return (F.col("block").bitwiseAND(2**_PRODUCER_BITS - 1) % soak.partitions).cast("int")


def producer_of_block() -> Column:
    """Return the number of the producer whose ids are in a block."""
    return F.shiftright("block", _PRODUCER_BITS)


def line_of_block(soak: Soak) -> Column:
    """Return a number of the producer and the partition of a block, whose ids are one arithmetic progression."""
    return (F.shiftright("block", _PRODUCER_BITS) * soak.partitions + partition_of_block(soak)).alias("line")


def first_rank_of_block(soak: Soak) -> Column:
    """Return the rank of a block's first id."""
    return F.expr(f"((block & {2**_PRODUCER_BITS - 1}) div {soak.partitions}) * {RANKS}")


def id_of(rank: Column, soak: Soak) -> Column:
    """Return the id that has a rank in a block's producer and partition."""
    return soak.base + producer_of_block() * IDS_MAX + rank * soak.partitions + partition_of_block(soak)


def placed(rows: DataFrame, soak: Soak) -> DataFrame:
    """Add own (the partition that an id belongs into), rank, block and bit.

    Ids that are none of the soak's have no partition and no rank, and are in a block of their own.
    """
    number = F.col("record_id") - soak.base
    is_ours = number.between(0, soak.producers * IDS_MAX - 1)
    told = rows.withColumn("number", F.when(is_ours, number)).withColumn(
        "local", F.col("number").bitwiseAND(IDS_MAX - 1)
    )
    ranked = told.withColumns({"own": F.col("local") % soak.partitions, "rank": F.expr(f"local div {soak.partitions}")})
    word = F.shiftright("rank", _RANK_BITS) * soak.partitions + F.col("own")
    block = F.shiftleft(F.shiftright("number", _PRODUCER_BITS), _PRODUCER_BITS) + word
    bit = F.call_function("shiftleft", F.lit(1).cast("bigint"), F.col("rank").bitwiseAND(RANKS - 1).cast("int"))
    one = F.lit(1).cast("bigint")
    return ranked.withColumns({"block": F.coalesce(block, F.lit(FOREIGN_BLOCK)), "bit": F.coalesce(bit, one)})


def _fact(rows: DataFrame, kind: Column, shift: Column, partition: Column | None = None) -> DataFrame:
    nowhere = F.lit(-1)
    return rows.select(
        F.col("block").cast("bigint"),
        kind.cast("int").alias("kind"),
        (nowhere if partition is None else partition).cast("int").alias("partition"),
        shift.cast("bigint").alias("shift"),
        "bit",
    )


def _attempted(attempts: DataFrame, soak: Soak) -> DataFrame:
    return _fact(placed(attempts.select("record_id"), soak), F.lit(int(Fact.ATTEMPTED)), F.lit(0))


def _told(outcomes: DataFrame, soak: Soak) -> DataFrame:
    told = placed(outcomes.select("record_id", "outcome", "offset"), soak)
    is_acknowledged = F.col("outcome") == ACKNOWLEDGED
    is_placed = is_acknowledged & (F.col("offset") >= 0) & F.col("rank").isNotNull()
    kind = (
        F.when(is_placed, int(Fact.TOLD))
        .when(is_acknowledged, int(Fact.ACKNOWLEDGED))
        .when(F.col("outcome") == REFUSED, int(Fact.REFUSED))
        .otherwise(int(Fact.INDETERMINATE))
    )
    return _fact(told, kind, F.when(is_placed, F.col("offset") - F.col("rank")).otherwise(0))


def _there(topic: DataFrame, soak: Soak) -> DataFrame:
    there = placed(topic, soak)
    is_own = F.coalesce(F.col("own") == F.col("partition"), F.lit(col=False))
    kind = F.when(is_own, F.when(F.col("value_matches"), int(Fact.THERE)).otherwise(int(Fact.CHANGED))).otherwise(
        F.when(F.col("value_matches"), int(Fact.ELSEWHERE)).otherwise(int(Fact.ELSEWHERE_CHANGED))
    )
    shift = F.col("offset") - F.coalesce("rank", F.lit(0))
    return _fact(there, kind, shift, F.when(is_own, -1).otherwise(F.col("partition")))


def _predicted(batches: DataFrame, soak: Soak) -> DataFrame:
    each = batches.withColumn("place", F.explode(F.sequence(F.lit(0).cast("bigint"), F.col("count") - 1)))
    ids = each.withColumns(
        {
            "record_id": F.col("first_id") + F.col("place") * F.col("step"),
            "offset": F.col("base_offset") + F.col("place"),
        }
    )
    told = placed(ids, soak)
    is_placed = F.col("offset").isNotNull() & F.col("rank").isNotNull()
    shift = F.when(is_placed, F.col("offset") - F.col("rank")).otherwise(0)
    return _fact(told, _predicted_kind(is_placed), shift)


def _predicted_kind(is_placed: Column) -> Column:
    fate, is_acknowledged = F.col("fate"), F.col("answer") == ACKNOWLEDGED
    return (
        F.when(fate == RangeFate.PRESENT.value, F.when(is_placed, int(Fact.PRESENT)).otherwise(int(Fact.SOMEWHERE)))
        .when(fate == RangeFate.EITHER.value, F.when(is_placed, int(Fact.EITHER)).otherwise(int(Fact.EITHER_SOMEWHERE)))
        .when(is_placed, int(Fact.GONE))
        .when(is_acknowledged, int(Fact.GONE_SOMEWHERE))
        .otherwise(int(Fact.NOTED))
    )


# Which blocks are plain, and are their records in order?
#
# All is asked of the blocks of one line, in their order: rows are brought together by line, once.


def runs_of(facts: DataFrame, soak: Soak) -> DataFrame:
    """Return a row for each block and shift: line, masks attempted, told and there; whether the block is_plain.

    One row of each block is_first. Where its records are: first and last rank, low and high offset; null without any.

    Args:
        facts: as of ``facts_of``.
        soak: whose they are.
    """
    masks = {
        name: F.coalesce(F.bit_or(F.when(is_kind(kind), F.col("mask"))), F.lit(0).cast("bigint")).alias(name)
        for name, kind in (("attempted", Fact.ATTEMPTED), ("told", Fact.TOLD), ("there", Fact.THERE))
    }
    is_odd = ~is_kind(Fact.ATTEMPTED, Fact.TOLD, Fact.THERE) | (F.col("rows") != F.bit_count("mask"))
    ours = facts.where(F.col("block") != FOREIGN_BLOCK)
    lines = ours.select(line_of_block(soak), "block", "shift", "kind", "mask", "rows").repartition("line")
    runs = lines.groupBy("line", "block", "shift").agg(*masks.values(), F.bool_or(is_odd).alias("is_odd"))
    is_first = F.col("shift") == F.min("shift").over(_block())
    return _placed(runs, soak).withColumns({"is_plain": _is_plain(), "is_first": is_first}).drop("is_odd")


def _placed(runs: DataFrame, soak: Soak) -> DataFrame:
    there, start = F.when(F.col("there") != 0, F.col("there")), first_rank_of_block(soak)
    ranked = runs.withColumns({"first": start + lowest(there), "last": start + highest(there)})
    return ranked.withColumns({"low": F.col("first") + F.col("shift"), "high": F.col("last") + F.col("shift")})


def _block() -> WindowSpec:
    """Return the whole of a block, in the order that ``_before`` has too: rows are sorted once."""
    block = Window.partitionBy("line", "block").orderBy("first", "low")
    return block.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)


def _before(*order: str) -> WindowSpec:
    """Return what is before a row in its line."""
    return Window.partitionBy("line").orderBy("block", *order).rowsBetween(Window.unboundedPreceding, -1)


def _is_plain() -> Column:
    block = _block()
    attempted, told = (F.bit_or(name).over(block) for name in ("attempted", "told"))
    agree = F.bool_and((F.col("told") == F.col("there")) & ~F.col("is_odd")).over(block)
    told_once = F.sum(F.bit_count("told").cast("bigint")).over(block) == F.bit_count(told)
    return agree & told_once & (attempted == told)


def lowest(mask: Column) -> Column:
    """Return the place of the lowest bit of a mask that has one."""
    below = F.coalesce(F.try_subtract(mask, F.lit(1).cast("bigint")), F.lit(2**63 - 1))
    return F.bit_count(F.bitwise_not(mask).bitwiseAND(below))


def highest(mask: Column) -> Column:
    """Return the place of the highest bit of a mask that has one."""
    return F.length(F.bin(mask)) - 1


def is_late() -> Column:
    """Return whether a plain run, or another stretch, may be in an order of offsets that is not that of the ranks.

    Where none is all are proven to be in order: ranks and offsets of each are above those of all before it.
    """
    before = _before("first", "low")
    last, high = (F.max(F.when(F.col("is_plain"), F.col(name))).over(before) for name in ("last", "high"))
    return is_true(F.col("is_plain") & ((F.col("low") <= high) | (F.col("first") <= last)))


def order_of(runs: DataFrame, others: DataFrame, soak: Soak) -> DataFrame:
    """Return of every block whether it is_late, and end_before: the greatest offset in blocks before it, of its line.

    Args:
        runs: of them those of plain blocks are taken.
        others: stretches of the records in other blocks: block, first and last rank, low and high offset.
        soak: whose they are.
    """
    stretch = ("line", "block", "first", "last", "low", "high", "is_plain")
    plain = runs.where("is_plain and there != 0").select(*stretch)
    found = plain.unionByName(others.withColumns({"line": line_of_block(soak), "is_plain": F.lit(col=True)}))
    marked = found.withColumn("is_late", is_late())
    blocks = marked.groupBy("line", "block").agg(F.bool_or("is_late").alias("is_late"), F.max("high").alias("end"))
    return blocks.select("block", "is_late", F.max("end").over(_before()).alias("end_before"))
