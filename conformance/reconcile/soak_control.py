"""Does a sample that is read again, and joined record by record, say the same as the comparison of blocks?

Of every partition a stretch of offsets is drawn. The topic is read there once more; each of its records, and each that
the ledgers say was acknowledged there, is joined by its id. In blocks that were found plain nothing but records that
both sides have alike may be, and exactly as many as the masks of these blocks say.
"""

from collections.abc import Mapping
from pathlib import Path
from random import Random

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conformance.reconcile import run_files
from conformance.reconcile.records import ACKNOWLEDGED
from conformance.reconcile.soak_blocks import RANKS, first_rank_of_block, partition_of_block, placed
from conformance.reconcile.summary import rows_of
from conformance.record.directory import RunDirectory
from conformance.record.soak import Soak, ledger_directories
from conformance.record.soak_counted import Control

_PART = 64
"""Of how many records one is in the sample."""
Windows = Mapping[int, tuple[int, int]]


def windows_of(soak: Soak) -> Windows:
    """Draw of every partition the offsets that are read again, by the soak's seed: the first, and the end."""
    draw = Random(soak.seed)  # noqa: S311 - a sample
    found = {}
    for number, end in enumerate(soak.ends):
        length = min(end, max(RANKS, end // _PART))
        first = draw.randint(0, end - length)
        found[number] = (first, first + length)
    return found


def control_of(run: Path, soak: Soak, runs: DataFrame, windows: Windows, topic: DataFrame) -> Control:
    """Return what the sample says.

    Args:
        run: the directory.
        soak: of it.
        runs: as of ``soak_blocks.runs_of``.
        windows: where the sample is.
        topic: what was read there, as rows of ``run_files.TOPIC``.
    """
    told = _told(run, soak, runs, windows)
    there = topic.select("record_id", F.col("partition").alias("at"), "offset", "value_matches")
    both = told.join(there, "record_id", "full_outer")
    is_alike = (F.col("told") == F.col("offset")) & F.col("value_matches") & (F.col("tries") == 1)
    alike = both.withColumn("is_alike", F.coalesce(is_alike, F.lit(col=False)))
    plain = runs.where("is_plain").select("block").distinct().withColumn("is_plain", F.lit(col=True))
    judged = placed(alike, soak).join(plain, "block", "left")
    counts = judged.agg(
        F.count("*").alias("records"),
        F.count_if(F.col("is_plain") & F.col("is_alike") & (F.col("own") == F.col("at"))).alias("kept"),
        F.count_if(F.col("is_plain") & ~F.col("is_alike")).alias("others"),
    )
    (row,), (by_blocks,) = rows_of(counts), rows_of(_kept_by_blocks(runs, soak, windows))
    return Control(row["records"], row["kept"], by_blocks["kept"] or 0, row["others"])


def _told(run: Path, soak: Soak, runs: DataFrame, windows: Windows) -> DataFrame:
    """Return what the ledgers say was acknowledged there: record_id, told (an offset), and how often it was tried."""
    ledgers = ledger_directories(RunDirectory(run), soak)
    spark = runs.sparkSession
    outcomes = run_files.OUTCOMES.read(spark, ledgers).where(F.col("outcome") == ACKNOWLEDGED)
    told = placed(outcomes.select("record_id", F.col("offset").alias("told")), soak)
    within = told.where(_is_within(F.col("own").cast("int"), F.col("told"), windows)).select("record_id", "told")
    attempts = run_files.ATTEMPTS.read(spark, ledgers).select("record_id").join(within, "record_id", "left_semi")
    tries = attempts.groupBy("record_id").agg(F.count("*").alias("tries"))
    return within.join(tries, "record_id", "left")


def _kept_by_blocks(runs: DataFrame, soak: Soak, windows: Windows) -> DataFrame:
    """Count the records in the windows that the masks of plain blocks have."""
    own, start = partition_of_block(soak), first_rank_of_block(soak) + F.col("shift")
    is_near = _is_within(own, start, {at: (first - RANKS, end) for at, (first, end) in windows.items()})
    near = runs.where(F.col("is_plain") & is_near)
    each = near.withColumn("place", F.explode(F.sequence(F.lit(0), F.lit(RANKS - 1))))
    is_there = F.getbit("there", F.col("place")) == 1
    return each.agg(F.count_if(is_there & _is_within(own, start + F.col("place"), windows)).alias("kept"))


def _is_within(partition: Column, offset: Column, windows: Windows) -> Column:
    ordered = [windows[number] for number in sorted(windows)]
    firsts, ends = (F.array(*(F.lit(one[side]).cast("bigint") for one in ordered)) for side in (0, 1))
    return F.coalesce((offset >= firsts[partition]) & (offset < ends[partition]), F.lit(col=False))
