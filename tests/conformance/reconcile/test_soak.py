"""Is each record of a soak found that is not as it was sent, on real brokers, and nothing else?"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from benchmarks.made_soaks import BASE, Planted, Size, made_soak, produce, write_soak
from conformance.clients.topics import create_spread_topic
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.soak import reconcile_soak
from conformance.record.soak_counted import LostTail, read_counted
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.faults.disk import LoseLogTail
from fault_injection.faults.segments import active_segment, base_offset, batch_boundaries
from fault_injection.releases import MetadataMode, find_release, jars_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from conformance.record.soak import Soak
    from conformance.record.soak_counted import SoakCounted

pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.alone, pytest.mark.timeout(900)]
SIZES = [pytest.param(Size.of(100_000), id="100k"), pytest.param(Size.of(10_000_000), id="10M")]
CUT = 5
"""Of which partition a replica is cut."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    release = find_release("4.4.0")
    spec = ClusterSpec(release, MetadataMode.KRAFT, broker_ids=(1, 2))
    with (
        closing(ProcessBackend()) as backend,
        closing(DirectRelay()) as relay,
        Cluster.start(spec, jars_of(release), backend, relay, tmp_path / "brokers") as started,
    ):
        yield started


def created(cluster: Cluster, soak: Soak) -> None:
    addresses = [cluster.client_address(broker) for broker in cluster.live_brokers]
    create_spread_topic(addresses, soak.topic, [[1, 2]] * soak.partitions)


def classes(counted: SoakCounted) -> dict[str, tuple[int, int]]:
    """Return of each class that has any how many records are in it, and how many of these against the prediction."""
    totals = {name: counted.total(name) for name in counted.partitions[0].classes}
    return {name: (one.records, one.against) for name, one in totals.items() if one.records}


def doctored(size: Size) -> tuple[list[Planted], int, set[tuple[object, ...]]]:
    """Return what is planted, which id is hidden, and what must be found: class, partition, id, acknowledged, found."""
    lost, twice, flipped = size.id_at(0, 301), size.id_at(1, 302), size.id_at(2, 303)
    moved, hidden = size.id_at(3, 304), size.id_at(4, 305)
    never_sent = BASE + size.ranks * size.partitions
    planted = [
        Planted(0, 301, never_sent),
        Planted(1, size.end, twice),
        Planted(2, 303, flipped, is_flipped=True),
        Planted(3, 304, None),
        Planted(3, size.end, moved),
    ]
    found: set[tuple[object, ...]] = {
        ("lost", 0, lost, 301, None),
        ("phantom", 0, never_sent, None, 301),
        ("duplicated", 1, twice, 302, 302),
        ("value_changed", 2, flipped, 303, 303),
        ("phantom", 3, None, None, 304),
        ("moved", 3, moved, 304, size.end),
        ("phantom", 4, hidden, None, 305),
    }
    return planted, hidden, found


def cut_tail(cluster: Cluster, soak: Soak) -> LostTail:
    """End broker 2, and cut its last batch of a partition; return what that is."""
    cluster.kill(2)
    segment = active_segment(cluster.files(2), soak.topic, CUT)
    assert segment is not None
    begins = sorted(batch_boundaries(cluster.read_file(2, segment), base_offset(segment)))[-2]
    LoseLogTail(2, begins, soak.topic, CUT).inject(cluster)
    return LostTail(CUT, 2, begins, soak.ends[CUT] - begins)


@pytest.mark.parametrize("size", SIZES)
def test_what_is_doctored_is_found_and_nothing_else(
    spark: SparkSession, cluster: Cluster, tmp_path: Path, size: Size
) -> None:
    planted, hidden, expected = doctored(size)
    soak = made_soak(cluster.bootstrap, "doctored", size, planted, replicas=2)
    created(cluster, soak)
    produce(spark, soak, size, planted)
    run = write_soak(tmp_path / "soak", soak, size, [hidden])
    data = {broker: cluster.data_directory(broker) for broker in (1, 2)}
    tail = cut_tail(cluster, soak)
    lines: list[str] = []
    counted = reconcile_soak(spark, run.path, soak, sampled=True, cross_check=True, data=data, tell=lines.append)
    assert [line.partition(",")[0] for line in lines] == ["DuckDB counts every class again"]
    assert counted == read_counted(run)
    assert counted.identity_holds
    others = {"lost": (1, 1), "phantom": (3, 3), "value_changed": (1, 1), "duplicated": (1, 1), "moved": (1, 1)}
    assert classes(counted) == {**others, "kept": (size.records - 5, 0)}
    named = {
        (one.classification, one.partition, one.record_id, one.acknowledged_offset, one.found_offset)
        for one in counted.samples
    }
    assert named == expected
    assert (counted.foreign, counted.compared.joined_blocks) == (1, 6)
    assert counted.cross_check == ()
    assert counted.control is not None
    assert counted.control.agrees
    assert counted.control.kept > size.records / 100
    assert counted.replicas is not None
    assert (counted.replicas.lost_tails, counted.replicas.diverged) == ((tail,), {})


def test_a_topic_with_a_transaction_is_refused(spark: SparkSession, cluster: Cluster, tmp_path: Path) -> None:
    size = Size(1, producers=1, partitions=2)
    soak = made_soak(cluster.bootstrap, "transactional", size)
    created(cluster, soak)
    produce(spark, soak, size)
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": "t"})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(soak.topic, b"value", b"key", 1)
    producer.commit_transaction(60)
    run = write_soak(tmp_path / "soak", soak, size)
    with_marker = replace(soak, ends=(soak.ends[0], soak.ends[1] + 2))
    with pytest.raises(ReconcileError, match="Partition 1 of transactional ends at 152, and 151 records were read"):
        reconcile_soak(spark, run.path, with_marker)
