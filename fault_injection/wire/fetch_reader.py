"""What does a FETCH response say, read without a copy of its records?

Nearly all bytes between brokers are records in FETCH responses. kafka-python copies each record set while it
decodes; this reader walks over them and looks at the headers of the batches only, so that a response of a megabyte
costs what a small one costs. The tests compare what is read by hand with kafka-python and with kio, field by field,
for every version.

Sources: Apache Kafka ``FetchResponse.json`` (v0 to v18); KIP-482 (tagged fields), KIP-516 (topic ids).
"""

import struct
from dataclasses import replace
from uuid import UUID

from fault_injection.wire.body_reader import INT32, BodyReader
from fault_injection.wire.codec_metadata import metadata_records
from fault_injection.wire.points import METADATA_TOPIC, METADATA_TOPIC_ID
from fault_injection.wire.record_batches import epoch_runs, id_batches
from fault_injection.wire.views import (
    DivergingEpochView,
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

_HEAD = struct.Struct(">ihi")  # throttle time, error, session id
_PARTITION = struct.Struct(">ihq")  # index, error, high watermark
_PARTITION_V4 = struct.Struct(">ihqq")  # and last stable offset
_PARTITION_V5 = struct.Struct(">ihqqq")  # and log start offset
_EPOCH_END = struct.Struct(">iq")
_LEADER = struct.Struct(">ii")


def read_fetch_response(
    frame: bytes | bytearray | memoryview, offset: int, version: int, *, reads_ids: bool = False
) -> FetchResponseView:
    """Read a FETCH response from where its body begins, with the ids of its records if they are wanted.

    Raises:
        ValueError: the version is none that exists, or a length leads out of the frame.
        IndexError: the frame ends too early.
        struct.error: likewise.
    """
    if not 0 <= version <= VERSION_MAX:
        raise ValueError(f"FETCH v{version} does not exist")
    return _ResponseReader(memoryview(frame), offset, version, reads_ids=reads_ids).response()


class _ResponseReader(BodyReader):
    """Walks through one response."""

    def __init__(self, frame: memoryview, at: int, version: int, *, reads_ids: bool) -> None:
        super().__init__(frame, at, is_flexible=version >= _FLEXIBLE_SINCE)
        self._version = version
        self._reads_ids = reads_ids

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
        return self._text() or None, None

    def _partition(self, topic: str | None, topic_id: UUID | None) -> FetchedPartition:
        partition, error, high_watermark, last_stable_offset, log_start_offset = self._numbers()
        if self._version >= _STABLE_OFFSET_SINCE:
            self._skip_aborted()
        if self._version >= _PREFERRED_REPLICA_SINCE:
            self._at += INT32.size
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
            batches=id_batches(records) if self._reads_ids and records and not is_metadata else (),
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
    return replace(
        given, error=0, record_bytes=0, epochs=(), diverging_epoch=None, metadata=(), batches=(), is_listed=False
    )
