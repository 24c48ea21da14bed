"""Which offsets and leader epochs do the record batches of a fetch carry?

Only the fixed headers are read: nothing is decompressed or checked. In message sets (magic 0 and 1) an
entry is one message, or a compressed wrapper whose offset is that of its last inner message.

Sources: Kafka documentation, "Message Format" (record batch v2, message sets v0 and v1).
"""

import struct

from fault_injection.wire.views import EpochRun

MAGIC_OFFSET = 16
RECORD_BATCH_MAGIC = 2
CODEC_MASK = 0x07

_ENTRY = struct.Struct(">qi")  # base offset, length of what follows
_BATCH = struct.Struct(">qi i b i h i")  # and leader epoch, magic, crc, attributes, last offset delta
_MESSAGE = struct.Struct(">I b b")  # crc, magic, attributes


def epoch_runs(records: bytes | memoryview) -> tuple[EpochRun, ...]:
    """Give the runs of equal leader epoch in fetched records; an unfinished last batch is left out.

    Raises:
        struct.error: a batch is shorter than its own header.
    """
    runs: list[EpochRun] = []
    run: tuple[int | None, int | None, int] | None = None
    position, length = 0, len(records)
    while position + _ENTRY.size + _MESSAGE.size <= length:
        base_offset, size = _ENTRY.unpack_from(records, position)
        end = position + _ENTRY.size + size
        if size <= 0 or end > length:
            break
        if records[position + MAGIC_OFFSET] >= RECORD_BATCH_MAGIC:
            _, _, leader_epoch, _, _, _, last_offset_delta = _BATCH.unpack_from(records, position)
            entry = leader_epoch, base_offset, base_offset + last_offset_delta
        else:
            _, _, attributes = _MESSAGE.unpack_from(records, position + _ENTRY.size)
            entry = None, None if attributes & CODEC_MASK else base_offset, base_offset
        if run is not None and run[0] == entry[0]:
            run = run[0], run[1], entry[2]
        else:
            runs += [EpochRun(*run)] if run is not None else []
            run = entry
        position = end
    runs += [EpochRun(*run)] if run is not None else []
    return tuple(runs)
