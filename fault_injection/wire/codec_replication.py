"""How do kafka-python's FETCH and OffsetsForLeaderEpoch messages become views of ours?"""

from typing import Any

from fault_injection.wire.codec_metadata import metadata_records
from fault_injection.wire.points import METADATA_TOPIC, METADATA_TOPIC_ID
from fault_injection.wire.record_batches import epoch_runs
from fault_injection.wire.views import (
    EpochAnswer,
    EpochEnd,
    EpochQuery,
    EpochRequestView,
    EpochResponseView,
    FetchedPartition,
    FetchPartition,
    FetchRequestView,
    FetchResponseView,
)


def fetch_request(message: Any) -> FetchRequestView:  # noqa: ANN401 - kafka-python is untyped
    """View a FETCH request; the replica is named at the top up to v14, in ReplicaState from v15."""
    state = message.replica_state
    is_tagged = message.version >= 15 and state is not None
    return FetchRequestView(
        replica_id=state.replica_id if is_tagged else message.replica_id,
        replica_epoch=state.replica_epoch if is_tagged else -1,
        max_wait_ms=message.max_wait_ms,
        session_id=message.session_id,
        session_epoch=message.session_epoch,
        partitions=tuple(_asked(topic, asked) for topic in message.topics for asked in topic.partitions),
        forgotten=tuple(
            (topic.topic or topic.topic_id, partition)
            for topic in message.forgotten_topics_data or ()
            for partition in topic.partitions
        ),
    )


def _asked(topic: Any, asked: Any) -> FetchPartition:  # noqa: ANN401
    return FetchPartition(
        topic=topic.topic or None,
        topic_id=topic.topic_id,
        partition=asked.partition,
        fetch_offset=asked.fetch_offset,
        current_leader_epoch=asked.current_leader_epoch,
        last_fetched_epoch=asked.last_fetched_epoch,
        log_start_offset=asked.log_start_offset,
    )


def fetch_response(message: Any) -> FetchResponseView:  # noqa: ANN401
    """View a FETCH response."""
    return FetchResponseView(
        error=message.error_code or 0,
        session_id=message.session_id,
        throttle_time_ms=message.throttle_time_ms or 0,
        partitions=tuple(_given(topic, given) for topic in message.responses for given in topic.partitions),
    )


def _given(topic: Any, given: Any) -> FetchedPartition:  # noqa: ANN401
    diverging, leader = given.diverging_epoch, given.current_leader
    is_metadata = topic.topic == METADATA_TOPIC or topic.topic_id == METADATA_TOPIC_ID
    return FetchedPartition(
        topic=topic.topic or None,
        topic_id=topic.topic_id,
        partition=given.partition_index,
        error=given.error_code,
        high_watermark=given.high_watermark,
        last_stable_offset=given.last_stable_offset,
        log_start_offset=given.log_start_offset,
        record_bytes=len(given.records or b""),
        epochs=epoch_runs(given.records or b""),
        diverging_epoch=EpochEnd(diverging.epoch, diverging.end_offset) if diverging is not None else None,
        leader_id=leader.leader_id if leader is not None else -1,
        leader_epoch=leader.leader_epoch if leader is not None else -1,
        metadata=metadata_records(given.records or b"") if is_metadata else (),
    )


def epoch_request(message: Any) -> EpochRequestView:  # noqa: ANN401
    """View an OffsetsForLeaderEpoch request."""
    return EpochRequestView(
        replica_id=message.replica_id,
        partitions=tuple(
            EpochQuery(topic.topic, asked.partition, asked.leader_epoch, asked.current_leader_epoch)
            for topic in message.topics
            for asked in topic.partitions
        ),
    )


def epoch_response(message: Any) -> EpochResponseView:  # noqa: ANN401
    """View an OffsetsForLeaderEpoch response."""
    return EpochResponseView(
        throttle_time_ms=message.throttle_time_ms or 0,
        partitions=tuple(
            EpochAnswer(topic.topic, given.partition, given.error_code, given.leader_epoch, given.end_offset)
            for topic in message.topics
            for given in topic.partitions
        ),
    )
