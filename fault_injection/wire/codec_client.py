"""How do kafka-python's Produce messages become views of ours?

The records themselves are not read: count, producer and sequence stand in the headers of the batches.
"""

import struct
from typing import Any

from fault_injection.wire.client_views import (
    AppendedPartition,
    ProducedPartition,
    ProduceRequestView,
    ProduceResponseView,
)
from fault_injection.wire.record_batches import MAGIC_OFFSET, RECORD_BATCH_MAGIC, epoch_runs
from fault_injection.wire.views import NONE

# ruff: noqa: ANN401 - kafka-python is untyped

_PRODUCER = struct.Struct(">qhi")
_PRODUCER_OFFSET = 43
"""Where a batch of magic 2 names producer id, producer epoch and base sequence."""


def produce_request(message: Any) -> ProduceRequestView:
    """View a Produce request."""
    return ProduceRequestView(
        acks=message.acks,
        timeout_ms=message.timeout_ms,
        partitions=tuple(_wanted(topic, entry) for topic in message.topic_data for entry in topic.partition_data),
        transactional_id=message.transactional_id,
    )


def _wanted(topic: Any, entry: Any) -> ProducedPartition:
    records = bytes(entry.records or b"")
    producer_id, producer_epoch, base_sequence = _producer(records)
    return ProducedPartition(
        topic=topic.name or None,
        topic_id=topic.topic_id,
        partition=entry.index,
        record_bytes=len(records),
        record_count=sum(run.last_offset - (run.first_offset or 0) + 1 for run in epoch_runs(records)),
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
    )


def _producer(records: bytes) -> tuple[int, int, int]:
    if len(records) < _PRODUCER_OFFSET + _PRODUCER.size or records[MAGIC_OFFSET] < RECORD_BATCH_MAGIC:
        return NONE, NONE, NONE
    producer_id, producer_epoch, base_sequence = _PRODUCER.unpack_from(records, _PRODUCER_OFFSET)
    return producer_id, producer_epoch, base_sequence


def produce_response(message: Any) -> ProduceResponseView:
    """View a Produce response."""
    return ProduceResponseView(
        throttle_time_ms=message.throttle_time_ms or 0,
        partitions=tuple(_appended(topic, entry) for topic in message.responses for entry in topic.partition_responses),
    )


def _appended(topic: Any, entry: Any) -> AppendedPartition:
    leader = entry.current_leader
    return AppendedPartition(
        topic=topic.name or None,
        topic_id=topic.topic_id,
        partition=entry.index,
        error=entry.error_code,
        base_offset=entry.base_offset,
        log_start_offset=entry.log_start_offset,
        leader_id=leader.leader_id if leader is not None else NONE,
        leader_epoch=leader.leader_epoch if leader is not None else NONE,
    )
