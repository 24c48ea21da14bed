"""Which packages come with the extras ``[spark]`` and ``[cross-check]``, and what is said where they are missing?

Reading a topic back and writing a run's tables need Spark and Arrow, some 450 MB. All that only reads the catalogue and
asks the model does without: it imports the modules that use them, and these import them at their first use.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from typing_extensions import override

SPARK_EXTRA = ("pyspark", "py4j", "pyarrow")
"""The packages that the extra brings."""
INSTALL = "pip install 'kafka-conformance[spark]'"


CROSS_CHECK_EXTRA = "duckdb"
CROSS_CHECK_MISSING = (
    "The cross-check counts with DuckDB, which is not installed. One command adds it: "
    "pip install 'kafka-conformance[cross-check]'"
)


class SparkMissingError(Exception):
    """What was asked for needs the extra, and it is not installed: an error of the user's making."""


def require_spark() -> None:
    """Make sure that the extra is installed, before anything starts.

    Raises:
        SparkMissingError: it is not, or not the whole of it; names the command that adds it.
    """
    missing = [name for name in SPARK_EXTRA if find_spec(name) is None]
    if missing:
        raise _missing(", ".join(missing))


def has_cross_check() -> bool:
    """Return whether DuckDB is installed."""
    return find_spec(CROSS_CHECK_EXTRA) is not None


def at_first_use(name: str) -> ModuleType:
    """Return a module that is imported when something of it is asked for.

    Raises:
        SparkMissingError: then, if it is of the extra, or needs it, and that is not installed.
    """
    return _AtFirstUse(name)


class _AtFirstUse(ModuleType):
    """Stands for a module that need not be installed."""

    @override
    def __getattr__(self, name: str) -> object:
        try:
            return getattr(import_module(self.__name__), name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in SPARK_EXTRA:
                raise
            raise _missing(str(error.name)) from error


def _missing(what: str) -> SparkMissingError:
    return SparkMissingError(f"This needs Spark, and what is not installed is {what}. One command adds it: {INSTALL}")
