"""Is Spark there for a soak, and does it reach what it is to read? Tried before load: afterwards brokers alone have it.

What is tried is not the session that counts later: for hours it would keep what others could use.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from conformance.clients.topics import create_spread_topic
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.jvm import require_java
from conformance.session import await_spark
from conformance.spark_master import is_local
from conformance.spark_thread import SparkThread
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import TracebackType

    from conformance.soak.options import SoakOptions


def new_spark(options: SoakOptions) -> SparkThread:
    """Return a session for a soak's records, which starts when it is asked for something."""
    master, records = options.run.spark_master, options.records or 10**6
    return SparkThread(master, records=records, settings=options.spark_settings)


class SparkBeforehand:
    """Tries Spark; a context manager. On this machine that it starts; elsewhere also what its executors can do.

    Args:
        options: of the soak.
        tell: told what is tried.

    Raises:
        UsageError: on entering, and by each trial: it does not start, or executors cannot do what is tried.
    """

    def __init__(self, options: SoakOptions, tell: Callable[[str], None]) -> None:
        self._options, self._tell = options, tell
        self._elsewhere: SparkThread | None = None

    def __enter__(self) -> Self:
        master = self._options.run.spark_master
        if is_local(master):
            self._try_here()
            return self
        self._elsewhere = new_spark(self._options)
        try:
            await_spark(self._tell, self._elsewhere, master)
        except BaseException:
            self._elsewhere.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._elsewhere is not None:
            self._elsewhere.close()

    def _try_here(self) -> None:
        with _refusing():
            require_java()
            if self._options.spark_settings:
                with new_spark(self._options) as spark:
                    spark.await_started()

    def try_sharing(self, runs: Path) -> None:
        """Make sure that executors write and read where soaks have their directories."""
        if self._elsewhere is not None:
            with _refusing():
                self._elsewhere.try_sharing(runs)

    def try_reaching(self, bootstrap: str, topic: str) -> None:
        """Make sure that executors reach every broker, by a topic of their own."""
        if self._elsewhere is None:
            return
        self._tell(f"tries whether executors of {self._options.run.spark_master} reach the brokers at {bootstrap}")
        ids = self._options.ground.brokers
        create_spread_topic(bootstrap.split(","), topic, [[one] for one in ids])
        with _refusing():
            self._elsewhere.try_reaching(bootstrap, topic, len(ids))


@contextmanager
def _refusing() -> Iterator[None]:
    """Make it the user's error that Spark cannot do what a soak needs."""
    try:
        yield
    except ReconcileError as error:
        raise UsageError(str(error)) from error
