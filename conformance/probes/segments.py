"""Which records does a replica hold in its segment files?

The files show what no client may read: records above the high watermark and divergent tails. A segment is
read up to the first batch that is cut off, zero (preallocated) or damaged: a broker cuts its log there when
it starts, and a live broker may be about to write there. Message formats 0, 1 and 2 are decoded.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

from conformance.clients.records import record_id_of_key, value_matches
from conformance.probes.connection import CorruptRecordError, MemoryRecords

SEGMENT_SUFFIX = ".log"
NO_EPOCH = -1
FIRST_MAGIC_WITH_EPOCH = 2

ReadFile = Callable[[str], bytes]
"""Returns the content of a file of a log directory by its relative path."""


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record of a replica's log.

    Attributes:
        offset: its offset.
        record_id: the id in its key; None when it is no record of ours, or a control record.
        leader_epoch: the epoch of the leader that appended it; -1 where the format has none.
        value_matches: whether the value is the one that belongs to the id.
    """

    offset: int
    record_id: int | None
    leader_epoch: int
    value_matches: bool


@dataclass(frozen=True, slots=True)
class LogOnDisk:
    """A replica's log as its files show it.

    Attributes:
        records: the records, in the order of the files.
        log_end_offset: the offset that the next record would get.
    """

    records: tuple[LogRecord, ...]
    log_end_offset: int


def replica_log(files: Iterable[str], read: ReadFile, topic: str, partition: int) -> LogOnDisk:
    """Decode one replica's segments.

    Args:
        files: relative paths of the files in the broker's log directory.
        read: gives the content of one of them.
        topic: the topic.
        partition: the partition.
    """
    folder = f"{topic}-{partition}/"
    segments = sorted(path for path in files if path.startswith(folder) and path.endswith(SEGMENT_SUFFIX))
    decoded = [_Segment.decoded(_base_offset(path), read(path)) for path in segments]
    held = _up_to_the_first_gap(decoded)
    records = tuple(chain.from_iterable(segment.records for segment in held))
    return LogOnDisk(records, held[-1].end_offset if held else 0)


def records_of(content: bytes) -> tuple[LogRecord, ...]:
    """Decode the records of a segment, or of what a fetch gave, up to the first batch that is not whole."""
    return _Segment.decoded(0, content).records


def batch_positions(content: bytes) -> dict[int, int]:
    """Return the byte at which each whole batch of a segment begins, by the batch's last offset."""
    positions: dict[int, int] = {}
    position = 0
    for batch, size in _intact_batches(MemoryRecords(content)):
        positions[_rows(batch)[1] - 1] = position
        position += size
    return positions


@dataclass(frozen=True, slots=True)
class _Segment:
    base_offset: int
    end_offset: int
    is_whole: bool
    records: tuple[LogRecord, ...]

    @classmethod
    def decoded(cls, base_offset: int, content: bytes) -> "_Segment":
        batches = MemoryRecords(content)
        records: list[LogRecord] = []
        end_offset, valid_bytes = base_offset, 0
        for batch, size in _intact_batches(batches):
            rows, next_offset = _rows(batch)
            records.extend(rows)
            end_offset, valid_bytes = next_offset, valid_bytes + size
        return cls(base_offset, end_offset, valid_bytes == len(content), tuple(records))


def _intact_batches(batches: Any) -> Iterator[tuple[Any, int]]:  # noqa: ANN401 - kafka-python is untyped
    while batches.has_next():
        try:
            batch = batches.next_batch()
            is_intact = batch is not None and batch.validate_crc()
        except (CorruptRecordError, ValueError, IndexError):
            return
        if not is_intact:
            return
        yield batch, batch.size_in_bytes


def _rows(batch: Any) -> tuple[list[LogRecord], int]:  # noqa: ANN401
    has_epoch = batch.magic >= FIRST_MAGIC_WITH_EPOCH
    leader_epoch = int(batch.leader_epoch) if has_epoch else NO_EPOCH
    is_control = has_epoch and batch.is_control_batch
    rows = [_row(record, leader_epoch, is_control=is_control) for record in batch]
    next_offset = int(batch.next_offset) if has_epoch else rows[-1].offset + 1
    return rows, next_offset


def _row(record: Any, leader_epoch: int, *, is_control: bool) -> LogRecord:  # noqa: ANN401
    record_id = None if is_control else record_id_of_key(record.key)
    is_ours = record_id is not None and value_matches(record_id, record.value)
    return LogRecord(int(record.offset), record_id, leader_epoch, is_ours)


def _up_to_the_first_gap(segments: list[_Segment]) -> list[_Segment]:
    for position, (segment, following) in enumerate(pairwise(segments)):
        is_empty = following.end_offset == following.base_offset
        if not segment.is_whole and not is_empty:
            return segments[: position + 1]
    return segments


def _base_offset(path: str) -> int:
    return int(path.rpartition("/")[2].removesuffix(SEGMENT_SUFFIX))
