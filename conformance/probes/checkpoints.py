"""What do a broker's checkpoint files say?

``replication-offset-checkpoint`` (one per log directory) holds a high watermark per partition;
``leader-epoch-checkpoint`` (one per partition directory, absent before 0.11) the start offset of each leader
epoch. Both are text: a version line, a count line, then one line per entry. A broker creates them empty and
writes them later: an empty one has no entries.

Sources: ``OffsetCheckpointFile``, ``LeaderEpochCheckpointFile``.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

HIGH_WATERMARK_FILE = "replication-offset-checkpoint"
LOG_START_FILE = "log-start-offset-checkpoint"
LEADER_EPOCH_FILE = "leader-epoch-checkpoint"


class CheckpointError(Exception):
    """A checkpoint file does not have the form that brokers write."""


@dataclass(frozen=True, slots=True)
class EpochStart:
    """Where a leader epoch begins in a replica's log.

    Attributes:
        leader_epoch: the epoch.
        start_offset: the offset of the first record that its leader appended.
    """

    leader_epoch: int
    start_offset: int


def high_watermark_checkpoint(content: bytes) -> dict[tuple[str, int], int]:
    """Parse ``replication-offset-checkpoint`` into the high watermark of every (topic, partition).

    Raises:
        CheckpointError: the content is malformed.
    """
    high_watermarks: dict[tuple[str, int], int] = {}
    for line in _entries(content):
        match line.split():
            case [topic, partition, high_watermark]:
                high_watermarks[topic, _number(partition, line)] = _number(high_watermark, line)
            case _:
                raise CheckpointError(f"Not a topic, a partition and an offset: {line!r}.")
    return high_watermarks


def leader_epoch_checkpoint(content: bytes) -> tuple[EpochStart, ...]:
    """Parse ``leader-epoch-checkpoint`` into the replica's leader epochs, the oldest first.

    Raises:
        CheckpointError: the content is malformed.
    """
    starts: list[EpochStart] = []
    for line in _entries(content):
        match line.split():
            case [leader_epoch, start_offset]:
                starts.append(EpochStart(_number(leader_epoch, line), _number(start_offset, line)))
            case _:
                raise CheckpointError(f"Not a leader epoch and an offset: {line!r}.")
    return tuple(starts)


def _entries(content: bytes) -> list[str]:
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError as broken:
        raise CheckpointError("The content is not text.") from broken
    if not content:
        return []
    if len(lines) < 2:
        raise CheckpointError("The version line or the count line is missing.")
    if _number(lines[0], lines[0]) != 0:
        raise CheckpointError(f"Version {lines[0]!r} is unknown; brokers write version 0.")
    entries = [line for line in lines[2:] if line.strip()]
    if len(entries) != _number(lines[1], lines[1]):
        raise CheckpointError(f"{lines[1]} entries are announced, {len(entries)} are there.")
    return entries


def _number(text: str, line: str) -> int:
    try:
        return int(text)
    except ValueError as broken:
        raise CheckpointError(f"{text!r} in {line!r} is not a number.") from broken


# Which offsets do a segment's index files point at?
#
# ``.index`` maps offsets to positions in the segment file, ``.timeindex`` timestamps to offsets; both hold offsets
# relative to the segment's first. A live broker allocates them in advance and leaves zeros behind the last entry; what
# it cut off may still stand there, for the end is known in its memory alone. The files of a broker that has stopped
# orderly end with their last entry.
#
# Sources: ``OffsetIndex``, ``TimeIndex``, ``AbstractIndex``.


OFFSET_INDEX_SUFFIX = ".index"
TIME_INDEX_SUFFIX = ".timeindex"
_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")


class IndexFileError(Exception):
    """An index file does not have the form that brokers write."""


@dataclass(frozen=True, slots=True)
class OffsetEntry:
    """One entry of ``.index``: the batch with this offset begins at this byte of the segment."""

    offset: int
    position: int


@dataclass(frozen=True, slots=True)
class TimeEntry:
    """One entry of ``.timeindex``: no record up to this offset has a later timestamp."""

    timestamp_ms: int
    offset: int


def offset_index(content: bytes, base_offset: int) -> tuple[OffsetEntry, ...]:
    """Decode ``.index``.

    Args:
        content: the file.
        base_offset: the segment's first offset, which the file is named after.

    Raises:
        IndexFileError: it is cut in the middle of an entry, or offsets do not ascend.
    """
    entries = tuple(
        OffsetEntry(base_offset + one, position) for one, position in _index_entries(_OFFSET_ENTRY, content)
    )
    _require_ascending([entry.offset for entry in entries])
    return entries


def time_index(content: bytes, base_offset: int) -> tuple[TimeEntry, ...]:
    """Decode ``.timeindex``.

    Args:
        content: the file.
        base_offset: the segment's first offset, which the file is named after.

    Raises:
        IndexFileError: it is cut in the middle of an entry, or timestamps do not ascend.
    """
    entries = tuple(TimeEntry(timestamp, base_offset + one) for timestamp, one in _index_entries(_TIME_ENTRY, content))
    _require_ascending([entry.timestamp_ms for entry in entries])
    return entries


def _index_entries(form: struct.Struct, content: bytes) -> Iterator[tuple[int, int]]:
    """Yield the entries up to the zeros of what is allocated in advance."""
    if len(content) % form.size:
        raise IndexFileError(f"{len(content)} bytes are no whole number of entries of {form.size}.")
    for first, second in form.iter_unpack(content):
        if first == 0 and second == 0:
            return
        yield first, second


def _require_ascending(numbers: list[int]) -> None:
    if any(later <= earlier for earlier, later in pairwise(numbers)):
        raise IndexFileError(f"The entries do not ascend: {numbers}.")
