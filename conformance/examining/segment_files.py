"""Which offsets do the three files of each segment of a replica hold?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.probes.checkpoints import OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, offset_index, time_index
from conformance.probes.segments import SEGMENT_SUFFIX, batch_positions, records_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class SegmentFiles:
    """One segment.

    Attributes:
        base_offset: the offset that its files are named after.
        records: the offsets of the records in ``.log``.
        indexed: the offsets in ``.index``.
        timed: the offsets in ``.timeindex``.
        points_right: whether every entry of ``.index`` names the byte at which its batch begins.
    """

    base_offset: int
    records: tuple[int, ...]
    indexed: tuple[int, ...]
    timed: tuple[int, ...]
    points_right: bool


def segment_files(
    files: Sequence[str], read: Callable[[str], bytes], topic: str, partition: int
) -> tuple[SegmentFiles, ...]:
    """Decode the segments of a replica, the oldest first.

    Args:
        files: relative paths of the files in the broker's log directory.
        read: gives the content of one of them.
        topic: the topic.
        partition: the partition.
    """
    folder = f"{topic}-{partition}/"
    logs = sorted(path for path in files if path.startswith(folder) and path.endswith(SEGMENT_SUFFIX))
    return tuple(_decoded(path.removesuffix(SEGMENT_SUFFIX), files, read) for path in logs)


def _decoded(stem: str, files: Sequence[str], read: Callable[[str], bytes]) -> SegmentFiles:
    base_offset = int(stem.rpartition("/")[2])

    def content(suffix: str) -> bytes:
        return read(stem + suffix) if stem + suffix in files else b""

    log = content(SEGMENT_SUFFIX)
    entries = offset_index(content(OFFSET_INDEX_SUFFIX), base_offset)
    positions = batch_positions(log)
    return SegmentFiles(
        base_offset,
        records=tuple(record.offset for record in records_of(log)),
        indexed=tuple(entry.offset for entry in entries),
        timed=tuple(entry.offset for entry in time_index(content(TIME_INDEX_SUFFIX), base_offset)),
        points_right=all(positions.get(entry.offset) == entry.position for entry in entries),
    )
