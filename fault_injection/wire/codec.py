"""What does a frame say, and if it cannot be decoded, how is that kept from disturbing the traffic?

``Codec`` decodes a copy; the bytes that travel on are never touched or re-encoded. An api that the
tester does not look into gives None, and so does a version newer than the schemas of an api that says nothing
about a partition; any other frame that does not decode gives None as well and is counted, because a
proxy that fails on a frame would itself be the fault.
"""

import threading
from collections.abc import Callable
from typing import Any

from fault_injection.wire import codec_client, codec_controller, codec_replication
from fault_injection.wire.answers import can_answer, error_answer
from fault_injection.wire.codec_schemas import SHIPPED, Message, Messages, api_name, load_schemas
from fault_injection.wire.fetch_reader import read_fetch_response
from fault_injection.wire.headers import Buffer, RequestHeader, request_body_offset, response_body_offset
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.points import FETCH_KEY

__all__ = ["Codec", "api_name", "load_schemas"]

_REQUESTS: dict[int, Callable[[Any], RequestView]] = {
    0: codec_client.produce_request,
    1: codec_replication.fetch_request,
    4: codec_controller.leader_and_isr,
    5: codec_controller.stop_replica,
    6: codec_controller.update_metadata,
    7: codec_controller.controlled_shutdown,
    23: codec_replication.epoch_request,
    56: codec_controller.alter_partition,
    62: codec_controller.broker_registration,
    63: codec_controller.broker_heartbeat,
}
_RESPONSES: dict[int, Callable[[Any], ResponseView]] = {
    0: codec_client.produce_response,
    4: codec_controller.leader_and_isr_response,
    5: codec_controller.stop_replica_response,
    6: codec_controller.plain_response,
    7: codec_controller.plain_response,
    23: codec_replication.epoch_response,
    56: codec_controller.alter_partition_response,
    62: codec_controller.broker_registration_response,
    63: codec_controller.broker_heartbeat_response,
}

_MAY_BE_NEWER = frozenset({7, 62, 63})  # ControlledShutdown, BrokerRegistration, BrokerHeartbeat


class Codec:
    """Decodes the requests and responses the tester looks into.

    Args:
        messages: what ``load_schemas`` gave; without it only FETCH and OffsetsForLeaderEpoch decode.
    """

    def __init__(self, messages: Messages = SHIPPED) -> None:
        self._messages = messages
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
                return read_fetch_response(frame, offset, version)
            return _RESPONSES[api_key](self._decoded_response(message, api_key, version, frame))
        except Exception:  # noqa: BLE001 - whatever a foreign decoder raises must not reach the traffic
            self.note_undecodable()
            return None

    def error_answer(self, header: RequestHeader, view: RequestView | None, error: int) -> bytes:
        """Give the frame that answers a request with an error.

        Raises:
            CannotAnswerError: no such answer is known.
        """
        return error_answer(self._messages, header, view, error)

    def can_answer(self, api_key: int) -> bool:
        """Whether requests of an api can be answered with an error."""
        return can_answer(api_key) and api_key in self._messages

    def _known_version(self, message: Message | None, api_key: int, api_version: int) -> int | None:
        """Give the version to decode as; one that is newer than the schemas counts as undecodable if it matters."""
        known = message.known_version(api_version) if message is not None else None
        if message is not None and known is None and api_key not in _MAY_BE_NEWER:
            self.note_undecodable()
        return known

    @staticmethod
    def _decoded_response(message: Message, api_key: int, api_version: int, frame: Buffer) -> Any:  # noqa: ANN401
        is_flexible = message.response.flexible_version_q(api_version)
        offset = response_body_offset(frame, api_key, is_flexible=is_flexible)
        return message.response.decode(memoryview(frame)[offset:], version=api_version)
