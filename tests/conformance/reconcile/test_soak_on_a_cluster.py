"""Does a Spark cluster count the same as one process, and what if its workers are killed?"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from benchmarks.made_soaks import Size, made_soak, produce, write_soak
from benchmarks.reconcile_soak import one_broker, session
from benchmarks.standalone import Standalone, standalone
from conformance.clients.topics import create_spread_topic
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.session import end_running_session
from conformance.reconcile.soak import reconcile_soak
from conformance.record.directory import RunDirectory
from conformance.spark_thread import SparkThread
from fault_injection.waiting import until
from tests.conformance.reconcile.test_soak import doctored

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from conformance.record.soak import Soak
    from conformance.record.soak_counted import SoakCounted

pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.alone, pytest.mark.timeout(600)]
SIZE = Size.of(10_000)
PATIENCE_S, MARGIN_S = 30.0, 60.0


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cluster")


@dataclass(frozen=True)
class Made:
    """A doctored soak on brokers that run, and what one process counts of it."""

    soak: Soak
    run: Path
    data: Mapping[int, Path]
    expected: SoakCounted

    def counted(self, spark: SparkSession) -> SoakCounted:
        return reconcile_soak(spark, self.run, self.soak, data=self.data)


@pytest.fixture(scope="module")
def made(directory: Path) -> Iterator[Made]:
    end_running_session()
    planted, hidden, _ = doctored(SIZE)
    with one_broker("4.4.0", directory) as cluster:
        soak = made_soak(cluster.bootstrap, "doctored", SIZE, planted)
        create_spread_topic([cluster.client_address(1)], soak.topic, [[1]] * SIZE.partitions)
        run, data = write_soak(directory / "soak", soak, SIZE, [hidden]), {1: cluster.data_directory(1)}
        with session("local[2]", directory / "local") as spark:
            produce(spark, soak, SIZE, planted)
            expected = reconcile_soak(spark, run.path, soak, data=data)
        yield Made(soak, run.path, data, expected)


@pytest.fixture(scope="module")
def engine(directory: Path) -> Iterator[Standalone]:
    with standalone(directory / "standalone") as cluster:
        yield cluster


def test_two_workers_count_what_one_process_counts(made: Made, engine: Standalone, directory: Path) -> None:
    with session(engine.url, directory / "driver") as spark:
        assert made.counted(spark) == made.expected


def kill_in_mid_job(spark: SparkSession, *processes: subprocess.Popen[bytes]) -> int:
    """Kill processes once some tasks of a stage have ended, and others have not; return how many had."""
    tracker, ended = spark.sparkContext.statusTracker(), 0

    def is_under_way() -> bool:
        nonlocal ended
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        ended = max((one.numCompletedTasks for one in stages if one and one.numActiveTasks), default=0)
        return ended > 0

    until(is_under_way, deadline_s=60, interval_s=0.01, what="some tasks to end")
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()
    return ended


def test_a_worker_that_is_killed_changes_no_count(made: Made, engine: Standalone, directory: Path) -> None:
    with session(engine.url, directory / "driver-2") as spark, ThreadPoolExecutor(1) as thread:
        killing = thread.submit(kill_in_mid_job, spark, engine.workers[0])
        assert made.counted(spark) == made.expected
        assert killing.result() > 0


def session_of(thread: SparkThread) -> SparkSession:
    """Wait until a thread's session has begun to work."""
    return until(lambda: thread._current, deadline_s=60, what="a session")


@pytest.mark.parametrize("is_master_killed", [False, True])
def test_a_cluster_that_is_gone_ends_the_job_with_the_reason(
    made: Made, directory: Path, *, is_master_killed: bool
) -> None:
    with (
        standalone(directory / f"gone-{is_master_killed}") as engine,
        SparkThread(engine.url, records=SIZE.records, patience_s=PATIENCE_S) as spark,
        ThreadPoolExecutor(1) as thread,
    ):
        dying = [engine.master, *engine.workers] if is_master_killed else engine.workers
        killing = thread.submit(lambda: (kill_in_mid_job(session_of(spark), *dying), time.monotonic()))
        with pytest.raises(ReconcileError) as gone:
            spark.reconcile_soak(RunDirectory(made.run), made.soak)
        ended, killed_s = killing.result()
        assert ended > 0
        assert time.monotonic() - killed_s < PATIENCE_S + MARGIN_S
    assert str(gone.value).startswith(f"Spark on {engine.url} has had no executor for {PATIENCE_S:g} s: all it had (")


def test_a_master_that_is_gone_is_not_missed(made: Made, directory: Path) -> None:
    with (
        standalone(directory / "headless") as engine,
        session(engine.url, directory / "driver-3") as spark,
        ThreadPoolExecutor(1) as thread,
    ):
        killing = thread.submit(kill_in_mid_job, spark, engine.master)
        assert made.counted(spark) == made.expected
        assert killing.result() > 0


def test_it_is_told_how_far_the_cluster_is(made: Made, engine: Standalone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.reconcile.spark_watch.LOOK_EVERY_S", 0.3)
    lines: list[str] = []
    with SparkThread(engine.url, records=SIZE.records) as spark:
        counted = spark.reconcile_soak(RunDirectory(made.run), made.soak, data=made.data, tell=lines.append)
    assert counted == made.expected
    assert [line for line in lines if line.startswith("read some ")]


def test_a_cluster_without_a_worker_is_said_to_have_none(directory: Path) -> None:
    end_running_session()
    with standalone(directory / "empty", workers=0) as engine, SparkThread(engine.url, patience_s=8) as spark:
        with pytest.raises(ReconcileError) as refused:
            spark._done(lambda: spark._session().range(10).count())
        assert str(refused.value).startswith(
            f"Spark on {engine.url} has had no executor for 8 s: no worker has a core and 1g"
        )
        assert "127.0.0.1 (--advertise, or spark.driver.host)" in str(refused.value)
