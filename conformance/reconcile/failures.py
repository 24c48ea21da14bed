"""How does whatever Spark, its JVM or the connection to it throw become one error?

All of it is a ``ReconcileError``: a failure of the tester, never a statement about the brokers, never a pass.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from conformance.reconcile import jvm
from conformance.reconcile.errors import ReconcileError

#: What a call into Spark can throw, a lost connection to its JVM included.
SPARK_FAILURES = (Py4JError, PySparkException, OSError, EOFError)

_REASON_LENGTH_MAX = 800
_EXIT_S = 1
_CIRCULAR = "[CIRCULAR REFERENCE: "


@contextmanager
def failing_as(activity: str) -> Iterator[None]:
    """Turn every failure of Spark inside the block into a ``ReconcileError``.

    Args:
        activity: what the block does, e.g. ``reading topic t``.

    Raises:
        ReconcileError: the block failed; the text names the activity and the cause.
    """
    try:
        yield
    except SPARK_FAILURES as error:
        raise ReconcileError(f"Failed while {activity}: {_lost_jvm() or _reason(error)}") from error


def _lost_jvm() -> str | None:
    gateway = SparkContext._gateway  # noqa: SLF001
    if gateway is None or not jvm.has_exited(gateway, within_s=_EXIT_S):
        return None
    return f"the Spark JVM ended by itself or was killed (exit code {jvm.process_of(gateway).returncode})."


def _reason(error: Exception) -> str:
    """Return the lines of an error that say something: the first, and the deepest cause Java names.

    A cause that Java has printed already it calls a circular reference; the one before it then stands beside it.
    """
    try:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    except (Py4JError, OSError):  # the text of a Java exception is asked from a JVM that may be gone
        lines = []
    first = lines[0] if lines else type(error).__name__
    causes = [line for line in lines[1:] if line.startswith("Caused by:")]
    deepest = causes[-2:] if causes and _CIRCULAR in causes[-1] else causes[-1:]
    return " ".join([first, *deepest]).replace(_CIRCULAR, "[")[:_REASON_LENGTH_MAX]
