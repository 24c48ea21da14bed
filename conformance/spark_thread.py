"""Which thread talks to Spark? One of its own, so that the session starts while brokers do.

Spark's active session belongs to a thread; everything that uses it is sent here.
"""

from __future__ import annotations

import shutil
import signal
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from conformance.reconcile.errors import ReconcileError
from conformance.run_options import DEFAULT_MASTER
from conformance.spark_extra import at_first_use, require_spark
from conformance.spark_master import STANDALONE, is_local
from conformance.work_directory import work_directory
from fault_injection.releases import spark_connector_jars
from fault_injection.waiting import DeadlineExceededError, until

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from pyspark.sql import SparkSession

    from conformance.reconcile import attached as attached_job
    from conformance.reconcile import executors, job, jvm, session, spark_watch
    from conformance.reconcile import soak as soak_job
    from conformance.reconcile.counting import Reconciliation
    from conformance.reconcile.spark_watch import Reading, SparkWatch
    from conformance.record.attached import Attached
    from conformance.record.attached_counted import Counted
    from conformance.record.directory import RunDirectory
    from conformance.record.soak import Soak
    from conformance.record.soak_counted import SoakCounted
else:
    attached_job = at_first_use("conformance.reconcile.attached")
    executors = at_first_use("conformance.reconcile.executors")
    job = at_first_use("conformance.reconcile.job")
    jvm = at_first_use("conformance.reconcile.jvm")
    session = at_first_use("conformance.reconcile.session")
    spark_watch = at_first_use("conformance.reconcile.spark_watch")
    soak_job = at_first_use("conformance.reconcile.soak")

GRACE_S = 2.0
"""How long Spark may take to leave in good order when nobody waits for its work any more."""
KILL_DEADLINE_S = 10.0
STOP_DEADLINE_S = 60.0
"""How long an idle Spark may take to stop, before its JVM is ended."""

STANDALONE_PATIENCE_S = 120.0
"""A standalone cluster gives executors as soon as their JVMs have started, if it has any to give."""
PATIENCE_S = 300.0
"""Others may have a queue, or an image to pull; so long any may take to start a session."""

T = TypeVar("T")


class SparkThread:
    """A lazily started Spark session on its own thread.

    Args:
        master: of Spark.
        records: how many are to be read: whether the JVM is to bear many rather than to start quickly.
        settings: of Spark, which win over the tester's own.
        patience_s: for so long a cluster may give no executor; None takes the usual time.

    Raises:
        SparkMissingError: the packages of the extra are not installed.
    """

    def __init__(
        self,
        master: str = DEFAULT_MASTER,
        *,
        records: int = 0,
        settings: Mapping[str, str] | None = None,
        patience_s: float | None = None,
    ) -> None:
        require_spark()
        self._master, self._records, self._settings = master, records, dict(settings or {})
        usual_s = STANDALONE_PATIENCE_S if master.startswith(STANDALONE) else PATIENCE_S
        self._patience_s = usual_s if patience_s is None else patience_s
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="spark")
        self._work = work_directory("spark")
        self._started: Future[SparkSession] | None = None
        self._latest: Future[Any] | None = None
        self._current: SparkSession | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Begin to start the session, if that has not begun; returns at once."""
        if self._started is None:
            self._started = self._latest = self._thread.submit(self._session)

    def await_started(self) -> None:
        """Wait until the session has started.

        Raises:
            ReconcileError: it did not start, such as when no master answers.
        """
        self.start()
        assert self._started is not None
        self._awaited(self._started)

    def _session(self) -> SparkSession:
        jars = spark_connector_jars().files
        is_many = self._records >= session.MANY_RECORDS
        self._current = session.spark_session(
            self._master,
            connector_jars=jars,
            work_directory=self._work,
            many_records=is_many,
            overrides=self._settings,
        )
        return self._current

    def read(self, run: RunDirectory, *, bootstrap: str, topic: str, end_offset: int) -> None:
        """Read the topic of a run from its brokers.

        Raises:
            ReconcileError: Spark failed.
        """
        self._done(lambda: job.read(self._session(), run.path, bootstrap=bootstrap, topic=topic, end_offset=end_offset))

    def read_attached(self, run: RunDirectory, attached: Attached, connection: Mapping[str, str]) -> None:
        """Read the topic of a ledger beside somebody's cluster.

        Raises:
            ReconcileError: Spark failed.
        """
        self._done(lambda: attached_job.read_attached_topic(self._session(), run.path, attached, connection))

    def reconcile_attached(self, run: RunDirectory, attached: Attached) -> Counted:
        """Reconcile such a ledger from its files.

        Raises:
            ReconcileError: Spark failed, or the topic was never read.
        """
        return self._done(lambda: attached_job.reconcile_attached(self._session(), run.path, attached))

    def reconcile_soak(
        self,
        run: RunDirectory,
        soak: Soak,
        *,
        sampled: bool = False,
        cross_check: bool = False,
        data: Mapping[int, Path] | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> SoakCounted:
        """Read the topic of a soak from its brokers, and reconcile it with its ledgers and its prediction.

        ``tell`` is told every few seconds how far it is.

        Raises:
            ReconcileError: the topic cannot be read, or has offsets without a record, or Spark or the check failed, or
                a cluster gives no executor.
        """

        def reading(spark: SparkSession, tell: Callable[[str], None]) -> Reading:
            tasks, partitions = soak_job.reading_tasks(spark, soak), sum(map(bool, soak.ends))
            return spark_watch.Reading(sum(soak.ends), partitions, tasks, tell)

        return self._done(
            lambda: soak_job.reconcile_soak(
                self._session(), run.path, soak, sampled=sampled, cross_check=cross_check, data=data, tell=tell
            ),
            None if tell is None else partial(reading, tell=tell),
        )

    def try_sharing(self, runs: Path) -> None:
        """Make sure that the executors of a cluster share a directory with this machine.

        Raises:
            ReconcileError: they do not, or there is none of them.
        """
        self._done(lambda: executors.try_sharing(self._session(), runs.absolute()))

    def try_reaching(self, bootstrap: str, topic: str, brokers: int) -> None:
        """Make sure that the executors of a cluster reach brokers, each of which has a partition of a topic.

        Raises:
            ReconcileError: they do not, or there is none of them.
        """
        self._done(lambda: executors.try_reaching(self._session(), bootstrap, topic, brokers))

    def reconcile_all(self, runs: Sequence[RunDirectory]) -> list[Reconciliation | ReconcileError]:
        """Reconcile runs from their files, in one query where that can be; what cannot be reconciled has its error.

        Raises:
            ReconcileError: Spark does not start.
        """
        return self._done(lambda: job.reconcile_all(self._session(), [run.path for run in runs]))

    def reconcile_again(self, run: RunDirectory) -> Reconciliation:
        """Reconcile a run from its files.

        Raises:
            ReconcileError: Spark failed, or the topic was never read.
        """
        return self._done(lambda: job.reconcile_from_files(self._session(), run.path))

    def _done(self, work: Callable[[], T], reading: Callable[[SparkSession], Reading] | None = None) -> T:
        self._latest = doing = self._thread.submit(work)
        return self._awaited(doing, reading)

    def _awaited(self, doing: Future[T], reading: Callable[[SparkSession], Reading] | None = None) -> T:
        """Return what a work comes to; it is looked at meanwhile.

        Raises:
            ReconcileError: a cluster starts no session, or gives it no executor.
        """
        if reading is None and is_local(self._master):
            return doing.result()
        watch: SparkWatch | None = None
        began_s = time.monotonic()
        while not wait([doing], spark_watch.LOOK_EVERY_S).done:
            watch = watch or self._watch(reading)
            if watch is None:
                self._require_start(time.monotonic() - began_s)
            else:
                watch.look()
        return doing.result()

    def _watch(self, reading: Callable[[SparkSession], Reading] | None) -> SparkWatch | None:
        """Return what looks at the session; None while there is none."""
        if self._current is None:
            return None
        hunger = None if is_local(self._master) else executors.Hunger(self._master, self._patience_s)
        told = None if reading is None else reading(self._current)
        return spark_watch.SparkWatch(self._current, told, hunger)

    def _require_start(self, passed_s: float) -> None:
        """Make sure that a session starts before long."""
        if passed_s > PATIENCE_S and not is_local(self._master):
            raise ReconcileError(f"Spark on {self._master} did not start within {PATIENCE_S:g} s.")

    def close(self) -> None:
        """End the session and its JVM; work that is still going on is cancelled, since nobody waits for it."""
        if self._latest is None or self._latest.done():
            stopping = self._thread.submit(self._stop)
            with suppress(TimeoutError):
                stopping.result(STOP_DEADLINE_S)
            if not stopping.done():
                self._cancel(stopping)
            self._thread.shutdown()
        else:
            self._cancel(self._latest)
            self._stop()
        shutil.rmtree(self._work, ignore_errors=True)

    def _cancel(self, work: Future[Any]) -> None:
        """End the JVM under a work that goes on, in good order if it is quick about it; return when the work ended."""
        self._thread.shutdown(wait=False, cancel_futures=True)

        def is_over(number: int) -> bool:
            jvm.send_signal(self._work, number)
            return work.done()

        with suppress(DeadlineExceededError):
            until(lambda: is_over(signal.SIGTERM), deadline_s=GRACE_S, interval_s=0.1, what="Spark to leave")
        until(lambda: is_over(signal.SIGKILL), deadline_s=KILL_DEADLINE_S, what="Spark to end")
        self._thread.shutdown()

    def _stop(self) -> None:
        if self._current is not None:
            session.stop_session(self._current)
