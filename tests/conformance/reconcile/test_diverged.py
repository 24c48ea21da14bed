from typing import Any

import pytest
from pyspark.sql import SparkSession

from conformance.reconcile.classify import diverged
from conformance.reconcile.summary import rows_of

pytestmark = [pytest.mark.spark, pytest.mark.alone]

_SCHEMA = """run string, broker int, offset bigint, record_id bigint, leader_epoch int, value_matches boolean,
    high_watermark bigint"""
_Log = list[tuple[Any, ...]]


def _log(broker: int, ids: list[int | None], high_watermark: int, epoch: int = 0) -> _Log:
    entries = enumerate(ids)
    return [("a run", broker, offset, record_id, epoch, True, high_watermark) for offset, record_id in entries]


def _diverged(spark: SparkSession, *logs: _Log) -> list[tuple[Any, ...]]:
    frame = spark.createDataFrame([entry for log in logs for entry in log], _SCHEMA)
    found = rows_of(diverged(frame).orderBy("offset", "broker_a", "broker_b").drop("run"))
    return [tuple(row) for row in found]


def test_equal_logs_do_not_diverge(spark: SparkSession) -> None:
    assert _diverged(spark, _log(1, [1, 2, 3], 3), _log(2, [1, 2, 3], 3)) == []


def test_other_records_at_one_committed_offset_diverge(spark: SparkSession) -> None:
    assert _diverged(spark, _log(1, [1, 2, 4], 3), _log(2, [1, 3, 4], 3)) == [(1, 1, 2, 2, 3)]


def test_above_the_smaller_high_watermark_logs_may_differ(spark: SparkSession) -> None:
    assert _diverged(spark, _log(1, [1, 2, 3], 3), _log(2, [1, 4, 5], 1)) == []


def test_a_committed_record_that_one_replica_lacks_diverges(spark: SparkSession) -> None:
    assert _diverged(spark, _log(1, [1, 2], 2), _log(2, [1], 2)) == [(1, 1, 2, 2, None)]


def test_another_epoch_or_value_at_one_offset_diverges(spark: SparkSession) -> None:
    assert _diverged(spark, _log(1, [1], 1, epoch=0), _log(2, [1], 1, epoch=1)) == [(0, 1, 1, 2, 1)]
    changed: _Log = [("a run", 2, 0, 1, 0, False, 1)]
    assert _diverged(spark, _log(1, [1], 1), changed) == [(0, 1, 1, 2, 1)]


def test_of_three_replicas_only_disagreeing_pairs_are_named(spark: SparkSession) -> None:
    logs = (_log(1, [1, 2], 2), _log(2, [1, 3], 2), _log(3, [1, 2], 2))
    assert _diverged(spark, *logs) == [(1, 1, 2, 2, 3), (1, 2, 3, 3, 2)]


def test_a_replica_with_a_lower_high_watermark_is_left_out_above_it(spark: SparkSession) -> None:
    logs = (_log(1, [1, 2], 2), _log(2, [1, 9], 1), _log(3, [1, 3], 2))
    assert _diverged(spark, *logs) == [(1, 1, 2, 3, 3)]


def test_one_replica_cannot_disagree(spark: SparkSession) -> None:
    assert _diverged(spark, _log(1, [1, 2], 2)) == []
