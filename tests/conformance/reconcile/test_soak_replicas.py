"""Is it found where replicas differ, and nothing else? Real segment files, copied, and each copy changed in one way."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchmarks.made_soaks import Size, made_soak
from benchmarks.reconcile_soak import one_broker
from conformance.clients.producer import send
from conformance.clients.topics import create_topic
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.soak_replicas import BatchOnDisk, PartitionLogs, batches_of, compare_replicas, compared
from conformance.record.soak_counted import LostTail, ReplicaDifference
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.alone]
TOPIC, RECORDS, FIRST_ID = "copied", 12, 1000
EPOCH_POSITION, VALUE_FROM_END = 12, 10


@pytest.fixture(scope="module", params=["0.10.2.2", "4.4.0"])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a partition that holds a record in each batch."""
    directory = tmp_path_factory.mktemp("brokers")
    with one_broker(request.param, directory) as cluster:
        create_topic([cluster.client_address(1)], TOPIC, [1])
        for record_id in range(FIRST_ID, FIRST_ID + RECORDS):
            send(cluster.client_address(1), TOPIC, 0, record_id, Acks.ALL).await_delivery(30)
        return shutil.copytree(cluster.data_directory(1) / f"{TOPIC}-0", directory / "written")


def replicas(
    written: Path, directory: Path, change: Callable[[Path, list[BatchOnDisk]], None] | None = None
) -> PartitionLogs:
    """Copy the log for three brokers, and change that of broker 2."""
    data = {broker: directory / f"broker-{broker}" / f"{TOPIC}-0" for broker in (1, 2, 3)}
    for folder in data.values():
        shutil.copytree(written, folder)
    if change is not None:
        (segment,) = data[2].glob("*.log")
        change(segment, list(batches_of(data[2])))
    return PartitionLogs(0, RECORDS, data)


def overwrite(segment: Path, position: int, content: bytes) -> None:
    with segment.open("r+b") as stream:
        stream.seek(position)
        stream.write(content)


def test_replicas_that_are_alike_are(written: Path, tmp_path: Path) -> None:
    found = compared(replicas(written, tmp_path))
    assert (found.batches, found.decoded_batches, found.diverged) == (RECORDS, 0, {})
    assert (found.lost_tails, found.samples) == ((), ())


@pytest.mark.parametrize("more", [0, 20], ids=["between batches", "within a batch"])
def test_a_tail_that_was_cut_is_lost(written: Path, tmp_path: Path, more: int) -> None:
    def cut(segment: Path, batches: list[BatchOnDisk]) -> None:
        with segment.open("r+b") as stream:
            stream.truncate(batches[-3].position + more)

    found = compared(replicas(written, tmp_path, cut))
    assert found.lost_tails == (LostTail(0, 2, RECORDS - 3, 3),)
    assert (found.diverged, found.decoded_batches) == ({}, 0)


def test_a_batch_of_other_content_has_diverged(written: Path, tmp_path: Path) -> None:
    """The checksum stands in the header: it says what the content was, and the content is another one."""

    def other(segment: Path, batches: list[BatchOnDisk]) -> None:
        batch = batches[4]
        overwrite(segment, batch.position + 17 if batch.leader_epoch >= 0 else batch.position + 12, b"\x00\x00")

    found = compared(replicas(written, tmp_path, other))
    assert found.diverged == {0: 1}
    assert found.samples == (ReplicaDifference(0, 4, 1, FIRST_ID + 4, 2, None),)
    assert (found.batches, found.decoded_batches, found.lost_tails) == (RECORDS - 1, 3, ())


def test_a_record_of_another_leader_epoch_has_diverged(written: Path, tmp_path: Path) -> None:
    if next(batches_of(written)).leader_epoch < 0:
        pytest.skip("message sets have no leader epoch")

    def of_a_later_epoch(segment: Path, batches: list[BatchOnDisk]) -> None:
        overwrite(segment, batches[7].position + EPOCH_POSITION, (9).to_bytes(4, "big"))

    found = compared(replicas(written, tmp_path, of_a_later_epoch))
    assert found.samples == (ReplicaDifference(0, 7, 1, FIRST_ID + 7, 2, FIRST_ID + 7),)


def test_what_is_above_the_high_watermark_may_differ(written: Path, tmp_path: Path) -> None:
    def cut(segment: Path, batches: list[BatchOnDisk]) -> None:
        with segment.open("r+b") as stream:
            stream.truncate(batches[-2].position)

    found = compared(replace(replicas(written, tmp_path, cut), end=RECORDS - 2))
    assert (found.lost_tails, found.diverged) == ((), {})


def test_a_replica_that_is_not_there_is_refused(spark: SparkSession, written: Path, tmp_path: Path) -> None:
    logs = replicas(written, tmp_path)
    size = Size(1, producers=1, partitions=1)
    soak = replace(made_soak("b:1", TOPIC, size, replicas=3), ends=(RECORDS,))
    data = {broker: folder.parent for broker, folder in logs.folders.items()}
    assert compare_replicas(spark, soak, data).batches == RECORDS
    shutil.rmtree(logs.folders[3])
    with pytest.raises(ReconcileError, match="has 3 replicas, and a folder on the disks of these brokers: 1, 2"):
        compare_replicas(spark, soak, data)
