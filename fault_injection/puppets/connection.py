"""How does a puppet ask a real broker, in a version that the broker speaks?

One socket, connected when first needed, one question at a time, every read with a time limit. A connection that
failed, or that the broker has closed between two questions, is opened again for the next one: a broker closes what is
idle for ``connections.max.idle.ms``. Nothing is asked twice, since a puppet's questions change things.
"""
# ruff: noqa: ANN401 - kafka-python is untyped

import itertools
import select
import socket
import struct
import warnings
from collections.abc import Mapping
from typing import Any

from fault_injection.cluster.relay import Address
from fault_injection.wire.codec_schemas import SHIPPED, Message, Messages

# How is a message of a chosen version written down, when each version has other fields?
#
# Messages are given as nested plain values with the names that kafka-python derives from Kafka's schemas. What
# a version does not have is left out, so that one description serves all versions of an api.


with warnings.catch_warnings():
    # kafka-python reads its own schemas through a deprecated function of importlib.resources.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.protocol.consumer.offsets import ListOffsetsRequest, ListOffsetsResponse
    from kafka.protocol.metadata import ApiVersionsRequest, ApiVersionsResponse


PRODUCE, FETCH, LIST_OFFSETS = 0, 1, 2
LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA = 4, 5, 6
API_VERSIONS, OFFSETS_FOR_LEADER_EPOCH, WRITE_TXN_MARKERS, ALTER_PARTITION = 18, 23, 27, 56

CLIENT_MESSAGES: Mapping[int, Message] = {
    **SHIPPED,
    LIST_OFFSETS: Message(ListOffsetsRequest, ListOffsetsResponse),
    API_VERSIONS: Message(ApiVersionsRequest, ApiVersionsResponse),
}
"""The messages that kafka-python ships and puppets speak, by api key."""

NO_TAGGED_FIELDS = b"\0"

Values = Mapping[str, Any]


def built(message_type: Any, version: int, values: Values) -> Any:
    """Build a message or a part of one, without the fields that the version does not have.

    Raises:
        KeyError: no version has such a field.
    """
    fields = {}
    for name, value in values.items():
        field = message_type.fields[name]
        if field.for_version_q(version):
            fields[name] = _part(field, version, value)
    return message_type(version=version, **fields)


def _part(field: Any, version: int, value: Any) -> Any:
    if value is None:
        return None
    if field.is_struct_array():
        return [built(field.data_class, version, item) for item in value]
    return built(field.data_class, version, value) if field.is_struct() else value


def request_frame(message: Message, version: int, values: Values, correlation_id: int, client_id: str) -> bytes:
    """Encode a whole request frame, length prefix and header included.

    The header is written here: kafka-python cannot for requests that have a field named ``type``.
    """
    name = client_id.encode()
    start = struct.pack(f">hhih{len(name)}s", int(message.request.API_KEY), version, correlation_id, len(name), name)
    return _framed(start, message.request, version, values)


def response_frame(message: Message, version: int, values: Values, correlation_id: int) -> bytes:
    """Encode a whole response frame, length prefix and header included; that of ApiVersions is never flexible."""
    start = struct.pack(">i", correlation_id)
    return _framed(start, message.response, version, values)


def _framed(start: bytes, message_type: Any, version: int, values: Values) -> bytes:
    has_tags = message_type.flexible_version_q(version) and message_type.name != "ApiVersionsResponse"
    body = bytes(built(message_type, version, values).encode(version=version))
    content = start + (NO_TAGGED_FIELDS if has_tags else b"") + body
    return struct.pack(">i", len(content)) + content


TIMEOUT_S = 15.0
_LENGTH = struct.Struct(">i")


class PuppetError(Exception):
    """A puppet cannot do what it was asked to: the broker does not answer, or does not speak such a request."""


class PuppetConnection:
    """Asks one broker, under a client id of choice.

    Args:
        address: of one of its listeners.
        client_id: how the puppet names itself.
        messages: the requests it may send beside those of clients, by api key.
        timeout_s: seconds for connecting and for each part of an answer.
    """

    def __init__(
        self, address: Address, client_id: str, messages: Messages = CLIENT_MESSAGES, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._address, self._client_id, self._timeout_s = address, client_id, timeout_s
        self._messages = {**CLIENT_MESSAGES, **messages}
        self._socket: socket.socket | None = None
        self._spoken: dict[int, tuple[int, int]] | None = None
        self._correlation_ids = itertools.count(1)

    def newest_version(self, api_key: int) -> int:
        """Return the newest version of a request that both the broker and the tester speak.

        Raises:
            PuppetError: there is none, or the broker does not answer.
        """
        if self._spoken is None:
            answer = self.ask(API_VERSIONS, {}, version=0)
            self._spoken = {spoken.api_key: (spoken.min_version, spoken.max_version) for spoken in answer.api_keys}
        oldest, newest = self._spoken.get(api_key, (0, -1))
        version = min(newest, int(self._messages[api_key].request.max_version))
        if version < oldest:
            name = self._messages[api_key].request.name
            raise PuppetError(f"{self._named} speaks versions {oldest} to {newest} of {name}: none that the tester has")
        return version

    def ask(self, api_key: int, values: Values, version: int | None = None) -> Any:
        """Send a request, in the newest common version unless one is chosen, and return the decoded answer.

        Raises:
            PuppetError: the broker closed the connection, or did not answer in time.
        """
        asked = self.newest_version(api_key) if version is None else version
        message = self._messages[api_key]
        frame = request_frame(message, asked, values, next(self._correlation_ids), self._client_id)
        try:
            self._connected().sendall(frame)
        except OSError as failed:
            raise self._unanswered(message, asked, failed) from failed
        return self.answer(api_key, asked)

    def send(self, frame: bytes) -> None:
        """Send a request frame, and wait for nothing; ``answer`` must follow before the next one.

        Raises:
            PuppetError: the broker closed the connection.
        """
        try:
            self._connected().sendall(frame)
        except OSError as failed:
            self.close()
            raise PuppetError(f"{self._named} takes no request: {failed}") from failed

    def answer(self, api_key: int, version: int) -> Any:
        """Wait for the answer to the request that was sent, and return it decoded.

        Raises:
            PuppetError: the broker closed the connection, or did not answer in time.
        """
        message = self._messages[api_key]
        try:
            connected = self._socket
            if connected is None:
                raise ConnectionResetError("closed before the answer was asked for")
            (length,) = _LENGTH.unpack(_received(connected, _LENGTH.size))
            body = _received(connected, length)
        except OSError as failed:
            raise self._unanswered(message, version, failed) from failed
        return message.response.decode(body, version=version, header=True)

    def _unanswered(self, message: Message, version: int, failed: OSError) -> PuppetError:
        self.close()
        reason = str(failed) or type(failed).__name__
        return PuppetError(f"{self._named}: no answer to {message.request.name} v{version}: {reason}")

    def close(self) -> None:
        """Close the connection; the next question opens a new one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    @property
    def _named(self) -> str:
        return f"the broker at {self._address[0]}:{self._address[1]}"

    def _connected(self) -> socket.socket:
        if self._socket is not None and _has_ended(self._socket):
            self.close()
        if self._socket is None:
            self._socket = socket.create_connection(self._address, self._timeout_s)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._socket


def _has_ended(idle: socket.socket) -> bool:
    """Return whether the other side has closed a connection on which no answer is awaited: nothing else can be read."""
    readable = select.poll()
    readable.register(idle, select.POLLIN)
    return bool(readable.poll(0))


def _received(connected: socket.socket, length: int) -> bytes:
    received = bytearray()
    while len(received) < length:
        part = connected.recv(length - len(received))
        if not part:
            raise ConnectionResetError(f"closed after {len(received)} of {length} bytes")
        received += part
    return bytes(received)
