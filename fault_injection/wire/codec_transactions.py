"""How do kafka-python's messages of transactions become views of ours?

A version without a field gives None there, or the default of Kafka's schema.
"""

# ruff: noqa: ANN401 - kafka-python is untyped

from collections.abc import Iterator
from typing import Any

from fault_injection.wire.controller_views import ErrorsView, PartitionError
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
from fault_injection.wire.views import NONE

ADD_PARTITIONS_BATCHED = 4
"""The version of AddPartitionsToTxn from which on it is about several transactions (KIP-890)."""


def init_producer_id(message: Any) -> InitProducerIdView:
    """View an InitProducerId request."""
    return InitProducerIdView(
        message.transactional_id,
        message.transaction_timeout_ms,
        _or_none(message.producer_id),
        _or_none(message.producer_epoch),
    )


def producer_epoch_response(message: Any) -> ProducerEpochView:
    """View the answer to InitProducerId or EndTxn."""
    return ProducerEpochView(message.error_code, _or_none(message.producer_id), _or_none(message.producer_epoch))


def add_partitions(message: Any) -> AddPartitionsToTxnView:
    """View an AddPartitionsToTxn request."""
    if message.version >= ADD_PARTITIONS_BATCHED:
        return AddPartitionsToTxnView(tuple(part for one in message.transactions for part in _added(one, one.topics)))
    of_client = _OfClient(message)
    return AddPartitionsToTxnView(tuple(_added(of_client, message.v3_and_below_topics)))


class _OfClient:
    """The one transaction of a request before v4, with the names that transactions have since."""

    verify_only = False

    def __init__(self, message: Any) -> None:
        self.transactional_id = message.v3_and_below_transactional_id
        self.producer_id = message.v3_and_below_producer_id
        self.producer_epoch = message.v3_and_below_producer_epoch


def _added(one: Any, topics: Any) -> Iterator[AddedPartition]:
    for topic in topics:
        for partition in topic.partitions:
            yield AddedPartition(
                topic.name, partition, one.transactional_id, one.producer_id, one.producer_epoch, bool(one.verify_only)
            )


def add_partitions_response(message: Any) -> ErrorsView:
    """View an AddPartitionsToTxn response; up to v3 it has no error at the top."""
    batched = message.results_by_transaction if message.version >= ADD_PARTITIONS_BATCHED else ()
    topics = [topic for one in batched for topic in one.topic_results]
    topics += [] if message.version >= ADD_PARTITIONS_BATCHED else message.results_by_topic_v3_and_below
    return ErrorsView(
        message.error_code or 0,
        tuple(
            PartitionError(topic.name, None, given.partition_index, given.partition_error_code)
            for topic in topics
            for given in topic.results_by_partition
        ),
    )


def add_offsets(message: Any) -> AddOffsetsToTxnView:
    """View an AddOffsetsToTxn request."""
    return AddOffsetsToTxnView(message.transactional_id, message.producer_id, message.producer_epoch, message.group_id)


def end_txn(message: Any) -> EndTxnView:
    """View an EndTxn request."""
    return EndTxnView(message.transactional_id, message.producer_id, message.producer_epoch, bool(message.committed))


def write_txn_markers(message: Any) -> WriteTxnMarkersView:
    """View a WriteTxnMarkers request."""
    return WriteTxnMarkersView(
        tuple(
            MarkedPartition(
                topic=topic.name,
                partition=partition,
                producer_id=marker.producer_id,
                producer_epoch=marker.producer_epoch,
                commits=bool(marker.transaction_result),
                coordinator_epoch=marker.coordinator_epoch,
                transaction_version=marker.transaction_version or 0,
            )
            for marker in message.markers
            for topic in marker.topics
            for partition in topic.partition_indexes
        )
    )


def write_txn_markers_response(message: Any) -> ErrorsView:
    """View a WriteTxnMarkers response."""
    topics = (topic for marker in message.markers for topic in marker.topics)
    return ErrorsView(0, tuple(_partition_errors(topics)))


def txn_offset_commit(message: Any) -> TxnOffsetCommitView:
    """View a TxnOffsetCommit request."""
    return TxnOffsetCommitView(
        message.transactional_id,
        message.group_id,
        message.producer_id,
        message.producer_epoch,
        tuple(
            CommittedOffset(topic.name, asked.partition_index, asked.committed_offset)
            for topic in message.topics
            for asked in topic.partitions
        ),
    )


def txn_offset_commit_response(message: Any) -> ErrorsView:
    """View a TxnOffsetCommit response."""
    return ErrorsView(0, tuple(_partition_errors(message.topics)))


def _partition_errors(topics: Any) -> Iterator[PartitionError]:
    for topic in topics:
        for given in topic.partitions:
            yield PartitionError(topic.name, None, given.partition_index, given.error_code)


def _or_none(value: int | None) -> int:
    return NONE if value is None else value
