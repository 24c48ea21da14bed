"""What the tests of whole runs share: Spark, whose start takes longer than most runs, and a module's brokers."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from conformance.spark_thread import SparkThread
from tests.integration.real_runs import Releases

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def spark_thread() -> Iterator[SparkThread]:
    with SparkThread() as spark:
        yield spark


@pytest.fixture(scope="module")
def releases(spark_thread: SparkThread) -> Iterator[Releases]:
    with closing(Releases(spark_thread)) as releases:
        yield releases
