"""Which thread talks to Spark? One of its own, so that the session starts while brokers do.

Spark's active session belongs to a thread; everything that uses it is sent here.
"""

from __future__ import annotations

import shutil
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

from conformance.reconcile.job import reconcile, reconcile_from_files
from conformance.reconcile.session import spark_session, stop_session
from conformance.work_directory import work_directory
from fault_injection.releases import spark_connector_jars

if TYPE_CHECKING:
    from types import TracebackType

    from pyspark.sql import SparkSession

    from conformance.reconcile.reconciliation import Reconciliation
    from conformance.run_directory import RunDirectory

DEFAULT_MASTER = "local[2]"


class SparkRoom:
    """A lazily started Spark session on its own thread."""

    def __init__(self, master: str = DEFAULT_MASTER) -> None:
        self._master = master
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="spark")
        self._work = work_directory("spark")
        self._started: Future[SparkSession] | None = None
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
            self._started = self._thread.submit(self._session)

    def _session(self) -> SparkSession:
        jars = spark_connector_jars().files
        self._current = spark_session(self._master, connector_jars=jars, work_directory=self._work)
        return self._current

    def reconcile(self, run: RunDirectory, *, bootstrap: str, topic: str, end_offset: int) -> Reconciliation:
        """Read the topic and reconcile a run.

        Raises:
            ReconcileError: Spark failed.
        """
        return self._thread.submit(
            lambda: reconcile(
                self._session(),
                run.path,
                bootstrap=bootstrap,
                topic=topic,
                end_offset=end_offset,
            )
        ).result()

    def reconcile_again(self, run: RunDirectory) -> Reconciliation:
        """Reconcile a run from its files.

        Raises:
            ReconcileError: Spark failed, or the topic was never read.
        """
        return self._thread.submit(lambda: reconcile_from_files(self._session(), run.path)).result()

    def close(self) -> None:
        """End the session and its JVM."""
        self._thread.submit(self._stop).result()
        self._thread.shutdown()
        shutil.rmtree(self._work, ignore_errors=True)

    def _stop(self) -> None:
        if self._current is not None:
            stop_session(self._current)
