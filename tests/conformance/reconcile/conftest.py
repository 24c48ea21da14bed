"""One Spark session for all tests of the reconciliation."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from conformance.reconcile.session import spark_session, stop_session
from fault_injection.releases import spark_connector_jars


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    session = spark_session(
        connector_jars=spark_connector_jars().files, work_directory=tmp_path_factory.mktemp("spark")
    )
    yield session
    stop_session(session)
