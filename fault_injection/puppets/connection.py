"""How does a puppet ask a real broker, in a version that the broker speaks?

One socket, connected when first needed, one question at a time, every read with a time limit. A connection that
failed, or that the broker has closed between two questions, is opened again for the next one: a broker closes what is
idle for ``connections.max.idle.ms``. Nothing is asked twice, since a puppet's questions change things.
"""

import itertools
import select
import socket
import struct
from typing import Any

from fault_injection.cluster.relay import Address
from fault_injection.puppets.schema import API_VERSIONS, CLIENT_MESSAGES, Values, request_frame
from fault_injection.wire.codec_schemas import Messages

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

    def ask(self, api_key: int, values: Values, version: int | None = None) -> Any:  # noqa: ANN401 - kafka-python is untyped
        """Send a request, in the newest common version unless one is chosen, and give the decoded answer.

        Raises:
            PuppetError: the broker closed the connection, or did not answer in time.
        """
        asked = self.newest_version(api_key) if version is None else version
        message, correlation_id = self._messages[api_key], next(self._correlation_ids)
        frame = request_frame(message, asked, values, correlation_id, self._client_id)
        try:
            connected = self._connected()
            connected.sendall(frame)
            (length,) = _LENGTH.unpack(_received(connected, _LENGTH.size))
            body = _received(connected, length)
        except OSError as failed:
            self.close()
            reason = str(failed) or type(failed).__name__
            raise PuppetError(f"{self._named}: no answer to {message.request.name} v{asked}: {reason}") from failed
        return message.response.decode(body, version=asked, header=True)

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
