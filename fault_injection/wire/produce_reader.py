"""What does a Produce request say, read without a copy of its records?

Nearly all bytes from producers are records. They are not read: count, producer and sequence stand in the headers of the
batches, and a record's id, where it is wanted, in the first key of each. The tests compare what is read by hand with
kafka-python, field by field, for every version.

Sources: Apache Kafka ``ProduceRequest.json`` (v0 to v13); KIP-98 (transactional id), KIP-482 (tagged fields), KIP-516
(topic ids).
"""

import struct
from uuid import UUID

from fault_injection.wire.body_reader import INT16, BodyReader
from fault_injection.wire.headers import Buffer
from fault_injection.wire.record_batches import MAGIC_OFFSET, RECORD_BATCH_MAGIC, epoch_runs, id_batches
from fault_injection.wire.views import NONE, ProducedPartition, ProduceRequestView

VERSION_MAX = 13

_TRANSACTIONAL_SINCE, _FLEXIBLE_SINCE, _TOPIC_IDS_SINCE = 3, 9, 13
_ASKED = struct.Struct(">hi")  # acks, timeout
_PRODUCER = struct.Struct(">qhi")
_PRODUCER_OFFSET = 43
"""Where a batch of magic 2 names producer id, producer epoch and base sequence."""


def is_flexible(version: int) -> bool:
    """Return whether requests of a version have tagged fields."""
    return version >= _FLEXIBLE_SINCE


def read_produce_request(frame: Buffer, offset: int, version: int, *, reads_ids: bool = False) -> ProduceRequestView:
    """Read a Produce request from where its body begins, with the ids of its records if they are wanted.

    Raises:
        ValueError: the version is none that exists, or a length leads out of the frame.
        IndexError: the frame ends too early.
        struct.error: likewise.
    """
    return _RequestReader(frame, offset, version, reads_ids=reads_ids).request()


def read_acks(frame: Buffer, offset: int, version: int) -> int:
    """Return what a Produce request wants to be acknowledged by: 0 if nobody is to answer it.

    Raises:
        ValueError: as ``read_produce_request``.
        IndexError: likewise.
        struct.error: likewise.
    """
    return _RequestReader(frame, offset, version, reads_ids=False).acks()


class _RequestReader(BodyReader):
    """Walks through one request."""

    def __init__(self, frame: Buffer, at: int, version: int, *, reads_ids: bool) -> None:
        if not 0 <= version <= VERSION_MAX:
            raise ValueError(f"Produce v{version} does not exist")
        super().__init__(memoryview(frame), at, is_flexible=is_flexible(version))
        self._version = version
        self._reads_ids = reads_ids

    def acks(self) -> int:
        self._transactional_id()
        return int(INT16.unpack_from(self._frame, self._at)[0])

    def request(self) -> ProduceRequestView:
        transactional_id = self._transactional_id()
        acks, timeout_ms = _ASKED.unpack_from(self._frame, self._at)
        self._at += _ASKED.size
        partitions: list[ProducedPartition] = []
        for _ in range(self._count()):
            topic, topic_id = self._topic()
            partitions.extend(self._partition(topic, topic_id) for _ in range(self._count()))
            self._skip_tags()
        self._skip_tags()
        return ProduceRequestView(acks, timeout_ms, tuple(partitions), transactional_id)

    def _transactional_id(self) -> str | None:
        return self._text() if self._version >= _TRANSACTIONAL_SINCE else None

    def _topic(self) -> tuple[str | None, UUID | None]:
        if self._version >= _TOPIC_IDS_SINCE:
            return None, UUID(bytes=bytes(self._taken(16)))
        return self._text() or None, None

    def _partition(self, topic: str | None, topic_id: UUID | None) -> ProducedPartition:
        partition = self._int32()
        records = self._taken(max(self._length(), 0))
        self._skip_tags()
        producer_id, producer_epoch, base_sequence = _producer(records)
        return ProducedPartition(
            topic=topic,
            topic_id=topic_id,
            partition=partition,
            record_bytes=len(records),
            record_count=sum(run.last_offset - (run.first_offset or 0) + 1 for run in epoch_runs(records)),
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
            batches=id_batches(records) if self._reads_ids else (),
        )


def _producer(records: memoryview) -> tuple[int, int, int]:
    if len(records) < _PRODUCER_OFFSET + _PRODUCER.size or records[MAGIC_OFFSET] < RECORD_BATCH_MAGIC:
        return NONE, NONE, NONE
    producer_id, producer_epoch, base_sequence = _PRODUCER.unpack_from(records, _PRODUCER_OFFSET)
    return producer_id, producer_epoch, base_sequence
