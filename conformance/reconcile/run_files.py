"""Where in a run directory is each table, and how is it read?

A table is a set of Parquet files; a set without files is an empty table, since a run may end before its first
outcome. The files are read with these schemas and no other, so a file of another shape fails instead of being guessed.
The tables of several runs are read as one: the column ``run`` has the name of the run directory that a row is from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from conformance.reconcile.errors import ReconcileError
from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.record.prediction import read_prediction

RUN = "run"
"""The column that tells runs apart."""


@dataclass(frozen=True, slots=True)
class RunTable:
    """A table of the run directory.

    Attributes:
        files: the glob of its files, relative to the run directory.
        schema: its columns.
    """

    files: str
    schema: StructType

    def paths(self, run_directory: Path) -> list[Path]:
        """Return its files, sorted by name."""
        folder, _, name = self.files.partition("/")
        return sorted(run_directory.glob(f"{_folder(run_directory, folder)}/{name}"))

    def read(self, spark: SparkSession, runs: Sequence[Path]) -> DataFrame:
        """Return its rows in some runs, whose names are different."""
        paths = [str(path) for run in runs for path in self.paths(run)]
        if paths:
            return spark.read.schema(self.schema).parquet(*paths).withColumn(RUN, _run_of_row(runs))
        columns = [F.lit(None).cast(field.dataType).alias(field.name) for field in self.schema]
        return spark.range(0).select(*columns, F.lit("").alias(RUN))

    def rows(self, run_directory: Path) -> int:
        """Count its rows by the footers of its files, without Spark: the other side of an identity.

        Raises:
            ReconcileError: a file is no Parquet file.
        """
        try:
            return sum(pq.read_metadata(path).num_rows for path in self.paths(run_directory))
        except (OSError, ValueError) as error:
            raise ReconcileError(f"A file of {run_directory / self.files} is unreadable: {error}") from error


def _run_of_row(runs: Sequence[Path]) -> Column:
    if len(runs) == 1:
        return F.lit(runs[0].name)
    return F.regexp_extract("_metadata.file_path", "([^/]+)/[^/]+/[^/]+$", 1)


_BOOLEAN, _INTEGER, _LONG, _STRING = BooleanType(), IntegerType(), LongType(), StringType()


def _table(files: str, **columns: DataType) -> RunTable:
    return RunTable(files, StructType([StructField(name, kind) for name, kind in columns.items()]))


ATTEMPTS = _table(
    "ledger/attempts-*.parquet",
    record_id=_LONG,
    label=_STRING,
    topic=_STRING,
    partition=_INTEGER,
    acks=_INTEGER,
    step=_INTEGER,
    value_length=_INTEGER,
    attempted_ns=_LONG,
)
"""Written before the send."""
OUTCOMES = _table(
    "ledger/outcomes-*.parquet", record_id=_LONG, outcome=_STRING, error=_STRING, offset=_LONG, completed_ns=_LONG
)
"""What the producer saw; no row means nobody knows."""
PREDICTED_RECORDS = _table(
    "prediction/records.parquet",
    record_id=_LONG,
    label=_STRING,
    fate=_STRING,
    was_committed=_BOOLEAN,
    outcome=_STRING,
    error=_STRING,
    offset=_LONG,
    acks=_INTEGER,
)
"""The frozen prediction of every record; offset is null unless it is present."""
PREDICTED_REPLICA_LOGS = _table(
    "prediction/replica_logs.parquet",
    broker=_INTEGER,
    offset=_LONG,
    label=_STRING,
    record_id=_LONG,
    leadership=_INTEGER,
)
"""The predicted log of every replica."""
TOPIC = _table("topic/*.parquet", partition=_INTEGER, offset=_LONG, record_id=_LONG, value_matches=_BOOLEAN)
"""What Spark read through the Kafka source; record_id is null for a key that is no id."""
REPLICA_LOGS = _table(
    "replica_logs/*.parquet",
    broker=_INTEGER,
    offset=_LONG,
    record_id=_LONG,
    leader_epoch=_INTEGER,
    value_matches=_BOOLEAN,
    high_watermark=_LONG,
)
"""The decoded segments of every replica; leader_epoch -1 means the format has none."""


def _folder(run_directory: Path, folder: str) -> str:
    """Return the folder of the prediction: where a race was open, that of the outcome that fits what was measured."""
    return "outcome" if folder == "prediction" and (run_directory / "outcome").is_dir() else folder


def predicted_divergences(run_directory: Path) -> tuple[int, ...]:
    """Return the offsets at which the prediction says that replicas disagree.

    Raises:
        ReconcileError: prediction.json is there, but cannot be understood.
    """
    run, name = RunDirectory(run_directory), f"{_folder(run_directory, 'prediction')}/prediction.json"
    try:
        return tuple(sorted(one.offset for one in read_prediction(run, name).diverged)) if run.has(name) else ()
    except RunDirectoryError as error:
        raise ReconcileError(str(error)) from error
