"""What does a restart find on the disk of a broker that died?

``kill -9`` alone loses nothing: what a broker wrote is in the operating system's page cache and outlives the
process. These faults make a restart lossy, on the files of a broker that is down. They have no heal: what a disk
lost comes back by replication only.

- ``lose_tail``: the log ends at an offset of choice and has to be recovered. The active segment is cut there; its
  indexes, the producer snapshots above the cut and the clean-shutdown marker are removed; the recovery point is
  lowered to the cut.
- ``lose_high_watermark_checkpoint``: the replica's high watermark begins at 0, or at the log start offset. Its
  line in ``replication-offset-checkpoint`` is removed; other partitions keep theirs.

``leader-epoch-checkpoint`` stays as it is, since a broker flushes it before the records that it is about. So
an entry may begin at or above the log's new end; the broker drops it when it loads the log.

Sources: ``LogManager.loadLogs``, ``LogLoader.recoverLog``, ``LogSegment.recover``, ``ProducerStateManager``,
``LeaderEpochFileCache.truncateFromEnd`` of 0.10.2, 2.8 and 3.9.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from fault_injection.cluster.lifecycle import Cluster
from fault_injection.faults.fault import AVAILABLE, Availability, FaultError, FileOnDisk, Proof
from fault_injection.faults.segments import SEGMENT_SUFFIX, active_segment, base_offset, batch_boundaries

CLEAN_SHUTDOWN_MARKER = ".kafka_cleanshutdown"
INDEX_SUFFIXES = (".index", ".timeindex", ".txnindex")
SNAPSHOT_SUFFIX = ".snapshot"


@dataclass(frozen=True, slots=True)
class LoseLogTail:
    """Lose the end of a replica's log, as a power cut does with what was not flushed.

    Attributes:
        broker: the broker; it is down.
        offset: the first offset that is lost; a batch of the active segment begins there.
        topic: the replica's topic.
        partition: the replica's partition.
    """

    name: ClassVar[str] = "lose_tail"
    broker: int
    offset: int
    topic: str
    partition: int = 0

    def available(self, cluster: Cluster) -> Availability:
        """Return whether the broker is down and holds the replica."""
        if cluster.is_alive(self.broker):
            return Availability(_runs(self.broker, self.name))
        return AVAILABLE if self._active_segment(cluster) is not None else Availability(self._no_replica())

    def log_end_offset(self, cluster: Cluster) -> int | None:
        """Return where the replica's log ends on disk; None if there is no such replica."""
        segment = self._active_segment(cluster)
        if segment is None:
            return None
        return max(batch_boundaries(cluster.read_file(self.broker, segment), base_offset(segment)))

    def inject(self, cluster: Cluster) -> str:
        """Cut the log and return in words what was lost.

        Raises:
            FaultError: the broker runs, holds no such replica, or the offset is no place to cut at.
        """
        _require_down(cluster, self.broker, self.name)
        segment = self._active_segment(cluster)
        if segment is None:
            raise FaultError(self._no_replica())
        content = cluster.read_file(self.broker, segment)
        boundaries = batch_boundaries(content, base_offset(segment))
        log_end_offset = max(boundaries)
        position = self._cut(boundaries)
        cluster.write_file(self.broker, segment, content[:position])
        cluster.remove_files(self.broker, *self._outlived(cluster, segment), beside=self._folder)
        self._lower_recovery_point(cluster)
        lost = f"offsets {self.offset} to {log_end_offset - 1}"
        return f"broker {self.broker} lost {lost} of {self.topic}-{self.partition}"

    def heal(self, cluster: Cluster) -> None:
        """Do nothing: what a disk lost comes back by replication only."""

    def proof(self, cluster: Cluster) -> Proof | None:
        """Return where the log ends, if that is where it was cut."""
        segment = self._active_segment(cluster)
        if segment is None or self.log_end_offset(cluster) != self.offset:
            return None
        text = f"the log of {self.topic}-{self.partition} on its disk ends at {self.offset}"
        return Proof(text, file=FileOnDisk(self.broker, segment, self.offset))

    @property
    def _folder(self) -> str:
        return f"{self.topic}-{self.partition}"

    def _no_replica(self) -> str:
        return f"broker {self.broker} holds no replica of {self.topic}-{self.partition}"

    def _active_segment(self, cluster: Cluster) -> str | None:
        return active_segment(cluster.files(self.broker), self.topic, self.partition)

    def _cut(self, boundaries: dict[int, int]) -> int:
        first, last = min(boundaries), max(boundaries)
        where = f"the log of {self.topic}-{self.partition} on broker {self.broker} cannot be cut at {self.offset}"
        if self.offset < first:
            raise FaultError(f"{where}: its active segment begins at {first}")
        if self.offset >= last:
            raise FaultError(f"{where}: it ends at {last}, so nothing would be lost")
        if self.offset not in boundaries:
            raise FaultError(f"{where}, in the middle of a batch; batches begin at {_listed(boundaries)}")
        return boundaries[self.offset]

    def _outlived(self, cluster: Cluster, segment: str) -> Iterator[str]:
        """Yield the files that say something about the lost records."""
        stem = segment.removesuffix(SEGMENT_SUFFIX)
        folder = f"{segment.rpartition('/')[0]}/"
        certain = {CLEAN_SHUTDOWN_MARKER, *(f"{stem}{suffix}" for suffix in INDEX_SUFFIXES)}
        for path in cluster.files(self.broker):
            is_snapshot = path.startswith(folder) and path.endswith(SNAPSHOT_SUFFIX)
            if path in certain or (is_snapshot and self._is_above(path.removeprefix(folder))):
                yield path

    def _is_above(self, snapshot: str) -> bool:
        return int(snapshot.removesuffix(SNAPSHOT_SUFFIX)) > self.offset

    def _lower_recovery_point(self, cluster: Cluster) -> None:
        if RECOVERY_POINTS not in cluster.files(self.broker):
            return
        content = cluster.read_file(self.broker, RECOVERY_POINTS, self._folder)
        flushed = checkpointed_offset(content, self.topic, self.partition)
        if flushed is not None and flushed > self.offset:
            lowered = with_offset(content, self.topic, self.partition, self.offset)
            cluster.write_file(self.broker, RECOVERY_POINTS, lowered, self._folder)


@dataclass(frozen=True, slots=True)
class LoseHighWatermarkCheckpoint:
    """Lose a replica's high watermark on disk; other partitions keep theirs.

    A broker that had written none yet has none afterwards either: the fault says so and is no error.

    Attributes:
        broker: the broker; it is down.
        topic: the replica's topic.
        partition: the replica's partition.
    """

    name: ClassVar[str] = "lose_high_watermark_checkpoint"
    broker: int
    topic: str
    partition: int = 0

    def available(self, cluster: Cluster) -> Availability:
        """Return whether the broker is down."""
        return Availability(_runs(self.broker, self.name)) if cluster.is_alive(self.broker) else AVAILABLE

    def high_watermark(self, cluster: Cluster) -> int | None:
        """Return the checkpointed high watermark of the replica; None if there is none."""
        if HIGH_WATERMARKS not in cluster.files(self.broker):
            return None
        content = cluster.read_file(self.broker, HIGH_WATERMARKS, self._folder)
        return checkpointed_offset(content, self.topic, self.partition)

    def inject(self, cluster: Cluster) -> str:
        """Remove the partition's line and return in words what was lost.

        Raises:
            FaultError: the broker runs.
        """
        _require_down(cluster, self.broker, self.name)
        replica = f"{self.topic}-{self.partition}"
        if (high_watermark := self.high_watermark(cluster)) is None:
            return f"broker {self.broker} had checkpointed no high watermark of {replica}"
        content = cluster.read_file(self.broker, HIGH_WATERMARKS, self._folder)
        without = with_offset(content, self.topic, self.partition, None)
        cluster.write_file(self.broker, HIGH_WATERMARKS, without, self._folder)
        return f"broker {self.broker} lost the checkpointed high watermark {high_watermark} of {replica}"

    def heal(self, cluster: Cluster) -> None:
        """Do nothing: the broker writes a new line when it has a high watermark again."""

    def proof(self, cluster: Cluster) -> Proof | None:
        """Return that the file has no line for the replica, if that is so."""
        if self.high_watermark(cluster) is not None:
            return None
        text = f"{HIGH_WATERMARKS} has no line for {self.topic}-{self.partition}"
        return Proof(text, file=FileOnDisk(self.broker, HIGH_WATERMARKS, None))

    @property
    def _folder(self) -> str:
        return f"{self.topic}-{self.partition}"


def lose_tail(cluster: Cluster, broker: int, topic: str, partition: int, offset: int) -> str:
    """Cut a dead broker's log back to an offset; see ``LoseLogTail``.

    Raises:
        FaultError: the broker runs, holds no such replica, or the offset is no place to cut at.
    """
    return LoseLogTail(broker, offset, topic, partition).inject(cluster)


def lose_high_watermark_checkpoint(cluster: Cluster, broker: int, topic: str, partition: int) -> str:
    """Remove a dead broker's checkpointed high watermark; see ``LoseHighWatermarkCheckpoint``.

    Raises:
        FaultError: the broker runs.
    """
    return LoseHighWatermarkCheckpoint(broker, topic, partition).inject(cluster)


def _listed(boundaries: dict[int, int]) -> str:
    return ", ".join(str(offset) for offset in sorted(boundaries)[:-1])


def _require_down(cluster: Cluster, broker: int, fault: str) -> None:
    if cluster.is_alive(broker):
        raise FaultError(_runs(broker, fault))


def _runs(broker: int, fault: str) -> str:
    return f"broker {broker} runs: {fault} is for the disk of a broker that is down; kill it first"


# How is one partition's line in a broker's offset checkpoint read, changed or removed?
#
# ``replication-offset-checkpoint`` (high watermarks) and ``recovery-point-offset-checkpoint`` (up to where the log
# is flushed) have one form: a version line, a count line, then a line ``topic partition offset`` per partition. A
# file is empty from the broker's first start until it is first written.
#
# Source: ``OffsetCheckpointFile``.


HIGH_WATERMARKS = "replication-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"

_VERSION = "0"


def checkpointed_offset(content: bytes, topic: str, partition: int) -> int | None:
    """Return the offset that a checkpoint has for a partition, or None when it has none."""
    _, entries = _parts(content)
    text = entries.get((topic, str(partition)))
    return None if text is None else int(text)


def with_offset(content: bytes, topic: str, partition: int, offset: int | None) -> bytes:
    """Return a checkpoint with another offset for a partition, or without its line; all other lines stay."""
    version, entries = _parts(content)
    if offset is None:
        entries.pop((topic, str(partition)), None)
    else:
        entries[topic, str(partition)] = str(offset)
    lines = [version, str(len(entries)), *(f"{name} {number} {value}" for (name, number), value in entries.items())]
    return "".join(f"{line}\n" for line in lines).encode()


def _parts(content: bytes) -> tuple[str, dict[tuple[str, str], str]]:
    version, _, *lines = content.decode().splitlines() or [_VERSION, "0"]
    entries = {}
    for line in lines:
        topic, partition, offset = line.split()
        entries[topic, partition] = offset
    return version, entries
