"""Which batches are in the segment files of a replica? Their headers, and whether their content is what these say.

Of every batch the checksum is computed anew: where it is another one than the header's, the content has rotted.

Sources: Kafka documentation, "Message Format" (record batch v2 with CRC-32C; message sets v0 and v1 with CRC-32).
"""

import mmap
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crc32c import crc32c

from conformance.probes.segments import LogRecord, records_of

_ENTRY = struct.Struct(">qi")  # base offset, length of what follows
_MESSAGE = struct.Struct(">qiIb")  # offset, length of what follows, checksum, magic
_BATCH = struct.Struct(">qiibIhi")  # base offset, length, leader epoch, magic, checksum, attributes, last offset delta
_FIRST_MAGIC_OF_BATCHES = 2
_MAGIC_POSITION = 16
_CHECKED_FROM = 21
"""Where in a batch that begins which its checksum is of; in a message that is where the magic is."""
_NO_EPOCH = -1


class BatchOnDisk(NamedTuple):
    """One batch in a replica's segment: its header, and where it is."""

    first: int
    last: int
    leader_epoch: int
    checksum: int
    is_intact: bool
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
        with (
            segment.open("rb") as stream,
            mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
            memoryview(mapped) as content,
        ):
            behind = 0
            for batch in _batches_in(content, str(segment), int(segment.stem)):
                yield batch
                behind = batch.position + batch.size
        if behind < size:
            return


def _batches_in(content: memoryview, segment: str, first: int) -> Iterator[BatchOnDisk]:
    position = 0
    while position + _BATCH.size <= len(content):
        end = position + _ENTRY.size + _ENTRY.unpack_from(content, position)[1]
        if end <= position + _ENTRY.size or end > len(content):
            return
        if content[position + _MAGIC_POSITION] < _FIRST_MAGIC_OF_BATCHES:
            last, _, checksum, _ = _MESSAGE.unpack_from(content, position)
            epoch = _NO_EPOCH
            computed = zlib.crc32(content[position + _MAGIC_POSITION : end])
        else:
            first, _, epoch, _, checksum, _, delta = _BATCH.unpack_from(content, position)
            last = first + delta
            computed = crc32c(content[position + _CHECKED_FROM : end])
        yield BatchOnDisk(first, last, epoch, checksum, computed == checksum, segment, position, end - position)
        first, position = last + 1, end
