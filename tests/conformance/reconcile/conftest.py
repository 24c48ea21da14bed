"""One Spark session for the tests of the reconciliation; a module gets a new one if another test has ended it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conformance.reconcile.session import end_running_session, spark_session
from fault_injection.releases import spark_connector_jars


@pytest.fixture(scope="session")
def spark_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("spark")
    yield directory
    end_running_session()


@pytest.fixture(scope="module")
def spark(spark_directory: Path) -> SparkSession:
    return spark_session(connector_jars=spark_connector_jars().files, work_directory=spark_directory)
