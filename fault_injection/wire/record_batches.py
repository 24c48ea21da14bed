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
_BATCH = struct.Struct(">i b i h i")  # leader epoch, magic, crc, attributes, last offset delta
_MESSAGE = struct.Struct(">I b b")  # crc, magic, attributes


def epoch_runs(records: bytes) -> tuple[EpochRun, ...]:
    """Give the runs of equal leader epoch in fetched records; an unfinished last batch is left out.

    Raises:
        struct.error: a batch is shorter than its own header.
    """
    runs: list[EpochRun] = []
    position = 0
    while position + _ENTRY.size + _MESSAGE.size <= len(records):
        base_offset, length = _ENTRY.unpack_from(records, position)
        end = position + _ENTRY.size + length
        if length <= 0 or end > len(records):
            break
        run = _entry_run(records, position, base_offset)
        if runs and runs[-1].leader_epoch == run.leader_epoch:
            run = EpochRun(run.leader_epoch, runs.pop().first_offset, run.last_offset)
        runs.append(run)
        position = end
    return tuple(runs)


def _entry_run(records: bytes, position: int, base_offset: int) -> EpochRun:
    start = position + _ENTRY.size
    if records[position + MAGIC_OFFSET] >= RECORD_BATCH_MAGIC:
        leader_epoch, _, _, _, last_offset_delta = _BATCH.unpack_from(records, start)
        return EpochRun(leader_epoch, base_offset, base_offset + last_offset_delta)
    _, _, attributes = _MESSAGE.unpack_from(records, start)
    is_compressed = bool(attributes & CODEC_MASK)
    return EpochRun(None, None if is_compressed else base_offset, base_offset)
