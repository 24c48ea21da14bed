"""Do the replicas of a soak's partitions hold the same? Their segment files are compared by the headers of batches.

A follower appends the batches of its leader as they are: offsets, leader epoch and checksum of a batch are the same on
every replica that has its records. A Spark task goes through the segment files of all replicas of one partition side by
side, and only where headers differ are the batches decoded, and their records compared offset by offset.

Below the high watermark at rest two replicas that reach an offset have the same record there, of the same leader epoch,
or they have diverged. A log that ends below it has lost its tail. A batch whose content is not what its checksum says
has rotted on that disk.

A task reads the files on the machine where it runs. With another Spark master than ``local`` that may not be the one of
the brokers, so there the tester compares them itself.
"""

import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from pyspark.sql import SparkSession

from conformance.probes.segments import LogRecord
from conformance.reconcile.batches_on_disk import BatchOnDisk, batches_of
from conformance.reconcile.summary import SAMPLE_ROWS_MAX
from conformance.record.soak import Soak
from conformance.record.soak_counted import (
    DivergedRange,
    LostTail,
    ReplicaDifference,
    ReplicasCounted,
    RottenBatch,
)
from conformance.spark_master import is_local

_RANGES_MAX = 1000
"""So many ranges of a partition are told one by one."""


class _Replica:
    """One replica's log, batch by batch."""

    def __init__(self, broker: int, folder: Path) -> None:
        self.broker = broker
        self.end = 0
        self.size = 0
        self.rotten = 0
        self.rotten_samples: list[BatchOnDisk] = []
        self._batches = batches_of(folder)
        self.head = next(self._batches, None)

    def take(self) -> BatchOnDisk:
        """Go on to the next batch, and return this one."""
        assert self.head is not None
        taken, self.head = self.head, next(self._batches, None)
        self.end = taken.last + 1
        self.size += taken.size
        if not taken.is_intact:
            self.rotten += 1
            self.rotten_samples += [taken] if len(self.rotten_samples) < SAMPLE_ROWS_MAX else []
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

    def missing(self, replicas: int) -> str:
        """Return in a sentence that so many replicas are not all there; empty if they are."""
        brokers = ", ".join(map(str, sorted(self.folders))) or "none"
        told = f"partition {self.partition} has {replicas} replicas, and a folder on the disks of these brokers:"
        return "" if len(self.folders) == replicas else f"{told} {brokers}"


def compared(logs: PartitionLogs) -> ReplicasCounted:
    """Return what the replicas of one partition come to; a file that cannot be read is told as such."""
    try:
        return _Comparison(logs).counted()
    except OSError as error:
        why = f"partition {logs.partition}: {error.filename or 'a file'}: {error.strerror or error}"
        return ReplicasCounted(0, 0, {}, (), (), unread=(why,))


class _Comparison:
    """The replicas of one partition, gone through side by side."""

    def __init__(self, logs: PartitionLogs) -> None:
        self._logs = logs
        self._replicas = [_Replica(broker, folder) for broker, folder in sorted(logs.folders.items())]
        self._batches = self._decoded = 0
        self._apart = _Apart(logs.partition)

    def counted(self) -> ReplicasCounted:
        """Go through them, and return what they come to."""
        while heads := [one.head for one in self._replicas if one.head is not None]:
            if all(head.header == heads[0].header for head in heads):
                for one in self._replicas:
                    if one.head is not None:
                        one.take()
                self._batches += 1
            else:
                held = _until_they_meet(self._replicas)
                self._decoded += sum(len(one) for one in held.values())
                for found in _disagreements(self._logs, self._replicas, held):
                    self._apart.add(found)
        return self._result()

    def _result(self) -> ReplicasCounted:
        partition, end, apart, replicas = self._logs.partition, self._logs.end, self._apart, self._replicas
        tails = (LostTail(partition, one.broker, one.end, end - one.end) for one in replicas if one.end < end)
        rotten = (_rotten(partition, one.broker, batch) for one in replicas for batch in one.rotten_samples)
        return ReplicasCounted(
            self._batches,
            self._decoded,
            {partition: apart.offsets} if apart.offsets else {},
            tuple(tails),
            tuple(apart.samples),
            ranges=apart.ranges(),
            more_ranges=apart.more_ranges,
            rotten=sum(one.rotten for one in replicas),
            rotten_samples=tuple(rotten)[:SAMPLE_ROWS_MAX],
            logs=len(replicas),
            log_bytes=sum(one.size for one in replicas),
        )


def _rotten(partition: int, broker: int, batch: BatchOnDisk) -> RottenBatch:
    return RottenBatch(partition, broker, Path(batch.segment).name, batch.position, batch.first, batch.last)


@dataclass(slots=True)
class _Apart:
    """The offsets of a partition at which replicas differ, as they come in their order."""

    partition: int
    offsets: int = 0
    samples: list[ReplicaDifference] = field(default_factory=list)
    more_ranges: int = 0
    _last: int = -1
    _open: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    _ranges: list[DivergedRange] = field(default_factory=list)

    def add(self, found: ReplicaDifference) -> None:
        """Note that two replicas differ at an offset, not before the last one."""
        if found.offset != self._last:
            self._last = found.offset
            self.offsets += 1
            self.samples += [found] if len(self.samples) < SAMPLE_ROWS_MAX else []
        pair = (found.broker_a, found.broker_b)
        first, last = self._open.get(pair, (found.offset, found.offset))
        if found.offset > last + 1:
            self._close(pair, first, last)
            first = found.offset
        self._open[pair] = (first, found.offset)

    def _close(self, pair: tuple[int, int], first: int, last: int) -> None:
        if len(self._ranges) < _RANGES_MAX:
            self._ranges.append(DivergedRange(self.partition, *pair, first, last))
        else:
            self.more_ranges += 1

    def ranges(self) -> tuple[DivergedRange, ...]:
        """Return where which replicas differ; there is nothing to add any more."""
        for pair, (first, last) in sorted(self._open.items()):
            self._close(pair, first, last)
        self._open = {}
        return tuple(self._ranges)


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
    """Yield the offsets below the partition's end at which replicas that reach it differ, each pair of them."""
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


def _id(record: LogRecord | None) -> int | None:
    return None if record is None else record.record_id


# All partitions, in Spark's tasks.


def compare_replicas(spark: SparkSession, soak: Soak, data: Mapping[int, Path]) -> ReplicasCounted:
    """Return what the replicas of all partitions come to; replicas that are not there are told as such.

    Args:
        spark: the session.
        soak: whose topic.
        data: of each broker the directory on this machine that has its replicas' folders.
    """
    every = [_logs_of(soak, data, number) for number in range(soak.partitions)]
    found = _by_tasks(spark, every) if is_local(spark.sparkContext.master) else [compared(one) for one in every]
    unread = [why for one in every if (why := one.missing(soak.replicas))]
    return ReplicasCounted(
        sum(one.batches for one in found),
        sum(one.decoded_batches for one in found),
        {number: count for one in found for number, count in one.diverged.items()},
        tuple(tail for one in found for tail in one.lost_tails),
        tuple(sample for one in found for sample in one.samples)[:SAMPLE_ROWS_MAX],
        ranges=tuple(span for one in found for span in one.ranges),
        more_ranges=sum(one.more_ranges for one in found),
        rotten=sum(one.rotten for one in found),
        rotten_samples=tuple(batch for one in found for batch in one.rotten_samples)[:SAMPLE_ROWS_MAX],
        logs=sum(one.logs for one in found),
        log_bytes=sum(one.log_bytes for one in found),
        unread=(*unread, *(why for one in found for why in one.unread)),
    )


def _by_tasks(spark: SparkSession, every: Sequence[PartitionLogs]) -> list[ReplicasCounted]:
    context = spark.sparkContext
    context.pythonExec = sys.executable
    context.environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    with warnings.catch_warnings():  # pyspark leaves it to the garbage collector to close a collect's socket
        warnings.filterwarnings("ignore", "unclosed <socket", ResourceWarning)
        found: list[ReplicasCounted] = context.parallelize(every, len(every)).map(compared).collect()
    return found


def _logs_of(soak: Soak, data: Mapping[int, Path], partition: int) -> PartitionLogs:
    folders = {broker: path / f"{soak.topic}-{partition}" for broker, path in data.items()}
    there = {broker: folder for broker, folder in folders.items() if folder.is_dir()}
    return PartitionLogs(partition, soak.ends[partition], there)
