"""Frames as brokers send them, made by kafka-python's encoders."""

import struct
import warnings
from collections.abc import Sequence
from typing import Any
from uuid import UUID

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.protocol.consumer.fetch import FetchRequest, FetchResponse
    from kafka.protocol.consumer.offsets import OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse
    from kafka.protocol.producer import ProduceRequest
    from kafka.record import MemoryRecordsBuilder

TOPIC_ID = UUID(int=77)


def fetch_request(
    *,
    offset: int,
    version: int = 11,
    correlation_id: int = 1,
    replica: int = 2,
    session_id: int = 0,
    session_epoch: int = -1,
    **partition: Any,  # noqa: ANN401 - fields of the schema
) -> bytes:
    asked = FetchRequest.FetchTopic.FetchPartition(
        version=version, partition=0, fetch_offset=offset, partition_max_bytes=1 << 20, **partition
    )
    state: dict[str, Any] = {"replica_id": replica}
    if version >= 15:
        tagged = FetchRequest.ReplicaState(version=version, replica_id=replica, replica_epoch=9)
        state = {"replica_state": tagged}
    request = FetchRequest(
        version=version,
        max_wait_ms=500,
        min_bytes=1,
        session_id=session_id,
        session_epoch=session_epoch,
        topics=[FetchRequest.FetchTopic(version=version, topic="t", topic_id=TOPIC_ID, partitions=[asked])],
        **state,
    )
    request.with_header(correlation_id=correlation_id, client_id=f"broker-{replica}-fetcher-0")
    return bytes(request.encode(version=version, header=True, framed=True))


def fetch_response(
    *,
    version: int = 11,
    correlation_id: int = 1,
    high_watermark: int = 0,
    error: int = 0,
    records: bytes | None = b"",
    session_id: int = 0,
    diverging: tuple[int, int] | None = None,
    current_leader: tuple[int, int] | None = None,
) -> bytes:
    topic_type = FetchResponse.FetchableTopicResponse
    partition: dict[str, Any] = {}
    if diverging is not None and version >= 12:
        epoch_type = topic_type.PartitionData.EpochEndOffset
        partition["diverging_epoch"] = epoch_type(version=version, epoch=diverging[0], end_offset=diverging[1])
    if current_leader is not None:
        leader_type = topic_type.PartitionData.LeaderIdAndEpoch
        hint = leader_type(version=version, leader_id=current_leader[0], leader_epoch=current_leader[1])
        partition["current_leader"] = hint
    given = topic_type.PartitionData(
        version=version,
        partition_index=0,
        error_code=error,
        high_watermark=high_watermark,
        last_stable_offset=high_watermark,
        log_start_offset=0,
        aborted_transactions=None,
        records=records,
        **partition,
    )
    response = FetchResponse(
        version=version,
        session_id=session_id,
        responses=[topic_type(version=version, topic="t", topic_id=TOPIC_ID, partitions=[given])],
    )
    response.with_header(correlation_id=correlation_id)
    return bytes(response.encode(header=True, framed=True))


def produce_request(
    *,
    records: bytes | None,
    version: int = 11,
    correlation_id: int = 1,
    acks: int = -1,
    transactional_id: str | None = None,
) -> bytes:
    topic_type = ProduceRequest.TopicProduceData
    entries = [
        topic_type.PartitionProduceData(version=version, index=index, records=content)
        for index, content in enumerate((records, None))
    ]
    request = ProduceRequest(
        version=version,
        transactional_id=transactional_id,
        acks=acks,
        timeout_ms=30_000,
        topic_data=[topic_type(version=version, name="t", topic_id=TOPIC_ID, partition_data=entries)],
    )
    request.with_header(correlation_id=correlation_id, client_id="producer")
    return bytes(request.encode(version=version, header=True, framed=True))


def framed(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


def epoch_request(*, version: int, replica: int, leader_epoch: int, current_leader_epoch: int) -> bytes:
    topic_type = OffsetForLeaderEpochRequest.OffsetForLeaderTopic
    asked = topic_type.OffsetForLeaderPartition(
        version=version, partition=0, leader_epoch=leader_epoch, current_leader_epoch=current_leader_epoch
    )
    request = OffsetForLeaderEpochRequest(
        version=version, replica_id=replica, topics=[topic_type(version=version, topic="t", partitions=[asked])]
    )
    request.with_header(correlation_id=1, client_id=f"broker-{replica}-fetcher-0")
    return bytes(request.encode(header=True, framed=True))


def epoch_response(*, version: int, leader_epoch: int, end_offset: int, error: int = 0) -> bytes:
    topic_type = OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult
    given = topic_type.EpochEndOffset(
        version=version, partition=0, error_code=error, leader_epoch=leader_epoch, end_offset=end_offset
    )
    response = OffsetForLeaderEpochResponse(
        version=version, topics=[topic_type(version=version, topic="t", partitions=[given])]
    )
    response.with_header(correlation_id=1)
    return bytes(response.encode(header=True, framed=True))


def record_batch(magic: int, *, base_offset: int, values: int, leader_epoch: int = 0, compression: int = 0) -> bytes:
    """Records as a broker stores them: the leader writes base offset and epoch into the header of a batch."""
    keys = [None] * values
    return keyed_batch(magic, keys, base_offset=base_offset, leader_epoch=leader_epoch, compression=compression)


def keyed_batch(
    magic: int, keys: Sequence[bytes | None], *, base_offset: int, leader_epoch: int = 0, compression: int = 0
) -> bytes:
    """Records with these keys as a broker stores them."""
    builder = MemoryRecordsBuilder(magic, compression, batch_size=1 << 20, offset=base_offset if magic < 2 else 0)
    for value, key in enumerate(keys):
        builder.append(timestamp=1_000, key=key, value=b"value-%d" % value)
    builder.close()
    records = bytearray(builder.buffer())
    if magic >= 2:
        struct.pack_into(">qii", records, 0, base_offset, len(records) - 12, leader_epoch)
    return bytes(records)
