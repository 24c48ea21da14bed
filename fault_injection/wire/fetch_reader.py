"""What does a FETCH response say, read without a copy of its records?

Nearly all bytes between brokers are records in FETCH responses. kafka-python copies each record set while it
decodes; this reader walks over them and looks at the headers of the batches only, so that a response of a megabyte
costs what a small one costs. It is the one message that is read by hand: the tests compare it with kafka-python
and with kio, field by field, for every version.

Sources: Apache Kafka ``FetchResponse.json`` (v0 to v18); KIP-482 (tagged fields), KIP-516 (topic ids).
"""

import struct
from dataclasses import replace
from uuid import UUID

from fault_injection.wire.codec_metadata import metadata_records
from fault_injection.wire.points import METADATA_TOPIC, METADATA_TOPIC_ID
from fault_injection.wire.views import (
    DivergingEpochView,
    EpochBatches,
    FetchedPartition,
    FetchPartition,
    FetchRequestView,
    FetchResponseView,
)

VERSION_MAX = 18

_THROTTLED_SINCE, _STABLE_OFFSET_SINCE, _LOG_START_SINCE, _SESSION_SINCE = 1, 4, 5, 7
_PREFERRED_REPLICA_SINCE, _FLEXIBLE_SINCE, _TOPIC_IDS_SINCE = 11, 12, 13
_DIVERGING_EPOCH, _CURRENT_LEADER = 0, 1
_ABORTED_BYTES = 16
_CONTINUATION = 0x80
_VARINT_SHIFTS = range(0, 35, 7)

_INT16, _INT32 = struct.Struct(">h"), struct.Struct(">i")
_HEAD = struct.Struct(">ihi")  # throttle time, error, session id
_PARTITION = struct.Struct(">ihq")  # index, error, high watermark
_PARTITION_V4 = struct.Struct(">ihqq")  # and last stable offset
_PARTITION_V5 = struct.Struct(">ihqqq")  # and log start offset
_EPOCH_END = struct.Struct(">iq")
_LEADER = struct.Struct(">ii")


def read_fetch_response(frame: bytes | bytearray | memoryview, offset: int, version: int) -> FetchResponseView:
    """Read a FETCH response from where its body begins.

    Raises:
        ValueError: the version is none that exists, or a length leads out of the frame.
        IndexError: the frame ends too early.
        struct.error: likewise.
    """
    if not 0 <= version <= VERSION_MAX:
        raise ValueError(f"FETCH v{version} does not exist")
    return _ResponseReader(memoryview(frame), offset, version).response()


class _ResponseReader:
    """Walks through one response; ``_at`` is where it is."""

    def __init__(self, frame: memoryview, at: int, version: int) -> None:
        self._frame = frame
        self._at = at
        self._version = version
        self._is_flexible = version >= _FLEXIBLE_SINCE

    def response(self) -> FetchResponseView:
        throttle_time_ms, error, session_id = self._head()
        partitions: list[FetchedPartition] = []
        for _ in range(self._count()):
            topic, topic_id = self._topic()
            partitions.extend(self._partition(topic, topic_id) for _ in range(self._count()))
            self._skip_tags()
        self._skip_tags()
        return FetchResponseView(error, session_id, throttle_time_ms, tuple(partitions))

    def _head(self) -> tuple[int, int, int]:
        if self._version >= _SESSION_SINCE:
            throttle_time_ms, error, session_id = _HEAD.unpack_from(self._frame, self._at)
            self._at += _HEAD.size
            return throttle_time_ms, error, session_id
        return (self._int32(), 0, 0) if self._version >= _THROTTLED_SINCE else (0, 0, 0)

    def _topic(self) -> tuple[str | None, UUID | None]:
        if self._version >= _TOPIC_IDS_SINCE:
            return None, UUID(bytes=bytes(self._taken(16)))
        if self._is_flexible:
            length = self._varint() - 1
        else:
            (length,) = _INT16.unpack_from(self._frame, self._at)
            self._at += _INT16.size
        return str(self._taken(length), "utf-8") or None, None

    def _partition(self, topic: str | None, topic_id: UUID | None) -> FetchedPartition:
        partition, error, high_watermark, last_stable_offset, log_start_offset = self._numbers()
        if self._version >= _STABLE_OFFSET_SINCE:
            self._skip_aborted()
        if self._version >= _PREFERRED_REPLICA_SINCE:
            self._at += _INT32.size
        records = self._taken(max(self._length(), 0))
        diverging_epoch, (leader_id, leader_epoch) = self._tags() if self._is_flexible else (None, (-1, -1))
        is_metadata = topic == METADATA_TOPIC or topic_id == METADATA_TOPIC_ID
        return FetchedPartition(
            topic=topic,
            topic_id=topic_id,
            partition=partition,
            error=error,
            high_watermark=high_watermark,
            last_stable_offset=last_stable_offset,
            log_start_offset=log_start_offset,
            record_bytes=len(records),
            epochs=epoch_runs(records) if records else (),
            diverging_epoch=diverging_epoch,
            leader_id=leader_id,
            leader_epoch=leader_epoch,
            metadata=metadata_records(bytes(records)) if is_metadata else (),
        )

    def _numbers(self) -> tuple[int, int, int, int, int]:
        if self._version >= _LOG_START_SINCE:
            numbers: tuple[int, int, int, int, int] = _PARTITION_V5.unpack_from(self._frame, self._at)
            self._at += _PARTITION_V5.size
            return numbers
        if self._version >= _STABLE_OFFSET_SINCE:
            partition, error, high_watermark, stable = _PARTITION_V4.unpack_from(self._frame, self._at)
            self._at += _PARTITION_V4.size
            return partition, error, high_watermark, stable, -1
        partition, error, high_watermark = _PARTITION.unpack_from(self._frame, self._at)
        self._at += _PARTITION.size
        return partition, error, high_watermark, -1, -1

    def _skip_aborted(self) -> None:
        for _ in range(self._count()):
            self._taken(_ABORTED_BYTES)
            self._skip_tags()

    def _tags(self) -> tuple[DivergingEpochView | None, tuple[int, int]]:
        diverging_epoch, leader = None, (-1, -1)
        for _ in range(self._varint()):
            tag, size = self._varint(), self._varint()
            field = self._taken(size)
            if tag == _DIVERGING_EPOCH:
                diverging_epoch = DivergingEpochView(*_EPOCH_END.unpack_from(field))
            elif tag == _CURRENT_LEADER:
                leader = _LEADER.unpack_from(field)
        return diverging_epoch, leader

    def _skip_tags(self) -> None:
        if self._is_flexible:
            for _ in range(self._varint()):
                self._varint()
                self._taken(self._varint())

    def _count(self) -> int:
        return max(self._length(), 0)

    def _length(self) -> int:
        return self._varint() - 1 if self._is_flexible else self._int32()

    def _int32(self) -> int:
        (number,) = _INT32.unpack_from(self._frame, self._at)
        self._at += _INT32.size
        return int(number)

    def _varint(self) -> int:
        value = 0
        for shift in _VARINT_SHIFTS:
            byte = self._frame[self._at]
            self._at += 1
            value |= (byte & ~_CONTINUATION) << shift
            if byte < _CONTINUATION:
                return value
        raise ValueError("a varint of more than five bytes")

    def _taken(self, length: int) -> memoryview:
        end = self._at + length
        if length < 0 or end > len(self._frame):
            raise ValueError(f"{length} bytes at {self._at} of a frame of {len(self._frame)}")
        taken = self._frame[self._at : end]
        self._at = end
        return taken


# Which offsets and leader epochs do the record batches of a fetch carry?
#
# Only the fixed headers are read: nothing is decompressed or checked. In message sets (magic 0 and 1) an
# entry is one message, or a compressed wrapper whose offset is that of its last inner message.
#
# Sources: Kafka documentation, "Message Format" (record batch v2, message sets v0 and v1).


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


# Which partitions does an incremental fetch leave out, and what holds for them?
#
# With fetch sessions (KIP-227, Fetch v7+) a request lists only partitions whose fetch changed and a
# response only those with news. One ``FetchSession`` follows one connection and completes both, so that
# whoever looks at a frame sees every partition of the session; what was added is marked as not listed.
#
# Choices: a session is followed per connection although a broker knows it by id: a follower opens a new
# one after every disconnect. A response with a top-level error is not completed: it says nothing.


FIRST_EPOCH = 0

PartitionKey = tuple[str | UUID | None, int]


class FetchSession:
    """What is known of the fetch session on one connection."""

    def __init__(self) -> None:
        self._asked: dict[PartitionKey, FetchPartition] = {}
        self._given: dict[PartitionKey, FetchedPartition] = {}

    def complete_request(self, request: FetchRequestView) -> FetchRequestView:
        """Return the request with all partitions of its session; to be called in the order of arrival."""
        if request.session_epoch <= FIRST_EPOCH:
            self._asked = {_key(asked): asked for asked in request.partitions}
            self._given = {}
            return request
        for forgotten in request.forgotten:
            self._asked.pop(forgotten, None)
            self._given.pop(forgotten, None)
        listed = {_key(asked): asked for asked in request.partitions}
        self._asked.update(listed)
        complete = (asked if key in listed else replace(asked, is_listed=False) for key, asked in self._asked.items())
        return replace(request, partitions=tuple(complete))

    def complete_response(self, request: FetchRequestView, response: FetchResponseView) -> FetchResponseView:
        """Return the response with all partitions of the completed request it answers.

        A partition left out has no error, no records and the high watermark it had before.
        """
        if response.error:
            return response
        for given in response.partitions:
            self._given[_key(given)] = given
        if request.session_epoch <= FIRST_EPOCH:
            return response
        listed = {_key(given) for given in response.partitions}
        omitted = (_key(asked) for asked in request.partitions if _key(asked) not in listed)
        added = tuple(_without_news(self._given[key]) for key in omitted if key in self._given)
        return replace(response, partitions=response.partitions + added)


def _key(entry: FetchPartition | FetchedPartition) -> PartitionKey:
    return entry.topic_id or entry.topic, entry.partition


def _without_news(given: FetchedPartition) -> FetchedPartition:
    return replace(given, error=0, record_bytes=0, epochs=(), diverging_epoch=None, metadata=(), is_listed=False)
