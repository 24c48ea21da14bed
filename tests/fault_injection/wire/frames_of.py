"""Frames as brokers send them, made by kafka-python's encoders."""

import struct
import warnings
from typing import Any
from uuid import UUID

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.protocol.consumer.fetch import FetchRequest, FetchResponse

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
    **partition: Any,  # noqa: ANN401 - fields of the schema
) -> bytes:
    topic_type = FetchResponse.FetchableTopicResponse
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


def framed(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content
