"""Do the replicas of a soak's partitions hold the same? Their segment files are compared by the headers of batches.

A follower appends the batches of its leader as they are: offsets, leader epoch and checksum of a batch are the same on
every replica that has its records. A Spark task goes through the segment files of all replicas of one partition side by
side, and only where headers differ are the batches decoded, and their records compared offset by offset.

Below the high watermark at rest two replicas that reach an offset must have the same record there, of the same leader
epoch: where they do not they have diverged. A log that ends below it has lost its tail.

Sources: Kafka documentation, "Message Format" (record batch v2, message sets v0 and v1).
"""

import mmap
import os
import struct
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import SparkSession

from conformance.probes.segments import LogRecord, records_of
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.summary import SAMPLE_ROWS_MAX
from conformance.record.soak import Soak
from conformance.record.soak_counted import LostTail, ReplicaDifference, ReplicasCounted

_ENTRY = struct.Struct(">qi")  # base offset, length of what follows
_MESSAGE = struct.Struct(">qiIb")  # offset, length of what follows, checksum, magic
_BATCH = struct.Struct(">qiibIhi")  # base offset, length, leader epoch, magic, checksum, attributes, last offset delta
_FIRST_MAGIC_OF_BATCHES = 2
_MAGIC_POSITION = 16
_NO_EPOCH = -1


class BatchOnDisk(NamedTuple):
    """One batch in a replica's segment: its header, and where it is."""

    first: int
    last: int
    leader_epoch: int
    checksum: int
    segment: str
    position: int
    size: int

    @property
    def header(self) -> tuple[int, int, int, int]:
        """Return what is the same on every replica."""
        return self[:4]

    def records(self) -> tuple[LogRecord, ...]:
        """Decode its records, as far as they are intact."""
        with Path(self.segment).open("rb") as stream:
            stream.seek(self.position)
            return records_of(stream.read(self.size))


def batches_of(folder: Path) -> Iterator[BatchOnDisk]:
    """Yield the batches in a replica's folder, up to the first that is cut off."""
    for segment in sorted(folder.glob("*.log")):
        size = segment.stat().st_size
        if not size:
            continue
        with segment.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            behind = 0
            for batch in _batches_in(content, str(segment), int(segment.stem)):
                yield batch
                behind = batch.position + batch.size
        if behind < size:
            return


def _batches_in(content: mmap.mmap, segment: str, first: int) -> Iterator[BatchOnDisk]:
    position = 0
    while position + _BATCH.size <= len(content):
        size = _ENTRY.size + _ENTRY.unpack_from(content, position)[1]
        if size <= _ENTRY.size or position + size > len(content):
            return
        if content[position + _MAGIC_POSITION] < _FIRST_MAGIC_OF_BATCHES:
            last, _, checksum, _ = _MESSAGE.unpack_from(content, position)
            epoch = _NO_EPOCH
        else:
            first, _, epoch, _, checksum, _, delta = _BATCH.unpack_from(content, position)
            last = first + delta
        yield BatchOnDisk(first, last, epoch, checksum, segment, position, size)
        first, position = last + 1, position + size


class _Replica:
    """One replica's log, batch by batch."""

    def __init__(self, broker: int, folder: Path) -> None:
        self.broker = broker
        self.end = 0
        self._batches = batches_of(folder)
        self.head = next(self._batches, None)

    def take(self) -> BatchOnDisk:
        """Go on to the next batch, and return this one."""
        assert self.head is not None
        taken, self.head = self.head, next(self._batches, None)
        self.end = taken.last + 1
        return taken

    def take_up_to(self, last: int) -> list[BatchOnDisk]:
        """Return the batches that begin at an offset or below it."""
        taken = []
        while self.head is not None and self.head.first <= last:
            taken.append(self.take())
        return taken

    def reaches(self, offset: int) -> bool:
        """Return whether the log has or had an offset, as far as it was gone through."""
        return self.head is not None or self.end > offset


@dataclass(frozen=True, slots=True)
class PartitionLogs:
    """The replicas of one partition: its number, its end at rest, and where each broker has its log."""

    partition: int
    end: int
    folders: Mapping[int, Path]


def compared(logs: PartitionLogs) -> ReplicasCounted:
    """Return what the replicas of one partition come to."""
    replicas = [_Replica(broker, folder) for broker, folder in sorted(logs.folders.items())]
    batches = decoded = diverged = 0
    samples: list[ReplicaDifference] = []
    while heads := [one.head for one in replicas if one.head is not None]:
        if all(head.header == heads[0].header for head in heads):
            for one in replicas:
                if one.head is not None:
                    one.take()
            batches += 1
            continue
        held = _until_they_meet(replicas)
        decoded += sum(len(one) for one in held.values())
        for found in _disagreements(logs, replicas, held):
            diverged += 1
            samples += [found] if len(samples) < SAMPLE_ROWS_MAX else []
    tails = [
        LostTail(logs.partition, one.broker, one.end, logs.end - one.end) for one in replicas if one.end < logs.end
    ]
    return ReplicasCounted(
        batches, decoded, {logs.partition: diverged} if diverged else {}, tuple(tails), tuple(samples)
    )


def _until_they_meet(replicas: Sequence[_Replica]) -> dict[int, list[BatchOnDisk]]:
    """Take the batches of all replicas up to where all of them begin a new one at the same offset; by broker."""
    held: dict[int, list[BatchOnDisk]] = {one.broker: [] for one in replicas}
    last, before = max(one.head.last for one in replicas if one.head is not None), -1
    while last != before:
        before = last
        for one in replicas:
            held[one.broker] += one.take_up_to(last)
            last = max(last, one.end - 1)
    return held


def _disagreements(
    logs: PartitionLogs, replicas: Sequence[_Replica], held: Mapping[int, Sequence[BatchOnDisk]]
) -> Iterator[ReplicaDifference]:
    """Yield the offsets below the partition's end at which two replicas that reach it differ: the first such pair."""
    records = {
        broker: {record.offset: record for batch in batches for record in batch.records()}
        for broker, batches in held.items()
    }
    offsets = [range(batch.first, batch.last + 1) for batches in held.values() for batch in batches]
    for offset in sorted({offset for some in offsets for offset in some if offset < logs.end}):
        brokers = [one.broker for one in replicas if one.reaches(offset)]
        for left, right in combinations(brokers, 2):
            one, other = records[left].get(offset), records[right].get(offset)
            if one != other:
                yield ReplicaDifference(logs.partition, offset, left, _id(one), right, _id(other))
                break


def _id(record: LogRecord | None) -> int | None:
    return None if record is None else record.record_id


# All partitions, in Spark's tasks.


def compare_replicas(spark: SparkSession, soak: Soak, data: Mapping[int, Path]) -> ReplicasCounted:
    """Return what the replicas of all partitions come to.

    Args:
        spark: the session; its executors read the files.
        soak: whose topic.
        data: of each broker the directory that has its replicas' folders.

    Raises:
        ReconcileError: a partition has another number of replicas there than the soak asked for.
    """
    context = spark.sparkContext
    context.pythonExec = sys.executable
    context.environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    tasks = [_logs_of(soak, data, number) for number in range(soak.partitions)]
    with warnings.catch_warnings():  # pyspark leaves it to the garbage collector to close a collect's socket
        warnings.filterwarnings("ignore", "unclosed <socket", ResourceWarning)
        found = context.parallelize(tasks, len(tasks)).map(compared).collect()
    return ReplicasCounted(
        sum(one.batches for one in found),
        sum(one.decoded_batches for one in found),
        {number: count for one in found for number, count in one.diverged.items()},
        tuple(tail for one in found for tail in one.lost_tails),
        tuple(sample for one in found for sample in one.samples)[:SAMPLE_ROWS_MAX],
    )


def _logs_of(soak: Soak, data: Mapping[int, Path], partition: int) -> PartitionLogs:
    folders = {broker: path / f"{soak.topic}-{partition}" for broker, path in data.items()}
    there = {broker: folder for broker, folder in folders.items() if folder.is_dir()}
    if len(there) != soak.replicas:
        brokers = ", ".join(map(str, sorted(there))) or "none"
        raise ReconcileError(
            f"Partition {partition} of {soak.topic} has {soak.replicas} replicas, and a folder on the disks of these "
            f"brokers: {brokers}."
        )
    return PartitionLogs(partition, soak.ends[partition], there)
