"""Where in a run directory is each table, and how is it read?

A table is a set of Parquet files; a set without files is an empty table, since a run may end before its first
outcome.
"""

from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from conformance.reconcile import schemas
from conformance.reconcile.errors import ReconcileError
from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.record.prediction import read_prediction


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

    def read(self, spark: SparkSession, run_directory: Path) -> DataFrame:
        """Return its rows."""
        paths = [str(path) for path in self.paths(run_directory)]
        if paths:
            return spark.read.schema(self.schema).parquet(*paths)
        columns = [F.lit(None).cast(field.dataType).alias(field.name) for field in self.schema]
        return spark.range(0).select(*columns)

    def rows(self, run_directory: Path) -> int:
        """Count its rows by the footers of its files, without Spark: the other side of an identity.

        Raises:
            ReconcileError: a file is no Parquet file.
        """
        try:
            return sum(pq.read_metadata(path).num_rows for path in self.paths(run_directory))
        except (OSError, ValueError) as error:
            raise ReconcileError(f"A file of {run_directory / self.files} is unreadable: {error}") from error


ATTEMPTS = RunTable("ledger/attempts-*.parquet", schemas.ATTEMPTS)
OUTCOMES = RunTable("ledger/outcomes-*.parquet", schemas.OUTCOMES)
PREDICTED_RECORDS = RunTable("prediction/records.parquet", schemas.PREDICTED_RECORDS)
PREDICTED_REPLICA_LOGS = RunTable("prediction/replica_logs.parquet", schemas.PREDICTED_REPLICA_LOGS)
TOPIC = RunTable("topic/*.parquet", schemas.TOPIC)
REPLICA_LOGS = RunTable("replica_logs/*.parquet", schemas.REPLICA_LOGS)


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
