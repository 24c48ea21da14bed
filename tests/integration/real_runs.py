"""How does a test run a scenario for real? On child processes, which a module's tests of one release share."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from typing import TYPE_CHECKING

from conformance.cluster_pool import ClusterPool
from conformance.line import line_named
from conformance.pipeline import Pipeline
from conformance.record.digests import write_digests
from conformance.record.directory import RunDirectory
from conformance.stages.judging import judge_run
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.releases import jars_of

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.record.verdict import Verdict
    from conformance.spark_thread import SparkThread

SEED = 7


def ignore(_: str) -> None:
    """Take no notice of progress."""


class Releases:
    """Brokers of one release at a time, as one pool keeps them, and one Spark for all; to be closed."""

    def __init__(self, spark: SparkThread) -> None:
        self._spark = spark
        self._stack = ExitStack()
        self._cluster_pool: ClusterPool | None = None

    def pipeline(self, version: str, runs: Path) -> Pipeline:
        """Return a pipeline on brokers of a release, in its default metadata mode."""
        if self._cluster_pool is None or self._cluster_pool.line.release.version != version:
            self.close()
            line, backend = line_named(version), ProcessBackend()
            self._cluster_pool = self._stack.enter_context(
                ClusterPool(line=line, jars=jars_of(line.release), backend=backend, progress=ignore)
            )
        self._spark.start()
        return Pipeline(self._cluster_pool, self._spark, runs, SEED, ignore)

    def close(self) -> None:
        """End the brokers."""
        self._cluster_pool = None
        self._stack.close()


def copied(run: RunDirectory, folder: Path) -> RunDirectory:
    """Copy a run, to be doctored."""
    return RunDirectory(shutil.copytree(run.path, folder / run.path.name))


def judged_again(run: RunDirectory, spark: SparkThread) -> Verdict:
    """Reconcile a run from its files, which may be doctored and their digests with them, and judge it."""
    write_digests(run)
    spark.reconcile_again(run)
    return judge_run(run)
