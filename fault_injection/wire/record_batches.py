"""Which offsets and leader epochs do the record batches of a fetch carry?

Only the fixed headers are read: nothing is decompressed or checked. In message sets (magic 0 and 1) an
entry is one message, or a compressed wrapper whose offset is that of its last inner message.

Sources: Kafka documentation, "Message Format" (record batch v2, message sets v0 and v1).
"""

import struct
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from fault_injection.wire.views import EpochRun

MAGIC_OFFSET = 16
RECORD_BATCH_MAGIC = 2
CODEC_MASK = 0x07

_leader_epoch = itemgetter(0)
_ENTRY = struct.Struct(">qi")  # base offset, length of what follows
_BATCH = struct.Struct(">i b i h i")  # leader epoch, magic, crc, attributes, last offset delta
_MESSAGE = struct.Struct(">I b b")  # crc, magic, attributes


def epoch_runs(records: bytes) -> tuple[EpochRun, ...]:
    """Give the runs of equal leader epoch in fetched records; an unfinished last batch is left out.

    Raises:
        struct.error: a batch is shorter than its own header.
    """
    runs: list[EpochRun] = []
    for leader_epoch, entries in groupby(_entries(records), key=_leader_epoch):
        run = list(entries)
        runs.append(EpochRun(leader_epoch, first_offset=run[0][1], last_offset=run[-1][2]))
    return tuple(runs)


def _entries(records: bytes) -> Iterator[tuple[int | None, int | None, int]]:
    position, length = 0, len(records)
    while position + _ENTRY.size + _MESSAGE.size <= length:
        base_offset, size = _ENTRY.unpack_from(records, position)
        start = position + _ENTRY.size
        if size <= 0 or start + size > length:
            return
        if records[position + MAGIC_OFFSET] >= RECORD_BATCH_MAGIC:
            leader_epoch, _, _, _, last_offset_delta = _BATCH.unpack_from(records, start)
            yield leader_epoch, base_offset, base_offset + last_offset_delta
        else:
            _, _, attributes = _MESSAGE.unpack_from(records, start)
            yield None, None if attributes & CODEC_MASK else base_offset, base_offset
        position = start + size
