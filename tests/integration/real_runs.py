"""How does a test run a scenario for real? One pipeline on child processes, shared by the tests of a module."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from conformance.laboratory import Laboratory
from conformance.pipeline import Pipeline
from conformance.run_directory import RunDirectory
from conformance.spark_room import SparkRoom
from conformance.stages.judging import judge_run
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.releases import find_release, jars_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.judgement.verdicts import Verdict

SEED = 7


def ignore(_: str) -> None:
    """Take no notice of progress."""


@contextmanager
def real_pipeline(version: str, runs: Path) -> Iterator[Pipeline]:
    """Give a pipeline on brokers of a release, in its default metadata mode."""
    release = find_release(version)
    jars, mode = jars_of(release), release.default_metadata_mode
    with (
        SparkRoom() as spark,
        Laboratory(release=release, metadata=mode, jars=jars, backend=ProcessBackend(), progress=ignore) as laboratory,
    ):
        spark.start()
        yield Pipeline(laboratory, spark, runs, SEED, ignore)


def copied(run: RunDirectory, folder: Path) -> RunDirectory:
    """Copy a run, to be doctored."""
    return RunDirectory(shutil.copytree(run.path, folder / run.path.name))


def judged_again(run: RunDirectory, spark: SparkRoom) -> Verdict:
    """Reconcile a run from its files and judge it, as ``judge`` does."""
    spark.reconcile_again(run)
    return judge_run(run)
