"""What the tests of whole runs share: Spark, whose start takes longer than most runs, and a module's brokers."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from conformance.spark_room import SparkRoom
from tests.integration.real_runs import Releases

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def spark_room() -> Iterator[SparkRoom]:
    with SparkRoom() as spark:
        yield spark


@pytest.fixture(scope="module")
def releases(spark_room: SparkRoom) -> Iterator[Releases]:
    with closing(Releases(spark_room)) as releases:
        yield releases
