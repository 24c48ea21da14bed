"""FE-03 and FE-05 on real brokers: the turns of nine partitions, and a gauge read over JMX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cluster_pool import ClusterPool
from conformance.line import line_named
from conformance.pipeline import Pipeline
from conformance.record.verdict import Conformance
from conformance.scenarios.fetchers.fe_03_partition_order import LISTING_PARTITIONS
from conformance.scenarios.fetchers.fe_05_lag import LAG_GAUGE
from conformance.spark_thread import SparkThread
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.releases import jars_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.catalogue.examination import Examination

pytestmark = [pytest.mark.broker, pytest.mark.timeout(200)]


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    line = line_named("4.3.1")

    def ignore(_: str) -> None:
        pass

    with (
        SparkThread() as spark,  # not started: nothing is reconciled
        ClusterPool(line=line, jars=jars_of(line.release), backend=ProcessBackend(), progress=ignore) as cluster_pool,
    ):
        yield Pipeline(cluster_pool, spark, tmp_path_factory.mktemp("runs"), 7, ignore)


@pytest.mark.parametrize("examination", [LISTING_PARTITIONS, LAG_GAUGE], ids=lambda examination: examination.name)
def test_brokers_behave_as_predicted(pipeline: Pipeline, examination: Examination) -> None:
    verdict = pipeline.run(examination).verdict

    assert (verdict.conformance, verdict.findings) == (Conformance.CONFORMS, ()), verdict.reason
