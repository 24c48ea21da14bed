"""How does a puppet listen, so that a real broker takes it for another broker?

One port that is kept until the puppet is closed, one thread per connection, one request after the other as
Kafka answers them. ApiVersions is answered here: with the versions that the puppet's answers can be given in.
"""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fault_injection.cluster.plan import PortReservation
from fault_injection.cluster.relay import Address
from fault_injection.puppets.connection import API_VERSIONS, CLIENT_MESSAGES, Values, response_frame
from fault_injection.wire.codec_schemas import Messages, api_name
from fault_injection.wire.headers import RequestHeader, request_header
from fault_injection.wire.proxy_endpoint import Endpoint

JOIN_TIMEOUT_S = 10.0
UNSUPPORTED_VERSION = 35
_LENGTH = struct.Struct(">i")


class NotServedError(Exception):
    """A puppet got a request that it has no answer for; its connection is closed, as a broker would do."""


@dataclass(frozen=True, slots=True)
class IncomingRequest:
    """A request that came in: its header and kafka-python's message."""

    header: RequestHeader
    message: Any


Answer = Callable[[IncomingRequest], Values]
"""Returns the fields of the answer to a request; runs on the connection's thread."""


class PuppetServer:
    """A port at which requests are answered.

    Args:
        answers: for each api key it serves, what answers.
        messages: the message classes of these apis, beside those of clients.
        host: to listen on.
    """

    def __init__(self, answers: Mapping[int, Answer], messages: Messages, host: str = "127.0.0.1") -> None:
        self._answers = {**answers, API_VERSIONS: self._versions}
        self._messages = {**CLIENT_MESSAGES, **messages}
        self._ports = PortReservation(host)
        self._endpoint = Endpoint((host, self._ports.port()), self._accept)
        self._lock = threading.Lock()
        self._connections: dict[socket.socket, threading.Thread] = {}
        self.failures: list[str] = []

    @property
    def address(self) -> Address:
        """Where it listens, also while it refuses."""
        return self._endpoint.address

    def listen(self) -> None:
        """Accept connections."""
        self._endpoint.listen()

    def refuse(self) -> None:
        """Behave as a dead broker's port: close all connections and refuse new ones, until ``listen``."""
        self._endpoint.refuse()
        with self._lock:
            connections = dict(self._connections)
        for connected in connections:
            with contextlib.suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)
        for thread in connections.values():
            thread.join(JOIN_TIMEOUT_S)

    def close(self) -> None:
        """Stop for good and give the port back."""
        self.refuse()
        self._ports.close()

    def _accept(self, accepted: socket.socket, _host: str) -> None:
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        name = f"puppet-{self.address[1]}"
        thread = threading.Thread(target=self._serve, args=(accepted,), name=name, daemon=True)
        with self._lock:
            self._connections[accepted] = thread
        thread.start()

    def _serve(self, connected: socket.socket) -> None:
        with connected, connected.makefile("rb") as incoming:
            try:
                while (prefix := incoming.read(_LENGTH.size)) and len(prefix) == _LENGTH.size:
                    frame = prefix + incoming.read(*_LENGTH.unpack(prefix))
                    connected.sendall(self._answered(frame))
            except OSError:
                pass
            except Exception as failed:  # noqa: BLE001 - a puppet that fails must say so, not just fall silent
                self.failures.append(f"{type(failed).__name__}: {failed}")
        with self._lock:
            self._connections.pop(connected, None)

    def _answered(self, frame: bytes) -> bytes:
        header = request_header(frame)
        if header.api_key not in self._answers:
            raise NotServedError(f"{api_name(header.api_key)} was asked, which this puppet does not serve")
        message = self._messages[header.api_key]
        if header.api_key == API_VERSIONS and header.api_version > int(message.request.max_version):
            values = self._version_table(UNSUPPORTED_VERSION)
            return response_frame(message, 0, values, header.correlation_id)
        decoded = message.request.decode(frame[_LENGTH.size :], version=header.api_version, header=True)
        values = self._answers[header.api_key](IncomingRequest(header, decoded))
        return response_frame(message, header.api_version, values, header.correlation_id)

    def _versions(self, _asked: IncomingRequest) -> Values:
        return self._version_table(0)

    def _version_table(self, error: int) -> Values:
        newest = {key: int(self._messages[key].request.max_version) for key in self._answers}
        table = [{"api_key": key, "min_version": 0, "max_version": version} for key, version in newest.items()]
        return {"error_code": error, "api_keys": table}
