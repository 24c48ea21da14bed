"""How does a probe ask one broker one question and get the answer to it?

One plain socket per broker, kept open between probes. The versions a broker speaks are asked once per
connection. When the connection turns out to be dead, because its broker was restarted since, the question
is asked once more on a new one; probes change nothing, so asking twice is harmless.
"""

import itertools
import socket
import struct
from types import TracebackType
from typing import Any, Self

from conformance.error_names import error_name
from conformance.probes.errors import ProbeError
from conformance.probes.messages import ApiVersionsRequest, ApiVersionsResponse

CLIENT_ID = "kafka-conformance-probe"
TIMEOUT_S_DEFAULT = 5.0
API_VERSIONS_VERSION = 0
FRAME_BYTES_MAX = 64 * 1024 * 1024
_LENGTH = struct.Struct(">i")


class BrokerConnection:
    """Asks one broker; connects when first needed and again after the broker was restarted."""

    def __init__(self, address: str, timeout_s: float = TIMEOUT_S_DEFAULT) -> None:
        self.address = address
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None
        self._versions: dict[int, tuple[int, int]] = {}
        self._correlation_ids = itertools.count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def version_of(self, request: Any, newest: int, oldest: int = 0) -> int | None:  # noqa: ANN401 - untyped
        """Give the newest version of a request, within bounds, that the broker speaks; None if there is none.

        Raises:
            ProbeError: the broker does not answer.
        """
        self._connected()
        versions = self._versions.get(request.API_KEY)
        if versions is None:
            return None
        version = min(versions[1], newest)
        return version if version >= max(versions[0], oldest) else None

    def ask(self, request: Any, response: Any, version: int) -> Any:  # noqa: ANN401 - kafka-python is untyped
        """Send a request and give the decoded response.

        Raises:
            ProbeError: the broker does not answer in time, or the connection fails twice.
        """
        is_fresh = self._socket is None
        try:
            return self._exchange(self._connected(), request, response, version)
        except OSError as failed:
            self.close()
            if is_fresh or isinstance(failed, TimeoutError):
                raise self._unanswered(failed) from failed
        try:
            return self._exchange(self._connected(), request, response, version)
        except OSError as failed:
            self.close()
            raise self._unanswered(failed) from failed

    def close(self) -> None:
        """Close the connection; the next question opens a new one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connected(self) -> socket.socket:
        if self._socket is None:
            host, _, port = self.address.rpartition(":")
            try:
                self._socket = socket.create_connection((host, int(port)), self._timeout_s)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._versions = self._spoken_versions(self._socket)
            except OSError as failed:
                self.close()
                raise self._unanswered(failed) from failed
        return self._socket

    def _spoken_versions(self, connected: socket.socket) -> dict[int, tuple[int, int]]:
        answer = self._exchange(connected, ApiVersionsRequest(), ApiVersionsResponse, API_VERSIONS_VERSION)
        if answer.error_code:
            name = error_name(answer.error_code)
            raise ProbeError(self.address, f"ApiVersions was answered with {name}", name)
        return {key.api_key: (key.min_version, key.max_version) for key in answer.api_keys}

    def _exchange(self, connected: socket.socket, request: Any, response: Any, version: int) -> Any:  # noqa: ANN401
        correlation_id = next(self._correlation_ids)
        request.API_VERSION = version
        request.with_header(correlation_id=correlation_id, client_id=CLIENT_ID)
        connected.sendall(request.encode(version=version, header=True, framed=True))
        frame = self._frame(connected)
        try:
            answer = response.decode(frame, version=version, header=True)
        except (ValueError, IndexError, struct.error) as malformed:
            self.close()
            raise ProbeError(self.address, f"{len(frame)} bytes are no {response.name} v{version}") from malformed
        if answer.header.correlation_id != correlation_id:
            raise ConnectionError(f"answer {answer.header.correlation_id} to question {correlation_id}")
        return answer

    def _frame(self, connected: socket.socket) -> bytes:
        (length,) = _LENGTH.unpack(_received(connected, _LENGTH.size))
        if not 0 < length <= FRAME_BYTES_MAX:
            raise ConnectionError(f"a frame of {length} bytes")
        return _received(connected, length)

    def _unanswered(self, failed: OSError) -> ProbeError:
        return ProbeError(self.address, f"no answer: {str(failed) or type(failed).__name__}")


def _received(connected: socket.socket, length: int) -> bytes:
    received = bytearray(length)
    view, position = memoryview(received), 0
    while position < length:
        count = connected.recv_into(view[position:])
        if count == 0:
            raise ConnectionError("the broker closed the connection")
        position += count
    return bytes(received)
