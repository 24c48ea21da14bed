from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from conformance.clients.records import VALUE_LENGTH_MIN, key_of, value_of
from conformance.reconcile.session import MANY_RECORDS, tune
from conformance.reconcile.summary import rows_of
from conformance.reconcile.topic import decoded

pytestmark = [pytest.mark.spark, pytest.mark.alone]

_SCHEMA = "partition int, offset bigint, key binary, value binary"


_LENGTHS = (VALUE_LENGTH_MIN, 64, 100, 1000)
_IDS = (0, 1, 2**31, 2**63 - 1)
_OTHER_VALUES = (
    value_of(8),
    value_of(7)[:-1],
    value_of(7) + b"0",
    value_of(7)[:-1] + b"x",
    value_of(7).lower(),
    value_of(7, 40)[:16],
    b"\xff" * 100,
    b"",
    None,
)
_FOREIGN_KEYS = (None, b"", b"1234567", b"123456789", b"\xff" * 8)


@pytest.fixture(autouse=True, params=[0, MANY_RECORDS], ids=["few", "many"])
def _tuned(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[None]:
    """Set the session up for few records, whose expressions are interpreted, and for many, which have code made."""
    tune(spark, request.param)
    yield
    tune(spark, 0)


def _decoded(spark: SparkSession, *records: tuple[bytes | None, bytes | None]) -> list[tuple[int | None, bool]]:
    frame = spark.createDataFrame([(0, at, key, value) for at, (key, value) in enumerate(records)], _SCHEMA)
    rows = rows_of(decoded(frame).orderBy("offset"))
    assert [(row["partition"], row["offset"]) for row in rows] == [(0, at) for at in range(len(records))]
    return [(row["record_id"], row["value_matches"]) for row in rows]


def test_spark_computes_the_value_the_producer_sent(spark: SparkSession) -> None:
    sent = [(record_id, length) for record_id in _IDS for length in _LENGTHS]
    records = [(key_of(record_id), value_of(record_id, length)) for record_id, length in sent]
    assert _decoded(spark, *records) == [(record_id, True) for record_id, _ in sent]


def test_any_other_value_does_not_match(spark: SparkSession) -> None:
    records = [(key_of(7), value) for value in _OTHER_VALUES]
    assert _decoded(spark, *records) == [(7, False)] * len(records)


def test_a_key_that_is_no_record_id_gives_none(spark: SparkSession) -> None:
    records = [(key, value_of(7)) for key in _FOREIGN_KEYS]
    assert _decoded(spark, *records) == [(None, False)] * len(records)
