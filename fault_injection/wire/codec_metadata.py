"""How do the records that a FETCH of KRaft's metadata log carries become views of ours?

A record's value begins with three varints, frame version, api key and version, and goes on with the
flexible encoding of the record. Nothing here fails: a record without a view is passed over, one that should
decode and does not becomes an ``UnreadableRecord``, an unfinished last batch is left out.

Sources: AbstractApiMessageSerde; kafka-metadata ``common/metadata/*.json``; "Message Format".
"""

import struct
from collections.abc import Callable, Iterator
from uuid import UUID

from fault_injection.wire.metadata_views import (
    BrokerFencingRecord,
    ClearElrRecord,
    ConfigRecord,
    MetadataRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
    UnreadableRecord,
    UnregisterBrokerRecord,
)

# How are the parts of Kafka's flexible encoding read, one after the other?
#
# Sources: KIP-482 (compact types and tagged fields); "Protocol Primitive Types".


_INT8, _INT32, _INT64 = struct.Struct(">b"), struct.Struct(">i"), struct.Struct(">q")
_MORE = 0x80
_BITS = 0x7F
_VARINT_SHIFT_MAX = 63
_UUID_BYTES = 16


class FlexibleReader:
    """Reads values from ``position`` on; every read moves it.

    Every read raises ValueError or struct.error when the bytes end too early.
    """

    def __init__(self, content: memoryview) -> None:
        self._content = content
        self.position = 0

    def raw(self, size: int) -> memoryview:
        """Return the next bytes as they are."""
        end = self.position + size
        if size < 0 or end > len(self._content):
            raise ValueError(f"{size} bytes at {self.position}, but only {len(self._content)} in all")
        part = self._content[self.position : end]
        self.position = end
        return part

    def int8(self) -> int:
        """Read one byte with its sign."""
        return int(_INT8.unpack(self.raw(1))[0])

    def int32(self) -> int:
        """Read four bytes with their sign."""
        return int(_INT32.unpack(self.raw(4))[0])

    def int64(self) -> int:
        """Read eight bytes with their sign."""
        return int(_INT64.unpack(self.raw(8))[0])

    def uuid(self) -> UUID:
        """Read an id."""
        return UUID(bytes=bytes(self.raw(_UUID_BYTES)))

    def unsigned(self) -> int:
        """Read an unsigned varint. Raises ValueError if it does not end."""
        value = shift = 0
        while shift <= _VARINT_SHIFT_MAX:
            byte = self.raw(1)[0]
            value |= (byte & _BITS) << shift
            if not byte & _MORE:
                return value
            shift += 7
        raise ValueError("a varint without end")

    def varint(self) -> int:
        """Read a varint with its sign (zigzag)."""
        value = self.unsigned()
        return (value >> 1) ^ -(value & 1)

    def text(self) -> str | None:
        """Read a compact string."""
        size = self.unsigned() - 1
        return None if size < 0 else bytes(self.raw(size)).decode("utf-8")

    def int32s(self) -> tuple[int, ...] | None:
        """Read a compact array of four-byte numbers."""
        count = self.unsigned() - 1
        return None if count < 0 else struct.unpack(f">{count}i", self.raw(4 * count))

    def uuids(self) -> tuple[UUID, ...] | None:
        """Read a compact array of ids."""
        count = self.unsigned() - 1
        return None if count < 0 else tuple(self.uuid() for _ in range(count))

    def tagged(self) -> dict[int, "FlexibleReader"]:
        """Read the tagged fields: by tag, a reader of each value."""
        return {self.unsigned(): FlexibleReader(self.raw(self.unsigned())) for _ in range(self.unsigned())}


_BATCH = struct.Struct(">qi i b I h i q q q h i i")
_PREFIX_BYTES = 12  # base offset and length
_NOT_PLAIN = 0x07 | 0x20  # compressed, or a control batch
_RECORD_BATCH_MAGIC = 2
_DIRECTORIES_SINCE = 1
_READ_ERRORS = (ValueError, IndexError, struct.error)


def metadata_records(records: bytes) -> tuple[MetadataRecord, ...]:
    """Return what the record batches of a metadata-log fetch say about brokers, topics and partitions."""
    return tuple(view for offset, value in _values(memoryview(records)) if (view := _view(offset, value)) is not None)


def _values(records: memoryview) -> Iterator[tuple[int, memoryview]]:
    position = 0
    while position + _BATCH.size <= len(records):
        base_offset, size, _, magic, _, attributes, *_, count = _BATCH.unpack_from(records, position)
        end = position + _PREFIX_BYTES + size
        if size <= 0 or end > len(records):
            return
        if magic == _RECORD_BATCH_MAGIC and not attributes & _NOT_PLAIN:
            yield from _batch_values(records[position + _BATCH.size : end], base_offset, count)
        position = end


def _batch_values(body: memoryview, base_offset: int, count: int) -> Iterator[tuple[int, memoryview]]:
    reader = FlexibleReader(body)
    for _ in range(count):
        try:
            end = reader.varint() + reader.position
            reader.int8()  # attributes
            reader.varint()  # timestamp delta
            offset = base_offset + reader.varint()
            reader.raw(max(reader.varint(), 0))  # key
            value = reader.raw(max(reader.varint(), 0))
        except _READ_ERRORS:
            return
        reader.position = end
        yield offset, value


def _view(offset: int, value: memoryview) -> MetadataRecord | None:
    api_key = version = -1
    try:
        reader = FlexibleReader(value)
        _, api_key, version = reader.unsigned(), reader.unsigned(), reader.unsigned()
        read = _READERS.get(api_key)
        return read(offset, reader, version) if read is not None else None
    except _READ_ERRORS:
        return UnreadableRecord(offset, api_key, version)


def _register_broker(offset: int, reader: FlexibleReader, version: int) -> RegisterBrokerRecord:
    broker = reader.int32()
    if version >= 2:
        reader.int8()
    return RegisterBrokerRecord(offset, broker, reader.uuid(), reader.int64())


def _unregister_broker(offset: int, reader: FlexibleReader, _: int) -> UnregisterBrokerRecord:
    return UnregisterBrokerRecord(offset, reader.int32(), reader.int64())


def _topic(offset: int, reader: FlexibleReader, _: int) -> TopicRecord:
    return TopicRecord(offset, reader.text() or "", reader.uuid())


def _remove_topic(offset: int, reader: FlexibleReader, _: int) -> RemoveTopicRecord:
    return RemoveTopicRecord(offset, reader.uuid())


def _config(offset: int, reader: FlexibleReader, _: int) -> ConfigRecord:
    return ConfigRecord(offset, reader.int8(), reader.text() or "", reader.text() or "", reader.text())


def _clear_elr(offset: int, reader: FlexibleReader, _: int) -> ClearElrRecord:
    return ClearElrRecord(offset, reader.text() or "")


def _partition(offset: int, reader: FlexibleReader, version: int) -> PartitionRecord:
    partition, topic_id = reader.int32(), reader.uuid()
    replicas, isr = reader.int32s() or (), reader.int32s() or ()
    reader.int32s()  # removing replicas
    reader.int32s()  # adding replicas
    leader, leader_epoch, partition_epoch = reader.int32(), reader.int32(), reader.int32()
    if version >= _DIRECTORIES_SINCE:
        reader.uuids()
    tags = reader.tagged()
    return PartitionRecord(
        offset,
        topic_id,
        partition,
        replicas,
        isr,
        leader,
        leader_epoch,
        partition_epoch,
        leader_recovery_state=tags[0].int8() if 0 in tags else 0,
        elr=_brokers(tags, 1) or (),
        last_known_elr=_brokers(tags, 2) or (),
    )


def _partition_change(offset: int, reader: FlexibleReader, _: int) -> PartitionChangeRecord:
    partition, topic_id = reader.int32(), reader.uuid()
    tags = reader.tagged()
    return PartitionChangeRecord(
        offset,
        topic_id,
        partition,
        isr=_brokers(tags, 0),
        leader=tags[1].int32() if 1 in tags else None,
        replicas=_brokers(tags, 2),
        leader_recovery_state=tags[5].int8() if 5 in tags else None,
        elr=_brokers(tags, 6),
        last_known_elr=_brokers(tags, 7),
    )


def _brokers(tags: dict[int, FlexibleReader], tag: int) -> tuple[int, ...] | None:
    return tags[tag].int32s() if tag in tags else None


def _fence(offset: int, reader: FlexibleReader, _: int) -> BrokerFencingRecord:
    return BrokerFencingRecord(offset, reader.int32(), reader.int64(), is_fenced=True)


def _unfence(offset: int, reader: FlexibleReader, _: int) -> BrokerFencingRecord:
    return BrokerFencingRecord(offset, reader.int32(), reader.int64(), is_fenced=False)


def _registration_change(offset: int, reader: FlexibleReader, _: int) -> BrokerFencingRecord:
    broker, broker_epoch = reader.int32(), reader.int64()
    tags = reader.tagged()
    fenced = tags[0].int8() if 0 in tags else 0
    shutting_down = tags[1].int8() if 1 in tags else 0
    return BrokerFencingRecord(
        offset,
        broker,
        broker_epoch,
        is_fenced=None if fenced == 0 else fenced > 0,
        is_shutting_down=None if shutting_down == 0 else shutting_down > 0,
    )


_READERS: dict[int, Callable[[int, FlexibleReader, int], MetadataRecord]] = {
    0: _register_broker,
    1: _unregister_broker,
    2: _topic,
    3: _partition,
    4: _config,
    5: _partition_change,
    7: _fence,
    8: _unfence,
    9: _remove_topic,
    17: _registration_change,
    28: _clear_elr,
}
