"""Into which class does every record fall?

Anomalies are found and counted separately: a record may be both moved and duplicated. Besides, every record
has one primary class, the gravest that applies, so that the primary classes add up to what was produced.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from conformance.reconcile.records import (
    PREDICTED,
    PRESENT,
    REFUSED,
    is_acknowledged,
    is_attempted,
    is_present,
    is_refused,
    is_true,
)
from conformance.reconcile.run_files import RUN


def absent(records: DataFrame) -> DataFrame:
    """Mark attempted records that were neither acknowledged nor committed, and are not there.

    Needs the column ``deleted``.
    """
    is_gone = is_attempted() & ~is_present() & ~F.col("deleted")
    return records.withColumn("absent", is_gone & ~(is_acknowledged() | F.col("was_committed")))


# Which records are not in the topic because an operator had them deleted, as the prediction says?


def deleted(records: DataFrame) -> DataFrame:
    """Mark attempted records that are not there and were to be deleted; nobody lost them."""
    is_to_be_deleted = is_true(F.col("fate") == "deleted")
    return records.withColumn("deleted", is_attempted() & ~is_present() & is_to_be_deleted)


# At which committed offsets do replicas disagree?
#
# Two replicas must hold the same record, of the same leader epoch, at every offset below the smaller of their
# high watermarks; a record that one of the two lacks is a disagreement too. Offsets are grouped once, instead
# of joining every pair of logs.


def diverged(replica_logs: DataFrame) -> DataFrame:
    """Return run, offset, broker_a, record_a, broker_b, record_b of every two replicas that disagree there."""
    offsets = _by_offset(replica_logs).where(_disagree())
    pairs = offsets.select(RUN, "offset", "entries", "holders", F.explode("holders").alias("broker_a")).select(
        RUN, "offset", "entries", "broker_a", F.explode("holders").alias("broker_b")
    )
    entry_a, entry_b = (F.try_element_at("entries", F.col(name)) for name in ("broker_a", "broker_b"))
    differing = pairs.where((F.col("broker_a") < F.col("broker_b")) & ~entry_a.eqNullSafe(entry_b))
    return differing.select(
        RUN,
        "offset",
        "broker_a",
        entry_a["record_id"].alias("record_a"),
        "broker_b",
        entry_b["record_id"].alias("record_b"),
    )


def _by_offset(replica_logs: DataFrame) -> DataFrame:
    """Return per run and offset what each replica holds (entries) and which replicas have it committed (holders)."""
    content = F.struct("record_id", "value_matches", "leader_epoch")
    entries = F.map_from_entries(F.collect_list(F.struct("broker", content)))
    committed = replica_logs.where(F.col("offset") < F.col("high_watermark"))
    watermarks = replica_logs.groupBy(RUN, "broker").agg(F.max("high_watermark").alias("high_watermark"))
    watermarks = watermarks.groupBy(RUN).agg(F.collect_list(F.struct("broker", "high_watermark")).alias("watermarks"))
    offsets = committed.groupBy(RUN, "offset").agg(entries.alias("entries")).join(F.broadcast(watermarks), on=RUN)
    return offsets.withColumn("holders", _holders())


def _holders() -> Column:
    above = F.filter("watermarks", lambda replica: replica["high_watermark"] > F.col("offset"))
    return F.transform(above, lambda replica: replica["broker"])


def _disagree() -> Column:
    contents = F.array_distinct(F.map_values("entries"))
    return (F.size("entries") < F.size("holders")) | (F.size(contents) > 1)


def duplicated(records: DataFrame) -> DataFrame:
    """Mark attempted records that are there at two offsets or more."""
    return records.withColumn("duplicated", is_attempted() & (F.col("copies") > 1))


_FLAWS = ("resurrected", "duplicated", "reordered", "moved", "value_changed")


def kept(records: DataFrame) -> DataFrame:
    """Mark attempted records that are there once, in order, unchanged, at the acknowledged offset if any.

    Needs the columns of the flaws that a record in the topic can have.
    """
    flawed = reduce(or_, (F.col(flaw) for flaw in _FLAWS))
    return records.withColumn("kept", is_attempted() & is_present() & ~flawed)


def lost(records: DataFrame) -> DataFrame:
    """Mark attempted records that were acknowledged, or committed by the prediction, and are not there.

    Needs the column ``deleted``.
    """
    is_gone = is_attempted() & ~is_present() & ~F.col("deleted")
    return records.withColumn("lost", is_gone & (is_acknowledged() | F.col("was_committed")))


def moved(records: DataFrame) -> DataFrame:
    """Mark records whose first offset is not the acknowledged one; an ack without offset says nothing."""
    return records.withColumn(
        "moved",
        is_attempted()
        & is_present()
        & ~F.col("first_offset").eqNullSafe(F.coalesce("acknowledged_offset", "first_offset")),
    )


def phantom(records: DataFrame) -> DataFrame:
    """Mark records that are there and not in the ledger, a key that is no record id among them."""
    return records.withColumn("phantom", ~is_attempted() & is_present())


# Which records come before one that was produced earlier?
#
# Ids are given in produce order, so the first offsets of attempted records must rise with their ids. A record
# is reordered when an earlier one has a greater offset. For many records the greatest earlier offset is found
# in two steps, within a block of ids and over whole blocks, so that no single task has to sort them all.


def reordered(records: DataFrame, among: Sequence[str] = ()) -> DataFrame:
    """Mark attempted records whose first offset is less than that of a record produced earlier.

    Args:
        records: with the column ``side``.
        among: columns beside it that records have in common which are in one order, such as their partition.
    """
    earlier = Window.partitionBy(RUN, "side", *among).orderBy("record_id").rowsBetween(Window.unboundedPreceding, -1)
    return records.withColumn("reordered", _is_before(F.max(_offset()).over(earlier)))


def reordered_by_blocks(records: DataFrame, among: Sequence[str] = ()) -> DataFrame:
    """Do the same, for the records of one side, when they are more than one task can sort."""
    within = Window.partitionBy(RUN, "block", *among).orderBy("record_id").rowsBetween(Window.unboundedPreceding, -1)
    over_blocks = Window.partitionBy(RUN, "side", *among).orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
    ends = records.groupBy(RUN, "side", "block", *among).agg(F.max(_offset()).alias("end"))
    ends = ends.select(RUN, "block", *among, F.max("end").over(over_blocks).alias("earlier_blocks"))
    greatest = F.greatest(F.max(_offset()).over(within), F.col("earlier_blocks"))
    joined = records.join(F.broadcast(ends), on=[RUN, "block", *among], how="left")
    return joined.withColumn("reordered", _is_before(greatest)).drop("earlier_blocks")


def _offset() -> Column:
    return F.when(is_attempted(), F.col("first_offset"))


def _is_before(earlier_offset: Column) -> Column:
    return is_true(is_attempted() & (F.col("first_offset") < earlier_offset))


def resurrected(records: DataFrame) -> DataFrame:
    """Mark refused records that are there."""
    return records.withColumn("resurrected", is_attempted() & is_refused() & is_present())


def value_changed(records: DataFrame) -> DataFrame:
    """Mark records of which a copy has a value that does not belong to its key."""
    return records.withColumn("value_changed", is_attempted() & is_present() & ~F.col("values_match"))


#: The classes of records, gravest first: the order in which the primary class is chosen.
CLASSES = (
    "lost",
    "phantom",
    "value_changed",
    "duplicated",
    "resurrected",
    "moved",
    "reordered",
    "absent",
    "deleted",
    "kept",
)

#: The primary class of a record in a prediction that accepts both presence and absence.
UNDETERMINED = "undetermined"

#: A record that was predicted, but neither attempted nor found: no class of the ledger.
UNATTEMPTED = "unattempted"

_STEPS: tuple[Callable[[DataFrame], DataFrame], ...] = (
    deleted,
    lost,
    absent,
    phantom,
    value_changed,
    duplicated,
    resurrected,
    moved,
)


def classified(records: DataFrame, *, many_records: bool = False, among: Sequence[str] = ()) -> DataFrame:
    """Add a boolean column per class, and ``classification``, the primary class, to ``records.joined`` rows.

    ``among`` is as of ``reordered``. ``classification`` has no default: a record that fits no class keeps a null, which
    breaks the identity.
    """
    for step in _STEPS:
        records = records.transform(step)
    records = records.transform(reordered_by_blocks if many_records else reordered, among).transform(kept)
    return records.withColumns({**_open_where_undetermined(), "classification": _primary()})


def _open_where_undetermined() -> dict[str, Column]:
    """Return the class columns with nothing marked where the prediction itself leaves the class open."""
    return {name: F.col(name) & ~_is_undetermined() for name in CLASSES}


def _primary() -> Column:
    primary = F.when(_is_undetermined(), UNDETERMINED)
    for name in CLASSES:
        primary = primary.when(F.col(name), name)
    return primary.when(F.col("attempts") + F.col("copies") == 0, UNATTEMPTED)


def _is_undetermined() -> Column:
    return (F.col("side") == PREDICTED) & is_true(F.col("fate") == UNDETERMINED)


# Which records differ from what was predicted of them?
#
# Every record is compared with the frozen prediction in presence, offset and outcome; an undetermined fate
# accepts presence and absence. What no prediction can contain, a phantom, a duplicate, a changed value, is a
# deviation by itself.


#: Deviations of a record's presence: it must be there, or must not be there.
MISSING, UNEXPECTED = "missing", "unexpected"


def with_deviations(records: DataFrame) -> DataFrame:
    """Add ``deviations``, the names of all in which a classified record differs from its prediction."""
    names = F.array(*(F.when(condition, name) for name, condition in _conditions().items()))
    return records.withColumn("deviations", F.array_compact(names))


def _conditions() -> dict[str, Column]:
    is_predicted = F.col("predictions") > 0
    return {
        MISSING: is_attempted() & (F.col("fate") == PRESENT) & ~is_present(),
        UNEXPECTED: F.col("fate").isin("lost", "absent", "deleted") & is_present(),
        "phantom": F.col("phantom"),
        "duplicated": F.col("duplicated"),
        "value_changed": F.col("value_changed"),
        "moved": F.col("moved") | _is_elsewhere(),
        "outcome": is_attempted() & is_predicted & _outcome_differs(),
        "unattempted": is_predicted & ~is_attempted(),
        "unpredicted": is_attempted() & ~is_predicted,
    }


def _is_elsewhere() -> Column:
    return is_present() & (F.col("predicted_offset") != F.col("first_offset"))


def _outcome_differs() -> Column:
    other_error = (F.col("outcome") == REFUSED) & (F.col("predicted_error") != F.col("error"))
    return (F.col("predicted_outcome") != F.col("outcome")) | is_true(other_error)
