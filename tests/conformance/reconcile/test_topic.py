from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conformance.clients.producer import send
from conformance.clients.topics import create_topic
from conformance.reconcile import topic
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.job import read, reconcile_from_files
from conformance.reconcile.summary import rows_of
from conformance.reconcile.topic import read_topic, write_topic
from conformance.record.directory import RunDirectory
from fault_injection.cluster.lifecycle import Cluster
from oracle.vocabulary import Acks
from tests.conformance.real_clusters import two_replicas
from tests.conformance.reconcile.runs import Run
from tests.conformance.run_files import change_run

pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.alone]

_DEADLINE_S = 30
_TOPIC = "reconciled"


@pytest.fixture(scope="module", params=["0.10.2.2", "4.3.1"])
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with two_replicas(request.param, tmp_path_factory.mktemp("brokers")) as started:
        _produce(started)
        yield started


def _produce(cluster: Cluster) -> None:
    create_topic([cluster.client_address(1), cluster.client_address(2)], _TOPIC, [1, 2])
    for record_id in range(1000, 1003):
        send(cluster.client_address(1), _TOPIC, 0, record_id, Acks.ALL).await_delivery(_DEADLINE_S)


def _read(spark: SparkSession, cluster: Cluster, end_offset: int) -> list[tuple[object, ...]]:
    frame = read_topic(spark, cluster.bootstrap, _TOPIC, end_offset)
    return [tuple(row) for row in rows_of(frame.orderBy("offset"))]


def test_every_record_below_the_end_offset_is_read(spark: SparkSession, cluster: Cluster) -> None:
    expected = [(0, offset, 1000 + offset, True) for offset in range(3)]
    assert _read(spark, cluster, 3) == expected
    assert _read(spark, cluster, 2) == expected[:2]


def test_nothing_is_read_below_offset_zero(spark: SparkSession, cluster: Cluster) -> None:
    assert _read(spark, cluster, 0) == []


def test_an_end_offset_beyond_the_log_is_an_error(
    spark: SparkSession, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic, "_POLL_TIMEOUT_MS", 3_000)
    frame = read_topic(spark, cluster.bootstrap, _TOPIC, 5)
    with pytest.raises(ReconcileError, match="reading the topic"):
        write_topic(frame, tmp_path)


def test_reading_creates_no_topic_on_the_brokers(spark: SparkSession, cluster: Cluster) -> None:
    _read(spark, cluster, 3)
    files = [name for broker in cluster.live_brokers for name in cluster.files(broker)]
    assert [name for name in files if name.startswith(_TOPIC)]
    assert not [name for name in files if name.startswith("__consumer_offsets")]


def test_a_run_is_reconciled_with_real_brokers(spark: SparkSession, cluster: Cluster, tmp_path: Path) -> None:
    run = Run()
    for offset in range(3):
        run.produce(f"m{offset}", offset=offset)
    run.produce("m3", offset=3)
    change_run(RunDirectory(run.write(tmp_path)), end_offset=3)
    read(spark, tmp_path, bootstrap=cluster.bootstrap, topic=_TOPIC, end_offset=3)
    found = reconcile_from_files(spark, tmp_path)
    assert (found.counts.classes["kept"], found.counts.classes["lost"], found.counts.end_offset_read) == (3, 1, 3)
    assert [(row["label"], row["anomaly"]) for row in found.samples["deviations"]] == [("m3", "missing")]
