"""Which offsets do a segment's index files point at?

``.index`` maps offsets to positions in the segment file, ``.timeindex`` timestamps to offsets; both hold offsets
relative to the segment's first. A live broker allocates them in advance and leaves zeros behind the last entry; what
it cut off may still stand there, for the end is known in its memory alone. The files of a broker that has stopped
orderly end with their last entry.

Sources: ``OffsetIndex``, ``TimeIndex``, ``AbstractIndex``.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

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
    entries = tuple(OffsetEntry(base_offset + one, position) for one, position in _entries(_OFFSET_ENTRY, content))
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
    entries = tuple(TimeEntry(timestamp, base_offset + one) for timestamp, one in _entries(_TIME_ENTRY, content))
    _require_ascending([entry.timestamp_ms for entry in entries])
    return entries


def _entries(form: struct.Struct, content: bytes) -> Iterator[tuple[int, int]]:
    """Give the entries up to the zeros of what is allocated in advance."""
    if len(content) % form.size:
        raise IndexFileError(f"{len(content)} bytes are no whole number of entries of {form.size}.")
    for first, second in form.iter_unpack(content):
        if first == 0 and second == 0:
            return
        yield first, second


def _require_ascending(numbers: list[int]) -> None:
    if any(later <= earlier for earlier, later in pairwise(numbers)):
        raise IndexFileError(f"The entries do not ascend: {numbers}.")
