"""Where can a segment file be cut so that what is left is whole batches?

Only the fixed headers are read. In message sets (magic 0 and 1) an entry is one message, or a compressed wrapper
whose offset is that of its last inner message.

Sources: Kafka documentation, "Message Format" (record batch v2, message sets v0 and v1).
"""

import struct
from collections.abc import Iterable

SEGMENT_SUFFIX = ".log"

_ENTRY = struct.Struct(">qi")  # base offset, length of what follows
_MAGIC_POSITION = 16
_RECORD_BATCH_MAGIC = 2
_LAST_OFFSET_DELTA = struct.Struct(">i")
_LAST_OFFSET_DELTA_POSITION = 23


def active_segment(files: Iterable[str], topic: str, partition: int) -> str | None:
    """Return the path of a replica's last segment file; None when there is no such replica.

    Args:
        files: the paths of a broker's files, relative to its data directory.
        topic: the topic.
        partition: the partition.
    """
    folder = f"{topic}-{partition}/"
    return max((path for path in files if path.startswith(folder) and path.endswith(SEGMENT_SUFFIX)), default=None)


def base_offset(segment: str) -> int:
    """Return the offset that a segment begins at, which is its file's name."""
    return int(segment.rpartition("/")[2].removesuffix(SEGMENT_SUFFIX))


def batch_boundaries(content: bytes, base_offset: int) -> dict[int, int]:
    """Return the log end offset that a cut at each batch boundary leaves, and the byte position of that cut.

    Boundaries are in ascending order; the first one is the segment's beginning, the last one the end of its last
    whole batch.
    """
    boundaries = {base_offset: 0}
    position = 0
    while position + _MAGIC_POSITION < len(content):
        first_offset, size = _ENTRY.unpack_from(content, position)
        end = position + _ENTRY.size + size
        if size <= 0 or end > len(content):
            break
        boundaries[_last_offset(content, position, first_offset) + 1] = end
        position = end
    return boundaries


def _last_offset(content: bytes, position: int, first_offset: int) -> int:
    if content[position + _MAGIC_POSITION] < _RECORD_BATCH_MAGIC:
        return first_offset
    (delta,) = _LAST_OFFSET_DELTA.unpack_from(content, position + _LAST_OFFSET_DELTA_POSITION)
    return first_offset + int(delta)
