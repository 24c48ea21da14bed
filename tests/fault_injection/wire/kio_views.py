"""What does kio say a frame says, in the words of our views?

kio is generated from Kafka's schemas independently of kafka-python. It knows the versions that Kafka 4 knows: what
it lacks is told as ``None``. Records are compared by kafka-python's own reader of batches.
"""

import warnings
from importlib import import_module
from typing import Any

from kio.schema.index import api_key_map
from kio.serial import entity_reader

from fault_injection.wire.controller_views import (
    AlterPartitionResponseView,
    AlterPartitionView,
    BrokerHeartbeatResponseView,
    BrokerHeartbeatView,
    BrokerRegistrationResponseView,
    BrokerRegistrationView,
    CommittedIsr,
    ErrorsView,
    PartitionError,
    ProposedIsr,
)
from fault_injection.wire.transaction_views import (
    AddedPartition,
    AddOffsetsToTxnView,
    AddPartitionsToTxnView,
    CommittedOffset,
    EndTxnView,
    InitProducerIdView,
    MarkedPartition,
    ProducerEpochView,
    TxnOffsetCommitView,
    WriteTxnMarkersView,
)
from fault_injection.wire.views import (
    AppendedPartition,
    DivergingEpochView,
    EpochBatches,
    EpochEndOffset,
    EpochQuery,
    EpochRequestView,
    EpochResponseView,
    FetchedPartition,
    FetchPartition,
    FetchRequestView,
    FetchResponseView,
    ProducedPartition,
    ProduceRequestView,
    ProduceResponseView,
)
from tests.fault_injection.wire.raw_frames import RawFrame

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.record import MemoryRecords

# ruff: noqa: ANN401 - kio has a class of its own for every version

LENGTH_BYTES = 4


def view_of(frame: RawFrame) -> Any:
    """Return what kio reads, as one of our views; None if kio lacks the api or the version."""
    entity = entity_of(frame)
    return _VIEWS[frame.direction, frame.api_key](entity) if entity is not None else None


def entity_of(frame: RawFrame) -> Any:
    """Return the entity that kio reads; None if it lacks the api or the version."""
    api = api_key_map.get(frame.api_key)
    try:
        module = import_module(f"kio.schema.{api}.v{frame.api_version}.{frame.direction}")
    except ModuleNotFoundError:
        return None
    name = "".join(word.capitalize() for word in str(api).split("_")) + frame.direction.capitalize()
    entity_type = getattr(module, name)
    header, size = entity_reader(entity_type.__header_schema__)(frame.content, LENGTH_BYTES)
    entity, rest = entity_reader(entity_type)(frame.content, LENGTH_BYTES + size)
    assert LENGTH_BYTES + size + rest == len(frame.content), "kio read the frame to its end"
    assert header.correlation_id is not None
    return entity


def _ms(delta: Any) -> int:
    return round(delta.total_seconds() * 1000) if delta is not None else 0


def _error(code: Any) -> int:
    return int(code.value)


def _topic(entry: Any, name: str = "topic") -> dict[str, Any]:
    return {"topic": getattr(entry, name, None) or None, "topic_id": getattr(entry, "topic_id", None)}


def _fetch_request(entity: Any) -> FetchRequestView:
    state = getattr(entity, "replica_state", entity)
    return FetchRequestView(
        replica_id=state.replica_id,
        replica_epoch=getattr(state, "replica_epoch", -1),
        max_wait_ms=_ms(entity.max_wait),
        session_id=getattr(entity, "session_id", 0),
        session_epoch=getattr(entity, "session_epoch", -1),
        partitions=tuple(
            FetchPartition(
                **_topic(topic),
                partition=asked.partition,
                fetch_offset=asked.fetch_offset,
                current_leader_epoch=getattr(asked, "current_leader_epoch", -1),
                last_fetched_epoch=getattr(asked, "last_fetched_epoch", -1),
                log_start_offset=getattr(asked, "log_start_offset", -1),
            )
            for topic in entity.topics
            for asked in topic.partitions
        ),
        forgotten=tuple(
            (getattr(topic, "topic", None) or topic.topic_id, partition)
            for topic in getattr(entity, "forgotten_topics_data", ())
            for partition in topic.partitions
        ),
    )


def _fetch_response(entity: Any) -> FetchResponseView:
    return FetchResponseView(
        error=_error(entity.error_code) if hasattr(entity, "error_code") else 0,
        session_id=getattr(entity, "session_id", 0),
        throttle_time_ms=_ms(entity.throttle_time),
        partitions=tuple(_fetched(topic, given) for topic in entity.responses for given in topic.partitions),
    )


def _fetched(topic: Any, given: Any) -> FetchedPartition:
    diverging, leader = getattr(given, "diverging_epoch", None), getattr(given, "current_leader", None)
    records = bytes(given.records or b"")
    return FetchedPartition(
        **_topic(topic),
        partition=given.partition_index,
        error=_error(given.error_code),
        high_watermark=given.high_watermark,
        last_stable_offset=given.last_stable_offset,
        log_start_offset=getattr(given, "log_start_offset", -1),
        record_bytes=len(records),
        epochs=_runs(records),
        diverging_epoch=DivergingEpochView(diverging.epoch, diverging.end_offset)
        if diverging is not None and (diverging.epoch, diverging.end_offset) != (-1, -1)
        else None,
        leader_id=leader.leader_id if leader is not None else -1,
        leader_epoch=leader.leader_epoch if leader is not None else -1,
    )


def _runs(records: bytes) -> tuple[EpochBatches, ...]:
    runs: list[EpochBatches] = []
    batches = MemoryRecords(records)
    while (batch := batches.next_batch()) is not None:
        epoch, last = batch.leader_epoch, batch.base_offset + batch.last_offset_delta
        if runs and runs[-1].leader_epoch == epoch:
            runs[-1] = EpochBatches(epoch, runs[-1].first_offset, last)
        else:
            runs.append(EpochBatches(epoch, batch.base_offset, last))
    return tuple(runs)


def _epoch_request(entity: Any) -> EpochRequestView:
    return EpochRequestView(
        replica_id=getattr(entity, "replica_id", -2),
        partitions=tuple(
            EpochQuery(topic.topic, asked.partition, asked.leader_epoch, getattr(asked, "current_leader_epoch", -1))
            for topic in entity.topics
            for asked in topic.partitions
        ),
    )


def _epoch_response(entity: Any) -> EpochResponseView:
    return EpochResponseView(
        throttle_time_ms=_ms(entity.throttle_time),
        partitions=tuple(
            EpochEndOffset(topic.topic, given.partition, _error(given.error_code), given.leader_epoch, given.end_offset)
            for topic in entity.topics
            for given in topic.partitions
        ),
    )


def _alter_partition(entity: Any) -> AlterPartitionView:
    return AlterPartitionView(
        entity.broker_id,
        entity.broker_epoch,
        tuple(
            ProposedIsr(
                **_topic(topic, "topic_name"),
                partition=asked.partition_index,
                leader_epoch=asked.leader_epoch,
                new_isr=tuple(one.broker_id for one in getattr(asked, "new_isr_with_epochs", ()))
                or tuple(getattr(asked, "new_isr", ())),
                partition_epoch=asked.partition_epoch,
                leader_recovery_state=getattr(asked, "leader_recovery_state", 0),
            )
            for topic in entity.topics
            for asked in topic.partitions
        ),
    )


def _alter_partition_response(entity: Any) -> AlterPartitionResponseView:
    return AlterPartitionResponseView(
        _error(entity.error_code),
        _ms(entity.throttle_time),
        tuple(
            CommittedIsr(
                **_topic(topic, "topic_name"),
                partition=given.partition_index,
                error=_error(given.error_code),
                leader=given.leader_id,
                leader_epoch=given.leader_epoch,
                isr=tuple(given.isr),
                partition_epoch=given.partition_epoch,
            )
            for topic in entity.topics
            for given in topic.partitions
        ),
    )


def _produce_request(entity: Any) -> ProduceRequestView:
    return ProduceRequestView(
        entity.acks,
        _ms(entity.timeout),
        tuple(_produced(topic, entry) for topic in entity.topic_data for entry in topic.partition_data),
        entity.transactional_id,
    )


def _produced(topic: Any, entry: Any) -> ProducedPartition:
    records = bytes(entry.records or b"")
    batch = MemoryRecords(records).next_batch()
    return ProducedPartition(
        **_topic(topic, "name"),
        partition=entry.index,
        record_bytes=len(records),
        record_count=sum((run.last_offset or 0) - (run.first_offset or 0) + 1 for run in _runs(records)),
        producer_id=batch.producer_id if batch is not None else -1,
        producer_epoch=batch.producer_epoch if batch is not None else -1,
        base_sequence=batch.base_sequence if batch is not None else -1,
    )


def _produce_response(entity: Any) -> ProduceResponseView:
    return ProduceResponseView(
        _ms(entity.throttle_time),
        tuple(_appended(topic, entry) for topic in entity.responses for entry in topic.partition_responses),
    )


def _appended(topic: Any, entry: Any) -> AppendedPartition:
    leader = getattr(entry, "current_leader", None)
    return AppendedPartition(
        **_topic(topic, "name"),
        partition=entry.index,
        error=_error(entry.error_code),
        base_offset=entry.base_offset,
        log_start_offset=getattr(entry, "log_start_offset", -1),
        leader_id=leader.leader_id if leader is not None else -1,
        leader_epoch=leader.leader_epoch if leader is not None else -1,
    )


def _registration(entity: Any) -> BrokerRegistrationView:
    return BrokerRegistrationView(entity.broker_id, entity.incarnation_id, getattr(entity, "previous_broker_epoch", -1))


def _registration_response(entity: Any) -> BrokerRegistrationResponseView:
    return BrokerRegistrationResponseView(_error(entity.error_code), entity.broker_epoch)


def _heartbeat(entity: Any) -> BrokerHeartbeatView:
    return BrokerHeartbeatView(
        entity.broker_id,
        entity.broker_epoch,
        entity.current_metadata_offset,
        entity.want_fence,
        entity.want_shut_down,
    )


def _heartbeat_response(entity: Any) -> BrokerHeartbeatResponseView:
    return BrokerHeartbeatResponseView(
        _error(entity.error_code), entity.is_caught_up, entity.is_fenced, entity.should_shut_down
    )


def _init_producer_id(entity: Any) -> InitProducerIdView:
    return InitProducerIdView(
        entity.transactional_id,
        _ms(entity.transaction_timeout),
        getattr(entity, "producer_id", -1),
        getattr(entity, "producer_epoch", -1),
    )


def _producer_epoch(entity: Any) -> ProducerEpochView:
    return ProducerEpochView(
        _error(entity.error_code), getattr(entity, "producer_id", -1), getattr(entity, "producer_epoch", -1)
    )


def _add_partitions(entity: Any) -> AddPartitionsToTxnView:
    prefix = "" if hasattr(entity, "transactions") else "v3_and_below_"
    return AddPartitionsToTxnView(
        tuple(
            AddedPartition(
                topic.name,
                partition,
                getattr(one, f"{prefix}transactional_id"),
                getattr(one, f"{prefix}producer_id"),
                getattr(one, f"{prefix}producer_epoch"),
                getattr(one, "verify_only", False),
            )
            for one in getattr(entity, "transactions", (entity,))
            for topic in getattr(one, f"{prefix}topics")
            for partition in topic.partitions
        )
    )


def _add_partitions_response(entity: Any) -> ErrorsView:
    return ErrorsView(
        _error(entity.error_code) if hasattr(entity, "error_code") else 0,
        tuple(
            PartitionError(topic.name, None, given.partition_index, _error(given.partition_error_code))
            for one in getattr(entity, "results_by_transaction", (entity,))
            for topic in getattr(one, "topic_results" if one is not entity else "results_by_topic_v3_and_below")
            for given in topic.results_by_partition
        ),
    )


def _add_offsets(entity: Any) -> AddOffsetsToTxnView:
    return AddOffsetsToTxnView(entity.transactional_id, entity.producer_id, entity.producer_epoch, entity.group_id)


def _end_txn(entity: Any) -> EndTxnView:
    return EndTxnView(entity.transactional_id, entity.producer_id, entity.producer_epoch, entity.committed)


def _markers(entity: Any) -> WriteTxnMarkersView:
    return WriteTxnMarkersView(
        tuple(
            MarkedPartition(
                topic.name,
                partition,
                marker.producer_id,
                marker.producer_epoch,
                marker.transaction_result,
                marker.coordinator_epoch,
                getattr(marker, "transaction_version", 0),
            )
            for marker in entity.markers
            for topic in marker.topics
            for partition in topic.partition_indexes
        )
    )


def _offset_commit(entity: Any) -> TxnOffsetCommitView:
    return TxnOffsetCommitView(
        entity.transactional_id,
        entity.group_id,
        entity.producer_id,
        entity.producer_epoch,
        tuple(
            CommittedOffset(topic.name, asked.partition_index, asked.committed_offset)
            for topic in entity.topics
            for asked in topic.partitions
        ),
    )


def _errors(entity: Any) -> ErrorsView:
    groups = getattr(entity, "markers", (entity,))
    return ErrorsView(
        _error(entity.error_code) if hasattr(entity, "error_code") else 0,
        tuple(
            PartitionError(topic.name, None, given.partition_index, _error(given.error_code))
            for group in groups
            for topic in getattr(group, "topics", ())
            for given in topic.partitions
        ),
    )


_VIEWS = {
    ("request", 0): _produce_request,
    ("response", 0): _produce_response,
    ("request", 1): _fetch_request,
    ("response", 1): _fetch_response,
    ("request", 22): _init_producer_id,
    ("response", 22): _producer_epoch,
    ("request", 23): _epoch_request,
    ("response", 23): _epoch_response,
    ("request", 24): _add_partitions,
    ("response", 24): _add_partitions_response,
    ("request", 25): _add_offsets,
    ("response", 25): _errors,
    ("request", 26): _end_txn,
    ("response", 26): _producer_epoch,
    ("request", 27): _markers,
    ("response", 27): _errors,
    ("request", 28): _offset_commit,
    ("response", 28): _errors,
    ("request", 56): _alter_partition,
    ("response", 56): _alter_partition_response,
    ("request", 62): _registration,
    ("response", 62): _registration_response,
    ("request", 63): _heartbeat,
    ("response", 63): _heartbeat_response,
}
