"""A Spark that does not start is the user's to repair, and known before a broker starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from conformance.console import Console
from conformance.reconcile.errors import ReconcileError
from conformance.session import await_spark
from conformance.spark_master import SparkMasterError
from conformance.spark_thread import SparkThread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class _NeverStarts(SparkThread):
    @override
    def _session(self) -> SparkSession:
        raise ReconcileError("All masters are unresponsive!")


def test_a_spark_that_does_not_start_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with _NeverStarts() as context, pytest.raises(SparkMasterError) as refused:
        await_spark(Console().progress, context, "spark://127.0.0.1:1")

    assert str(refused.value).startswith("--spark-master spark://127.0.0.1:1: Spark did not start there, ")
    assert "(All masters are unresponsive!)" in str(refused.value)
    assert "waiting for Spark on spark://127.0.0.1:1" in capsys.readouterr().err
