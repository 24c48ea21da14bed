"""How do all counts and bounded samples leave Spark in one action?

Every part of the answer is brought to the form (run, part, rank, json): a few rows of counts, and at most
``SAMPLE_ROWS_MAX`` rows per sample, chosen in the order of record ids and offsets. The union of all parts is
the only thing that is collected.
"""

import json
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

from conformance.reconcile.classify import CLASSES, UNATTEMPTED, UNDETERMINED
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.records import MEASURED, OUTCOMES
from conformance.reconcile.run_files import ATTEMPTS, PREDICTED_RECORDS, RUN

SAMPLE_ROWS_MAX = 20

#: Names of the parts; the sample of a class bears the name of the class.
COUNTS, DEVIATIONS = "counts", "deviations"
DIVERGENCE_COUNTS, DIVERGENCES = "divergence_counts", "divergences"
REPLICA_LOG_COUNTS, REPLICA_LOG = "replica_log_counts", "replica_log"
RECORDS = "records"

_SAMPLED = (
    "record_id",
    "outcome",
    "error",
    "acknowledged_offset",
    "fate",
    "predicted_outcome",
    "predicted_error",
    "predicted_offset",
    "copies",
    "first_offset",
    "last_offset",
    "values_match",
    "deviations",
)

Parts = Mapping[str, Sequence[Mapping[str, Any]]]


def record_parts(records: DataFrame, *, sample_kept: bool = True, lists_all: bool = False) -> list[DataFrame]:
    """Return the counts of both sides, and samples of every class and of the deviations.

    Args:
        records: classified records of both sides, with their deviations.
        sample_kept: whether to sample the kept records too, which are most of a big run.
        lists_all: whether to name the class of every record of both sides.
    """
    parts = [_record_counts(records), _record_samples(records, sample_kept=sample_kept)]
    return [*parts, _record_classes(records)] if lists_all else parts


def divergence_parts(divergences: DataFrame, predicted_offsets: Mapping[str, Sequence[int]]) -> list[DataFrame]:
    """Return the number of diverged offsets, of those not predicted, and a sample of the disagreeing pairs.

    Args:
        divergences: of some runs; one without any has no counts.
        predicted_offsets: where replicas are predicted to disagree, by run.
    """
    told = [
        (F.col(RUN) == run) & F.col("offset").isin(*offsets) for run, offsets in predicted_offsets.items() if offsets
    ]
    rows = divergences.withColumn("is_predicted", reduce(or_, told, F.lit(col=False)))
    counts = rows.groupBy(RUN).agg(
        F.count_distinct("offset").alias("diverged"),
        F.count_distinct(F.when(~F.col("is_predicted"), F.col("offset"))).alias("unpredicted"),
    )
    return [_part(counts, DIVERGENCE_COUNTS), _sample(rows, DIVERGENCES, "offset", "broker_a", "broker_b")]


def replica_log_parts(entries: DataFrame) -> list[DataFrame]:
    """Return the number of deviating entries of replica logs, and a sample of them."""
    counts = entries.groupBy(RUN).agg(F.count("*").alias("deviating"))
    return [
        _part(counts, REPLICA_LOG_COUNTS),
        _sample(entries, REPLICA_LOG, "broker", "offset", "measured_record"),
    ]


def collected(parts: Sequence[DataFrame]) -> Mapping[str, Parts]:
    """Run the one query and return its rows by run and part, samples in their order."""
    found: dict[str, dict[str, list[Mapping[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(rows_of(reduce(DataFrame.union, parts)), key=lambda row: row["rank"]):
        found[row[RUN]][row["part"]].append(json.loads(row["json"]))
    return found


def _record_counts(records: DataFrame) -> DataFrame:
    is_attempted = F.col("attempts") > 0
    primary = (*CLASSES, UNDETERMINED, UNATTEMPTED)
    counts = records.groupBy(RUN, "side").agg(
        F.count("*").alias("rows"),
        F.count("classification").alias("classified"),
        *(F.sum(name).alias(name) for name in ("attempts", "outcomes", "predictions", "copies")),
        F.count_if(is_attempted).alias("attempted"),
        F.count_if(is_attempted & (F.col("outcomes") > 0)).alias("outcomes_of_attempts"),
        F.count_if(F.col("predictions") > 0).alias("predicted_ids"),
        *(F.count_if(is_attempted & (F.col("outcome") == name)).alias(name) for name in OUTCOMES),
        *(F.count_if(F.col(name)).alias(f"class_{name}") for name in CLASSES),
        *(F.count_if(F.col("classification") == name).alias(f"primary_{name}") for name in primary),
        F.sum(F.size("deviations")).alias("deviations"),
    )
    return _part(counts, COUNTS)


def _record_samples(records: DataFrame, *, sample_kept: bool) -> DataFrame:
    sampled = [name for name in CLASSES if sample_kept or name != "kept"]
    parts = [F.when(F.col(name), name) for name in sampled]
    parts.append(F.when(F.size("deviations") > 0, DEVIATIONS))
    tagged = records.where(F.col("side") == MEASURED).select(
        RUN, F.explode(F.array_compact(F.array(*parts))).alias("part"), *_SAMPLED
    )
    order = Window.partitionBy(RUN, "part").orderBy("record_id", "first_offset")
    ranked = tagged.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= SAMPLE_ROWS_MAX)
    return ranked.select(RUN, "part", "rank", _json(*_SAMPLED))


def _record_classes(records: DataFrame) -> DataFrame:
    columns = ("record_id", "side", "classification", "first_offset", "copies", "outcome", "error")
    told = "acknowledged_offset"
    deviating = (F.size("deviations") > 0).alias("deviating")
    return _part(records.select(RUN, *columns, told, deviating), RECORDS)


def _sample(rows: DataFrame, part: str, *order: str) -> DataFrame:
    ranked = rows.withColumn("rank", F.row_number().over(Window.partitionBy(RUN).orderBy(*order)))
    bounded = ranked.where(F.col("rank") <= SAMPLE_ROWS_MAX)
    return bounded.select(RUN, F.lit(part).alias("part"), "rank", _json(*rows.columns))


def _part(rows: DataFrame, part: str) -> DataFrame:
    return rows.select(RUN, F.lit(part).alias("part"), F.lit(0).alias("rank"), _json(*rows.columns))


def _json(*columns: str) -> Column:
    return F.to_json(F.struct(*(name for name in columns if name != RUN)), {"ignoreNullFields": "false"}).alias("json")


# How do rows come from Spark to the tester?


def rows_of(frame: DataFrame) -> list[Row]:
    """Run the query and return its rows, which must be few: counts and bounded samples."""
    with warnings.catch_warnings():  # pyspark leaves it to the garbage collector to close a collect's socket
        warnings.filterwarnings("ignore", "unclosed <socket", ResourceWarning)
        return list(frame.collect())


# Which label does a record id in a sample have?
#
# Labels are looked up for the few sampled ids only, so that they need not travel through the join.


def labels_of(run_directory: Path, record_ids: Iterable[int]) -> Mapping[int, str]:
    """Return the labels of records by id, as the prediction and the ledger name them.

    Raises:
        ReconcileError: a file with labels is unreadable.
    """
    wanted = sorted(set(record_ids))
    found: dict[int, str] = {}
    if not wanted:
        return found
    for path in (*PREDICTED_RECORDS.paths(run_directory), *ATTEMPTS.paths(run_directory)):
        found.update(_labels_in(path, wanted))
    return found


def name_of(record_id: int | None, labels: Mapping[int, str]) -> str:
    """Return the words for a record in a text: its label, else its id; without an id it is none of ours."""
    if record_id is None:
        return "a record that is none of ours"
    return labels.get(record_id, f"record {record_id}")


def _labels_in(path: Path, record_ids: list[int]) -> dict[int, str]:
    try:
        table = pq.read_table(path, columns=["record_id", "label"], filters=[("record_id", "in", record_ids)])
    except (OSError, ValueError) as error:
        raise ReconcileError(f"{path} is unreadable: {error}") from error
    rows = table.to_pylist()
    return {row["record_id"]: row["label"] for row in rows if row["label"] is not None}


def has_undetermined(run_directory: Path) -> bool:
    """Return whether the prediction leaves the fate of any record open."""
    for path in PREDICTED_RECORDS.paths(run_directory):
        if pq.read_table(path, columns=["fate"], filters=[("fate", "=", "undetermined")]).num_rows:
            return True
    return False
