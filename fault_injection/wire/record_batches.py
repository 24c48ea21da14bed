"""What do record batches say in their headers, and which record ids do they carry?

Only the fixed headers are read, and of ids the first record's key: nothing is decompressed or checked. In message sets
(magic 0 and 1) an entry is one message, or a compressed wrapper whose offset is that of its last inner message.

Sources: Kafka documentation, "Message Format" (record batch v2, message sets v0 and v1).
"""

import struct

from fault_injection.wire.views import NONE, EpochBatches, IdBatch

MAGIC_OFFSET = 16
RECORD_BATCH_MAGIC = 2
CODEC_MASK = 0x07

_ENTRY = struct.Struct(">qi")  # base offset, length of what follows
_BATCH = struct.Struct(">qi i b i h i")  # and leader epoch, magic, crc, attributes, last offset delta
_MESSAGE = struct.Struct(">I b b")  # crc, magic, attributes


def epoch_runs(records: bytes | memoryview) -> tuple[EpochBatches, ...]:
    """Return the runs of equal leader epoch in fetched records; an unfinished last batch is left out.

    Raises:
        struct.error: a batch is shorter than its own header.
    """
    runs: list[EpochBatches] = []
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
            runs += [EpochBatches(*run)] if run is not None else []
            run = entry
        position = end
    runs += [EpochBatches(*run)] if run is not None else []
    return tuple(runs)


# Which record ids do batches carry?
#
# An id is a key of eight bytes. Of a batch of magic 2 the first two records are read, and the last one, which lies as
# far before the end as a record of the first one's length does: where that is as far from the first as ids of one step
# are, all are. Else every record is read, as after a producer's retries. Messages are joined while offsets follow each
# other and ids grow by one step.


KEY_BYTES = 8

_HEADER_BYTES = 61
_ATTRIBUTES_OFFSET = 22  # the low byte of two
_COUNT_OFFSET = 57
_NO_HEADERS = b"\0"
_KEY_LENGTH_V2 = 2 * KEY_BYTES  # zigzag
_KEY_OFFSET = {0: 18, 1: 26}  # a timestamp since magic 1

_INT32, _ID = struct.Struct(">i"), struct.Struct(">q")


def id_batches(records: bytes | memoryview) -> tuple[IdBatch, ...]:
    """Return the ids in records, by batch; an unfinished last batch is left out.

    Raises:
        struct.error: a batch is shorter than its own header.
    """
    batches: list[IdBatch | _Messages] = []
    messages: _Messages | None = None
    position, length = 0, len(records)
    while position + _ENTRY.size + _MESSAGE.size <= length:
        base_offset, size = _ENTRY.unpack_from(records, position)
        end = position + _ENTRY.size + size
        if size <= 0 or end > length:
            break
        magic = records[position + MAGIC_OFFSET]
        if magic >= RECORD_BATCH_MAGIC:
            (count,) = _INT32.unpack_from(records, position + _COUNT_OFFSET)
            batches += _of_batch(records, position, end, base_offset, count)
        else:
            first_id = _id_of_message(records, position, end, magic)
            if messages is None or not messages.takes(base_offset, first_id):
                messages = _Messages(base_offset, first_id)
                batches.append(messages)
        position = end
    return tuple(one.batch() if isinstance(one, _Messages) else one for one in batches)


def _of_batch(records: bytes | memoryview, position: int, end: int, base_offset: int, count: int) -> list[IdBatch]:
    """Return the ids of one batch of magic 2, in pieces whose ids grow by one step."""
    if records[position + _ATTRIBUTES_OFFSET] & CODEC_MASK:
        return [IdBatch(base_offset, count, NONE)]
    first_id, value_length, at = _record(records, position + _HEADER_BYTES, end)
    if first_id == NONE or count == 1:
        return [IdBatch(base_offset, count, first_id)]
    second_id, _, _ = _record(records, at, end)
    step = second_id - first_id
    last_at = end - len(_NO_HEADERS) - value_length - _varint_bytes(2 * value_length) - KEY_BYTES
    is_key = last_at > at and records[last_at - 1] == _KEY_LENGTH_V2
    if step > 0 and is_key and _ID.unpack_from(records, last_at)[0] == first_id + (count - 1) * step:
        return [IdBatch(base_offset, count, first_id, step)]
    return _walked(records, position + _HEADER_BYTES, end, base_offset, count)


def _walked(records: bytes | memoryview, at: int, end: int, base_offset: int, count: int) -> list[IdBatch]:
    """Return the ids of one batch, every record read as far as lengths lead on."""
    joined: list[_Messages] = []
    unread: list[IdBatch] = []
    for offset in range(base_offset, base_offset + count):
        record_id, _, following = _record(records, at, end)
        if not at < following <= end:
            unread.append(IdBatch(offset, base_offset + count - offset, NONE))
            break
        at = following
        if not joined or not joined[-1].takes(offset, record_id):
            joined.append(_Messages(offset, record_id))
    return [*(one.batch() for one in joined), *unread]


def _record(records: bytes | memoryview, at: int, end: int) -> tuple[int, int, int]:
    """Return id and value length of a record of magic 2, and where the next one begins; no id: NONE."""
    length, at = _varint(records, at, end)
    following = at + length
    _, at = _varint(records, at + 1, end)  # behind the attributes the delta of its timestamp
    _, at = _varint(records, at, end)
    key_length, at = _varint(records, at, end)
    if key_length != KEY_BYTES or at + KEY_BYTES > end:
        return NONE, 0, following
    value_length, _ = _varint(records, at + KEY_BYTES, end)
    return int(_ID.unpack_from(records, at)[0]), max(value_length, 0), following


def _varint(records: bytes | memoryview, at: int, end: int) -> tuple[int, int]:
    """Return a number in zigzag, and where it ends; 0 beyond the end of the batch."""
    number = shift = 0
    while at < end:
        byte = records[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at
        shift += 7
    return 0, end


def _varint_bytes(number: int) -> int:
    return max(-(-number.bit_length() // 7), 1)


def _id_of_message(records: bytes | memoryview, position: int, end: int, magic: int) -> int:
    _, _, attributes = _MESSAGE.unpack_from(records, position + _ENTRY.size)
    at = position + _KEY_OFFSET[magic]
    if attributes & CODEC_MASK or at + _INT32.size + KEY_BYTES > end:
        return NONE
    (length,) = _INT32.unpack_from(records, at)
    return int(_ID.unpack_from(records, at + _INT32.size)[0]) if length == KEY_BYTES else NONE


class _Messages:
    """Messages, or records, that are joined while they are read."""

    __slots__ = ("_base_offset", "_count", "_first_id", "_last_id", "_step")

    def __init__(self, offset: int, first_id: int) -> None:
        self._base_offset, self._count, self._step = offset, 1, NONE
        self._first_id = self._last_id = first_id

    def takes(self, offset: int, its_id: int) -> bool:
        """Join the next message; False if it begins others."""
        step = its_id - self._last_id
        if offset != self._base_offset + self._count or step < 1 or self._last_id == NONE:
            return False
        if self._count > 1 and step != self._step:
            return False
        self._count, self._step, self._last_id = self._count + 1, step, its_id
        return True

    def batch(self) -> IdBatch:
        """Return what they are."""
        return IdBatch(self._base_offset, self._count, self._first_id, self._step)
