"""Is Spark there for a soak, and does it reach what it is to read? Tried before load: afterwards brokers alone have it.

What is tried is not the session that counts later: for hours it would keep what others could use.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

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

    from conformance.soak.options import SoakOptions


def new_spark(options: SoakOptions) -> SparkThread:
    """Return a session for a soak's records, which starts when it is asked for something."""
    master, records = options.run.spark_master, options.records or 10**6
    return SparkThread(master, records=records, settings=options.spark_settings)


@contextmanager
def spark_beforehand(options: SoakOptions, tell: Callable[[str], None]) -> Iterator[SparkBeforehand]:
    """Try Spark: on this machine that it starts; elsewhere what is yielded tries what its executors can do.

    Args:
        options: of the soak.
        tell: told what is tried.

    Raises:
        UsageError: it does not start.
    """
    if is_local(options.run.spark_master):
        _try_here(options)
        yield SparkBeforehand(options, tell, None)
        return
    with new_spark(options) as elsewhere:
        await_spark(tell, elsewhere, options.run.spark_master)
        yield SparkBeforehand(options, tell, elsewhere)


def _try_here(options: SoakOptions) -> None:
    with _refusing():
        require_java()
        if options.spark_settings:
            with new_spark(options) as spark:
                spark.await_started()


class SparkBeforehand:
    """A Spark that has started. Each trial raises UsageError if executors cannot do what is tried.

    Args:
        options: of the soak.
        tell: told what is tried.
        elsewhere: the session of a cluster; None where Spark is on this machine, which can do all of it.
    """

    def __init__(self, options: SoakOptions, tell: Callable[[str], None], elsewhere: SparkThread | None) -> None:
        self._options, self._tell, self._elsewhere = options, tell, elsewhere

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
