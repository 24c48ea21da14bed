import pytest
from pyspark.sql import SparkSession

from conformance.clients.records import VALUE_LENGTH_MIN, key_of, value_of
from conformance.reconcile.collecting import rows_of
from conformance.reconcile.topic import decoded

pytestmark = pytest.mark.spark

_SCHEMA = "partition int, offset bigint, key binary, value binary"


def _decoded(spark: SparkSession, key: bytes | None, value: bytes | None) -> tuple[int | None, bool]:
    (row,) = rows_of(decoded(spark.createDataFrame([(0, 5, key, value)], _SCHEMA)))
    assert (row["partition"], row["offset"]) == (0, 5)
    return row["record_id"], row["value_matches"]


@pytest.mark.parametrize("record_id", [0, 1, 2**31, 2**63 - 1])
@pytest.mark.parametrize("length", [VALUE_LENGTH_MIN, 64, 100, 1000])
def test_spark_computes_the_value_the_producer_sent(spark: SparkSession, record_id: int, length: int) -> None:
    assert _decoded(spark, key_of(record_id), value_of(record_id, length)) == (record_id, True)


@pytest.mark.parametrize(
    "value",
    [
        value_of(8),
        value_of(7)[:-1],
        value_of(7) + b"0",
        value_of(7)[:-1] + b"x",
        value_of(7).lower(),
        value_of(7, 40)[:16],
        b"\xff" * 100,
        b"",
        None,
    ],
)
def test_any_other_value_does_not_match(spark: SparkSession, value: bytes | None) -> None:
    assert _decoded(spark, key_of(7), value) == (7, False)


@pytest.mark.parametrize("key", [None, b"", b"1234567", b"123456789", b"\xff" * 8])
def test_a_key_that_is_no_record_id_gives_none(spark: SparkSession, key: bytes | None) -> None:
    assert _decoded(spark, key, value_of(7)) == (None, False)
