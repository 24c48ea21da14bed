"""Which error does a failure of the reconciliation itself surface as?

Whatever Spark, its JVM or the connection to it throw becomes one ``ReconcileError``: a failure of the tester,
never a statement about the brokers and never a pass.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

_REASON_LENGTH_MAX = 400


class ReconcileError(Exception):
    """The reconciliation could not be done: a harness failure, whose text says what was being done."""


@contextmanager
def failing_as(activity: str) -> Iterator[None]:
    """Turn every failure of Spark inside the block into a ``ReconcileError``.

    Args:
        activity: what the block does, e.g. ``reading topic t``.

    Raises:
        ReconcileError: the block failed; the text names the activity and the first line of the cause.
    """
    try:
        yield
    except ReconcileError:
        raise
    except (Py4JError, PySparkException, OSError, EOFError) as error:
        raise ReconcileError(f"Failed while {activity}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """Give the lines of an error that say something: the first, and the deepest cause Java names."""
    try:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    except (Py4JError, OSError):  # the text of a Java exception is asked from a JVM that may be gone
        lines = []
    first = lines[0] if lines else type(error).__name__
    causes = [line for line in lines[1:] if line.startswith("Caused by:")]
    return " ".join([first, *causes[-1:]])[:_REASON_LENGTH_MAX]
