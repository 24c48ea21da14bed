"""Is each record of a soak found that is not as it was sent, on real brokers, and nothing else?"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from benchmarks.made_soaks import BASE, Planted, Size, made_soak, produce, write_soak
from conformance.clients.topics import create_spread_topic
from conformance.reconcile.soak import reconcile_soak
from conformance.record.soak_counted import read_counted
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import MetadataMode, find_release, jars_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from conformance.record.soak_counted import SoakCounted

pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.alone, pytest.mark.timeout(600)]
SIZES = [pytest.param(Size.of(100_000), id="100k"), pytest.param(Size.of(10_000_000), id="10M")]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    release = find_release("4.4.0")
    spec = ClusterSpec(release, MetadataMode.KRAFT, broker_ids=(1,))
    with (
        closing(ProcessBackend()) as backend,
        closing(DirectRelay()) as relay,
        Cluster.start(spec, jars_of(release), backend, relay, tmp_path_factory.mktemp("brokers")) as started,
    ):
        yield started


def created(cluster: Cluster, topic: str, size: Size) -> None:
    create_spread_topic([cluster.client_address(1)], topic, [[1]] * size.partitions)


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
    found = {
        ("lost", 0, lost, 301, None),
        ("phantom", 0, never_sent, None, 301),
        ("duplicated", 1, twice, 302, 302),
        ("value_changed", 2, flipped, 303, 303),
        ("phantom", 3, None, None, 304),
        ("moved", 3, moved, 304, size.end),
        ("phantom", 4, hidden, None, 305),
    }
    return planted, hidden, found


@pytest.mark.parametrize("size", SIZES)
def test_what_is_doctored_is_found_and_nothing_else(
    spark: SparkSession, cluster: Cluster, tmp_path: Path, size: Size
) -> None:
    planted, hidden, expected = doctored(size)
    topic = f"doctored-{size.batches}"
    soak = made_soak(cluster.bootstrap, topic, size, planted)
    created(cluster, topic, size)
    produce(spark, soak, size, planted)
    run = write_soak(tmp_path / "soak", soak, size, [hidden])
    counted = reconcile_soak(spark, run.path, soak)
    assert counted == read_counted(run)
    assert counted.identity_holds
    others = {"lost": (1, 1), "phantom": (3, 3), "value_changed": (1, 1), "duplicated": (1, 1), "moved": (1, 1)}
    assert classes(counted) == {**others, "kept": (size.records - 5, 0)}
    named = {
        (one.classification, one.partition, one.record_id, one.acknowledged_offset, one.found_offset)
        for one in counted.samples
    }
    assert named == expected
    assert counted.foreign == 1
    assert counted.compared.joined_blocks == 6
