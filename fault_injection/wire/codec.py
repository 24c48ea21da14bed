"""What does a frame say, and if it cannot be decoded, how is that kept from disturbing the traffic?

``Codec`` decodes a copy; the bytes that travel on are never touched or re-encoded. An api that the
tester does not look into gives None, and so does a version newer than the schemas of an api that says nothing
about a partition; any other frame that does not decode gives None as well and is counted, because a
proxy that fails on a frame would itself be the fault.
"""

# ruff: noqa: ANN401 - kafka-python is untyped

import threading
from collections.abc import Callable
from typing import Any

from fault_injection.wire import codec_controller, codec_transactions
from fault_injection.wire.answers import can_answer, error_answer
from fault_injection.wire.codec_metadata import metadata_records
from fault_injection.wire.codec_schemas import SHIPPED, Message, Messages, api_name, load_schemas
from fault_injection.wire.fetch_reader import read_fetch_response
from fault_injection.wire.headers import Buffer, RequestHeader, request_body_offset, response_body_offset
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.points import FETCH_KEY, METADATA_TOPIC, METADATA_TOPIC_ID, PRODUCE_KEY
from fault_injection.wire.produce_reader import read_produce_request
from fault_injection.wire.record_batches import epoch_runs
from fault_injection.wire.views import (
    NONE,
    AppendedPartition,
    DivergingEpochView,
    EpochEndOffset,
    EpochQuery,
    EpochRequestView,
    EpochResponseView,
    FetchedPartition,
    FetchPartition,
    FetchRequestView,
    FetchResponseView,
    ProduceResponseView,
)

# How do kafka-python's FETCH, OffsetsForLeaderEpoch and Produce messages become views of ours?


def fetch_request(message: Any) -> FetchRequestView:
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


def _asked(topic: Any, asked: Any) -> FetchPartition:
    return FetchPartition(
        topic=topic.topic or None,
        topic_id=topic.topic_id,
        partition=asked.partition,
        fetch_offset=asked.fetch_offset,
        current_leader_epoch=asked.current_leader_epoch,
        last_fetched_epoch=asked.last_fetched_epoch,
        log_start_offset=asked.log_start_offset,
    )


def fetch_response(message: Any) -> FetchResponseView:
    """View a FETCH response."""
    return FetchResponseView(
        error=message.error_code or 0,
        session_id=message.session_id,
        throttle_time_ms=message.throttle_time_ms or 0,
        partitions=tuple(_given(topic, given) for topic in message.responses for given in topic.partitions),
    )


def _given(topic: Any, given: Any) -> FetchedPartition:
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
        diverging_epoch=DivergingEpochView(diverging.epoch, diverging.end_offset) if diverging is not None else None,
        leader_id=leader.leader_id if leader is not None else -1,
        leader_epoch=leader.leader_epoch if leader is not None else -1,
        metadata=metadata_records(given.records or b"") if is_metadata else (),
    )


def epoch_request(message: Any) -> EpochRequestView:
    """View an OffsetsForLeaderEpoch request."""
    return EpochRequestView(
        replica_id=message.replica_id,
        partitions=tuple(
            EpochQuery(topic.topic, asked.partition, asked.leader_epoch, asked.current_leader_epoch)
            for topic in message.topics
            for asked in topic.partitions
        ),
    )


def epoch_response(message: Any) -> EpochResponseView:
    """View an OffsetsForLeaderEpoch response."""
    return EpochResponseView(
        throttle_time_ms=message.throttle_time_ms or 0,
        partitions=tuple(
            EpochEndOffset(topic.topic, given.partition, given.error_code, given.leader_epoch, given.end_offset)
            for topic in message.topics
            for given in topic.partitions
        ),
    )


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


__all__ = ["Codec", "api_name", "load_schemas"]

_REQUESTS: dict[int, Callable[[Any], RequestView]] = {
    1: fetch_request,
    4: codec_controller.leader_and_isr,
    5: codec_controller.stop_replica,
    6: codec_controller.update_metadata,
    7: codec_controller.controlled_shutdown,
    22: codec_transactions.init_producer_id,
    23: epoch_request,
    24: codec_transactions.add_partitions,
    25: codec_transactions.add_offsets,
    26: codec_transactions.end_txn,
    27: codec_transactions.write_txn_markers,
    28: codec_transactions.txn_offset_commit,
    56: codec_controller.alter_partition,
    62: codec_controller.broker_registration,
    63: codec_controller.broker_heartbeat,
}
_RESPONSES: dict[int, Callable[[Any], ResponseView]] = {
    0: produce_response,
    4: codec_controller.leader_and_isr_response,
    5: codec_controller.stop_replica_response,
    6: codec_controller.plain_response,
    7: codec_controller.plain_response,
    22: codec_transactions.producer_epoch_response,
    23: epoch_response,
    24: codec_transactions.add_partitions_response,
    25: codec_controller.plain_response,
    26: codec_transactions.producer_epoch_response,
    27: codec_transactions.write_txn_markers_response,
    28: codec_transactions.txn_offset_commit_response,
    56: codec_controller.alter_partition_response,
    62: codec_controller.broker_registration_response,
    63: codec_controller.broker_heartbeat_response,
}

_MAY_BE_NEWER = frozenset({7, 62, 63})  # ControlledShutdown, BrokerRegistration, BrokerHeartbeat


class Codec:
    """Decodes the requests and responses the tester looks into.

    Args:
        messages: what ``load_schemas`` gave; without it only FETCH, OffsetsForLeaderEpoch and Produce decode.
        reads_ids: whether record ids are told of Produce requests and of answers to FETCH, by batch (``IdBatch``).
    """

    def __init__(self, messages: Messages = SHIPPED, *, reads_ids: bool = False) -> None:
        self._messages = messages
        self._reads_ids = reads_ids
        self._undecodable = 0
        self._counting = threading.Lock()  # connections have threads of their own

    @property
    def undecodable(self) -> int:
        """Frames so far that should have decoded and did not."""
        return self._undecodable

    def note_undecodable(self) -> None:
        """Count a frame that should have decoded and did not."""
        with self._counting:
            self._undecodable += 1

    def request(self, header: RequestHeader, frame: Buffer) -> RequestView | None:
        """Decode a whole request frame, length prefix included."""
        message = self._messages.get(header.api_key)
        version = self._known_version(message, header.api_key, header.api_version)
        if message is None or version is None:
            return None
        try:
            is_flexible = message.request.flexible_version_q(version)
            offset = request_body_offset(frame, header, is_flexible=is_flexible)
            if header.api_key == PRODUCE_KEY:
                return read_produce_request(frame, offset, version, reads_ids=self._reads_ids)
            decoded = message.request.decode(memoryview(frame)[offset:], version=version)
            return _REQUESTS[header.api_key](decoded)
        except Exception:  # noqa: BLE001 - whatever a foreign decoder raises must not reach the traffic
            self.note_undecodable()
            return None

    def response(self, api_key: int, api_version: int, frame: Buffer) -> ResponseView | None:
        """Decode a whole response frame; api and version are those of its request."""
        message = self._messages.get(api_key)
        version = self._known_version(message, api_key, api_version)
        if message is None or version is None:
            return None
        try:
            if api_key == FETCH_KEY:
                is_flexible = message.response.flexible_version_q(version)
                offset = response_body_offset(frame, api_key, is_flexible=is_flexible)
                return read_fetch_response(frame, offset, version, reads_ids=self._reads_ids)
            return _RESPONSES[api_key](self._decoded_response(message, api_key, version, frame))
        except Exception:  # noqa: BLE001 - whatever a foreign decoder raises must not reach the traffic
            self.note_undecodable()
            return None

    def error_answer(self, header: RequestHeader, view: RequestView | None, error: int) -> bytes:
        """Return the frame that answers a request with an error.

        Raises:
            CannotAnswerError: no such answer is known.
        """
        return error_answer(self._messages, header, view, error)

    def can_answer(self, api_key: int) -> bool:
        """Return whether requests of an api can be answered with an error."""
        return can_answer(api_key) and api_key in self._messages

    def _known_version(self, message: Message | None, api_key: int, api_version: int) -> int | None:
        """Return the version to decode as; one that is newer than the schemas counts as undecodable if it matters."""
        known = message.known_version(api_version) if message is not None else None
        if message is not None and known is None and api_key not in _MAY_BE_NEWER:
            self.note_undecodable()
        return known

    @staticmethod
    def _decoded_response(message: Message, api_key: int, api_version: int, frame: Buffer) -> Any:
        is_flexible = message.response.flexible_version_q(api_version)
        offset = response_body_offset(frame, api_key, is_flexible=is_flexible)
        return message.response.decode(memoryview(frame)[offset:], version=api_version)
