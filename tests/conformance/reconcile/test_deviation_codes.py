"""Has every deviation that the reconciliation finds a word that an accepted deviation can name?"""

import pytest
from pyspark.sql import SparkSession

from conformance.reconcile.classify import _conditions
from conformance.reconcile.counting import _divergence_deviations, _replica_log_deviation
from conformance.record.verdict import CODES, RECORDS, REPLICA_LOGS

pytestmark = [pytest.mark.spark, pytest.mark.alone]


def test_every_deviation_of_a_record_has_one(spark: SparkSession) -> None:
    assert spark.version
    assert set(_conditions()) == set(RECORDS) <= CODES


def test_every_deviation_of_a_replicas_log_has_one() -> None:
    entry = {"predicted_record": 1, "measured_record": None, "value_matches": None, "broker": 1, "offset": 0}
    divergence = {"record_a": 1, "broker_a": 1, "record_b": 2, "broker_b": 2, "offset": 0}
    told = [_replica_log_deviation(entry, {}), *_divergence_deviations([divergence], {})]

    assert [one["anomaly"] for one in told] == list(REPLICA_LOGS)
