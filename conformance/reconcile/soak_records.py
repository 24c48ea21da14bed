"""What became of every record of some blocks? A row a record, with its classes, and whether that was predicted.

Masks are taken apart into records again, so that neither ledger nor topic is read a second time.
"""

from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from conformance.reconcile.records import ACKNOWLEDGED, INDETERMINATE, OUTCOMES, REFUSED
from conformance.reconcile.soak_blocks import (
    FOREIGN_BLOCK,
    IN_TOPIC,
    RANKS,
    TOLD_ANYTHING,
    Fact,
    first_rank_of_block,
    id_of,
    is_kind,
    partition_of_block,
)
from conformance.record.soak import Soak
from conformance.record.soak_counted import CLASSES, ComparedAs

FLAWS = ("value_changed", "duplicated", "resurrected", "moved", "reordered")


def records_of(facts: DataFrame, blocks: DataFrame, soak: Soak) -> DataFrame:
    """Return the records of some blocks, and those that are none of the soak's, with classes; ``reordered`` is false.

    Columns: block, rank, own (the partition it belongs into), record_id, outcome, acknowledged_offset, outcomes,
    copies, found_partition, found_offset, expected_offset, in_order_offset (null unless it has a place in the order),
    judged, and a column a class.

    Args:
        facts: as of ``soak_blocks.facts_of``.
        blocks: which; column block.
        soak: whose they are.
    """
    told = _gathered(_taken_apart(facts.join(blocks, "block", "left_semi"), soak))
    ours = told.withColumns({"own": partition_of_block(soak), "record_id": id_of(F.col("rank"), soak)})
    found = ours.unionByName(_foreign(facts), allowMissingColumns=True)
    for step in (_with_facts, _with_expected, _with_judgement, _with_classes):
        found = step(found)
    return found


# From masks to records.


def _taken_apart(facts: DataFrame, soak: Soak) -> DataFrame:
    places = F.filter(F.sequence(F.lit(0), F.lit(RANKS - 1)), lambda place: F.getbit("mask", place) == 1)
    each = facts.withColumn("place", F.explode(places))
    ranked = each.withColumn("rank", first_rank_of_block(soak) + F.col("place"))
    return ranked.withColumn("offset", F.col("rank") + F.col("shift"))


def _gathered(rows: DataFrame) -> DataFrame:
    """Return a row a record: of every kind of row that says something of it, how many, and which offsets."""
    counts = {
        "attempts": is_kind(Fact.ATTEMPTED),
        "outcomes": is_kind(*TOLD_ANYTHING),
        "refusals": is_kind(Fact.REFUSED),
        "acknowledgements": is_kind(Fact.TOLD, Fact.ACKNOWLEDGED),
        "copies": is_kind(*IN_TOPIC),
        "changed": is_kind(Fact.CHANGED, Fact.ELSEWHERE_CHANGED),
        "somewhere": is_kind(Fact.SOMEWHERE),
        "gone_somewhere": is_kind(Fact.GONE_SOMEWHERE),
        "either_somewhere": is_kind(Fact.EITHER_SOMEWHERE),
    }
    return rows.groupBy("block", "rank").agg(
        *(F.count_if(which).alias(name) for name, which in counts.items()),
        F.min(F.when(is_kind(Fact.TOLD), F.col("offset"))).alias("acknowledged_offset"),
        F.min(F.when(is_kind(*IN_TOPIC), _place())).alias("first_copy"),
        F.count_if(is_kind(Fact.ELSEWHERE, Fact.ELSEWHERE_CHANGED)).alias("elsewhere"),
        *(_offsets(*kinds).alias(name) for name, kinds in _OFFSETS.items()),
    )


_OFFSETS = {
    "there": (Fact.THERE, Fact.CHANGED),
    "present": (Fact.PRESENT,),
    "gone": (Fact.GONE,),
    "either": (Fact.EITHER,),
}


def _place() -> Column:
    """Return partition (-1: its own) and offset, in the order in which the first copy is chosen."""
    return F.struct(F.col("partition").alias("partition"), F.col("offset").alias("offset"))


def _offsets(*kinds: Fact) -> Column:
    return F.sort_array(F.collect_set(F.when(is_kind(*kinds), F.col("offset"))))


def _foreign(facts: DataFrame) -> DataFrame:
    """Return the records whose key is no id of the soak: their shift is their offset."""
    foreign = facts.where((F.col("block") == FOREIGN_BLOCK) & is_kind(*IN_TOPIC))
    return foreign.select(
        "block",
        F.col("partition").alias("own"),
        F.struct(F.col("partition"), F.col("shift").alias("offset")).alias("first_copy"),
        F.lit(1).cast("bigint").alias("copies"),
    )


# From what is said of a record to what became of it.


def _with_facts(records: DataFrame) -> DataFrame:
    """Fill in what is not said of a record, and name what producers were told."""
    names = [name for name, kind in records.dtypes if kind == "bigint" and name not in _MAY_BE_MISSING]
    none = F.array().cast("array<bigint>")
    filled = records.withColumns({name: F.coalesce(name, F.lit(0)) for name in names}).withColumns(
        {name: F.coalesce(name, none) for name in _OFFSETS}
    )
    acknowledged, refused, indeterminate = OUTCOMES
    outcome = F.when(F.col("acknowledgements") > 0, acknowledged).when(F.col("refusals") > 0, refused)
    at = F.col("first_copy")["partition"]
    return filled.withColumns(
        {
            "outcome": F.when(F.col("attempts") > 0, outcome.otherwise(indeterminate)),
            "found_partition": F.when(at >= 0, at).when(at.isNotNull(), F.col("own")),
            "found_offset": F.col("first_copy")["offset"],
        }
    )


_MAY_BE_MISSING = ("block", "rank", "record_id", "acknowledged_offset")


def _with_expected(records: DataFrame) -> DataFrame:
    """Add the offsets at which a record must be, and how many copies of it must be at offsets that nobody knows.

    Its acknowledged offset is one of them, unless the prediction says that this batch is lost, or may be either.
    """
    told = F.col("acknowledged_offset")
    is_gone = (F.col("gone_somewhere") > 0) | F.coalesce(F.array_contains("gone", told), F.lit(col=False))
    is_open = (F.col("either_somewhere") > 0) | F.coalesce(F.array_contains("either", told), F.lit(col=False))
    is_plain = ~is_gone & ~is_open
    acknowledged = F.when(told.isNotNull() & is_plain, F.array(told)).otherwise(F.array().cast("array<bigint>"))
    expected = F.sort_array(F.array_union("present", acknowledged))
    is_unplaced = (F.col("acknowledgements") > 0) & told.isNull() & is_plain
    unplaced = (F.size(expected) == 0) & (is_unplaced | (F.col("somewhere") > 0))
    return records.withColumns(
        {
            "expected": expected,
            "unplaced": unplaced.cast("int"),
            "expected_offset": F.try_element_at(expected, F.lit(1)),
        }
    )


def _with_judgement(records: DataFrame) -> DataFrame:
    extras, missing = F.array_except("there", "expected"), F.array_except("expected", "there")
    is_sound = (F.col("attempts") > 0) & (F.col("elsewhere") == 0) & (F.col("changed") == 0) & (F.size(missing) == 0)
    is_open = (F.size("either") > 0) | (F.col("either_somewhere") > 0)
    beside = F.size(F.array_except(extras, F.col("either"))) - F.col("unplaced")
    is_allowed = is_sound & beside.between(0, F.col("either_somewhere"))
    judged = (
        F.when(is_sound & ~is_open & (F.size(extras) == F.col("unplaced")), ComparedAs.PREDICTED.value)
        .when(is_open & is_allowed, ComparedAs.EITHER.value)
        .otherwise(ComparedAs.AGAINST.value)
    )
    return records.withColumn("judged", judged)


def _with_classes(records: DataFrame) -> DataFrame:
    is_attempted, is_present = F.col("attempts") > 0, F.col("copies") > 0
    is_acknowledged = is_attempted & (F.col("outcome") == ACKNOWLEDGED)
    is_unheard_of = is_attempted & (F.col("outcome") == INDETERMINATE)
    is_known_gone = (F.size("expected") == 0) & (F.col("unplaced") == 0) & (F.size("either") == 0)
    told = F.col("acknowledged_offset")
    is_not_as_told = told.isNotNull() & ~F.coalesce(F.array_contains("there", told), F.lit(col=False))
    classes = {
        "lost": is_acknowledged & ~is_present,
        "phantom": ~is_attempted & is_present,
        "value_changed": is_attempted & (F.col("changed") > 0),
        "duplicated": is_attempted & (F.col("copies") > 1),
        "resurrected": is_attempted
        & is_present
        & ((F.col("outcome") == REFUSED) | (is_known_gone & (F.col("either_somewhere") == 0))),
        "moved": is_attempted & is_present & (is_not_as_told | (F.col("elsewhere") > 0)),
        "reordered": F.lit(col=False),
        "absent": is_attempted & ~is_acknowledged & ~is_present,
        "indeterminate_present": is_unheard_of & is_present,
    }
    found = records.withColumns(classes)
    in_order = F.when(is_attempted & ~F.col("moved"), F.try_element_at("there", F.lit(1)))
    return found.withColumns({"in_order_offset": in_order, "kept": is_acknowledged & is_present & ~_is_flawed()})


def _is_flawed() -> Column:
    return reduce(or_, (F.col(name) for name in FLAWS))


def reordered(records: DataFrame, order: DataFrame) -> DataFrame:
    """Mark records that come before one of their producer and partition which was sent earlier.

    Records that moved are left out: they come where they come, and the others are not out of order for it.

    Args:
        records: all of some blocks.
        order: of every block the greatest offset before it, as of ``soak_blocks.order_of``.
    """
    earlier = Window.partitionBy("block").orderBy("rank").rowsBetween(Window.unboundedPreceding, -1)
    within = F.max("in_order_offset").over(earlier)
    placed = records.join(order.select("block", "end_before"), "block", "left").withColumn(
        "earlier", F.greatest(within, F.col("end_before"))
    )
    is_before = F.coalesce(F.col("in_order_offset") < F.col("earlier"), F.lit(col=False))
    marked = placed.withColumn("reordered", is_before).drop("earlier", "end_before")
    return marked.withColumn("kept", F.col("kept") & ~_is_flawed())


def stretches_of(records: DataFrame) -> DataFrame:
    """Return single records as stretches of one, as ``soak_blocks.order_of`` takes them."""
    placed, rank, offset = records.where(F.col("in_order_offset").isNotNull()), F.col("rank"), F.col("in_order_offset")
    return placed.select("block", rank.alias("first"), rank.alias("last"), offset.alias("low"), offset.alias("high"))


def primary() -> Column:
    """Return the gravest class of a record; null for one that was neither attempted nor is there."""
    gravest = F.when(F.col(CLASSES[0]), CLASSES[0])
    for name in CLASSES[1:]:
        gravest = gravest.when(F.col(name), name)
    return gravest
