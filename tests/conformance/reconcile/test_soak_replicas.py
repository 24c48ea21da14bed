"""Is it found where replicas differ, and nothing else? Real segment files, copied, and each copy changed in one way."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.made_soaks import Size, made_soak
from benchmarks.reconcile_soak import one_broker
from conformance.clients.producer import send
from conformance.clients.topics import create_topic
from conformance.reconcile.batches_on_disk import BatchOnDisk, batches_of
from conformance.reconcile.soak_replicas import PartitionLogs, compare_replicas, compared
from conformance.record.directory import RunDirectory
from conformance.record.soak_counted import DivergedRange, LostTail, ReplicaDifference, RottenBatch
from conformance.record.verdict import Conformance
from oracle.vocabulary import Acks
from tests.conformance.soak.judged import judged_with, replicas_row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from conformance.record.soak_prediction import ReplicasRow

pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.alone]
TOPIC, RECORDS, FIRST_ID = "copied", 12, 1000
EPOCH_POSITION, VALUE_FROM_END = 12, 10
OLD, NEW = "0.10.2.2", "4.4.0"
Change = Callable[[Path, list[BatchOnDisk]], None]


@pytest.fixture(scope="module", params=[OLD, NEW])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a partition that holds a record in each batch."""
    directory = tmp_path_factory.mktemp("brokers")
    with one_broker(request.param, directory) as cluster:
        create_topic([cluster.client_address(1)], TOPIC, [1])
        for record_id in range(FIRST_ID, FIRST_ID + RECORDS):
            send(cluster.client_address(1), TOPIC, 0, record_id, Acks.ALL).await_delivery(30)
        return shutil.copytree(cluster.data_directory(1) / f"{TOPIC}-0", directory / "written")


def replicas(written: Path, directory: Path, change: Change | None = None) -> PartitionLogs:
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


def cut(segment: Path, batches: list[BatchOnDisk], more: int = 0) -> None:
    with segment.open("r+b") as stream:
        stream.truncate(batches[-3].position + more)


def cut_within(segment: Path, batches: list[BatchOnDisk]) -> None:
    cut(segment, batches, 20)


def flip(segment: Path, batches: list[BatchOnDisk]) -> None:
    """Flip a byte of a value: the header stays as it is."""
    position = batches[4].position + batches[4].size - VALUE_FROM_END
    overwrite(segment, position, bytes([segment.read_bytes()[position] ^ 1]))


def put_another(segment: Path, batches: list[BatchOnDisk]) -> None:
    """Put the content of another batch into one, with what its checksum says of it: whole, and another record."""
    content, begin = segment.read_bytes(), 8
    other, batch = batches[9], batches[4]
    assert other.size == batch.size
    overwrite(segment, batch.position + begin, content[other.position + begin : other.position + other.size])


def of_a_later_epoch(segment: Path, batches: list[BatchOnDisk]) -> None:
    overwrite(segment, batches[7].position + EPOCH_POSITION, (9).to_bytes(4, "big"))


def test_replicas_that_are_alike_are(written: Path, tmp_path: Path) -> None:
    found = compared(replicas(written, tmp_path))
    assert (found.batches, found.decoded_batches, found.diverged) == (RECORDS, 0, {})
    assert (found.lost_tails, found.samples, found.ranges, found.rotten) == ((), (), (), 0)
    assert (found.logs, found.log_bytes) == (3, 3 * sum(one.stat().st_size for one in written.glob("*.log")))


@pytest.mark.parametrize("change", [cut, cut_within], ids=["between batches", "within a batch"])
def test_a_tail_that_was_cut_is_lost(written: Path, tmp_path: Path, change: Change) -> None:
    found = compared(replicas(written, tmp_path, change))
    assert found.lost_tails == (LostTail(0, 2, RECORDS - 3, 3),)
    assert (found.diverged, found.decoded_batches) == ({}, 0)


def test_a_byte_that_rotted_under_its_header_is_found(written: Path, tmp_path: Path) -> None:
    found = compared(replicas(written, tmp_path, flip))
    batch = list(batches_of(written))[4]
    assert found.rotten == 1
    assert found.rotten_samples == (RottenBatch(0, 2, Path(batch.segment).name, batch.position, 4, 4),)
    assert (found.batches, found.diverged, found.lost_tails) == (RECORDS, {}, ())


def test_a_batch_of_another_record_has_diverged(written: Path, tmp_path: Path) -> None:
    found = compared(replicas(written, tmp_path, put_another))
    assert found.diverged == {0: 1}
    assert found.samples == (ReplicaDifference(0, 4, 1, FIRST_ID + 4, 2, FIRST_ID + 9),)
    assert found.ranges == (DivergedRange(0, 1, 2, 4, 4), DivergedRange(0, 2, 3, 4, 4))
    assert (found.batches, found.decoded_batches, found.lost_tails, found.rotten) == (RECORDS - 1, 3, (), 0)


@pytest.mark.parametrize("written", [NEW], indirect=True)
def test_a_record_of_another_leader_epoch_has_diverged(written: Path, tmp_path: Path) -> None:
    found = compared(replicas(written, tmp_path, of_a_later_epoch))
    assert found.samples == (ReplicaDifference(0, 7, 1, FIRST_ID + 7, 2, FIRST_ID + 7),)


NO_ROWS: tuple[ReplicasRow, ...] = ()
AS_REPLACED = (replicas_row(0, 1, 2, 4, 4), replicas_row(0, 2, 3, 4, 4))


@pytest.mark.parametrize(
    ("change", "predicted", "conformance", "says"),
    [
        (None, NO_ROWS, Conformance.CONFORMS, "acknowledged records are there"),
        (cut, NO_ROWS, Conformance.DEVIATES, "that of broker 2 of partition 0 at offset 9, 3 records short"),
        (flip, NO_ROWS, Conformance.DEVIATES, "offsets 4 to 4 of partition 0 on broker 2"),
        (
            put_another,
            NO_ROWS,
            Conformance.DEVIATES,
            "differ at 1 offsets where they must not: those of brokers 1 and 2",
        ),
        (put_another, AS_REPLACED, Conformance.CONFORMS, "acknowledged records are there"),
        (put_another, AS_REPLACED[:1], Conformance.DEVIATES, "those of brokers 2 and 3 of partition 0 at 4 to 4"),
        (None, AS_REPLACED, Conformance.DEVIATES, "are alike at 1 offsets where they must differ"),
    ],
)
def test_what_is_on_disk_turns_the_verdict(
    written: Path,
    tmp_path: Path,
    change: Change | None,
    predicted: tuple[ReplicasRow, ...],
    conformance: Conformance,
    says: str,
) -> None:
    found = compared(replicas(written, tmp_path / "brokers", change))
    verdict = judged_with(RunDirectory.create(tmp_path, "run", ("prediction",)), found, predicted)
    assert (verdict.conformance, says in verdict.reason) == (conformance, True), verdict


def test_what_is_above_the_high_watermark_may_differ(written: Path, tmp_path: Path) -> None:
    found = compared(replace(replicas(written, tmp_path, cut), end=RECORDS - 3))
    assert (found.lost_tails, found.diverged) == ((), {})


def test_a_replica_that_is_not_there_is_told(spark: SparkSession, written: Path, tmp_path: Path) -> None:
    logs = replicas(written, tmp_path)
    soak = replace(made_soak("b:1", TOPIC, Size(1, producers=1, partitions=1), replicas=3), ends=(RECORDS,))
    data = {broker: folder.parent for broker, folder in logs.folders.items()}
    whole = compare_replicas(spark, soak, data)
    assert (whole.batches, whole.logs, whole.unread) == (RECORDS, 3, ())
    shutil.rmtree(logs.folders[3])
    found = compare_replicas(spark, soak, data)
    assert found.unread == ("partition 0 has 3 replicas, and a folder on the disks of these brokers: 1, 2",)
    assert (found.batches, found.logs) == (RECORDS, 2)


def test_a_segment_that_cannot_be_read_is_told(written: Path, tmp_path: Path) -> None:
    logs = replicas(written, tmp_path)
    (segment,) = logs.folders[2].glob("*.log")
    segment.unlink()
    segment.symlink_to(segment)
    (why,) = compared(logs).unread
    assert why.startswith("partition 0: ")
    assert str(segment) in why
