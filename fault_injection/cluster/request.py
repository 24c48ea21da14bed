"""How is one broker asked one question, on a connection of its own?"""

import socket
import struct
from typing import Any

_LENGTH = struct.Struct(">i")


def ask(address: str, request: Any, response_class: Any, timeout_s: float) -> Any:  # noqa: ANN401 - untyped library
    """Send one kafka-python request to a broker and decode the answer.

    Args:
        address: ``host:port`` of a listener.
        request: a request with its version set.
        response_class: the class of the answer.
        timeout_s: seconds for connecting, and again for each part of the answer.

    Raises:
        OSError: the broker does not answer.
    """
    host, port = address.rsplit(":", 1)
    request.with_header(correlation_id=1, client_id="kafka-conformance")
    with socket.create_connection((host, int(port)), timeout=timeout_s) as connection:
        connection.sendall(request.encode(header=True, framed=True))
        length = _LENGTH.unpack(_received(connection, _LENGTH.size))[0]
        body = _received(connection, length)
    return response_class.decode(body, version=request.API_VERSION, header=True)


def _received(connection: socket.socket, length: int) -> bytes:
    parts = b""
    while len(parts) < length:
        part = connection.recv(length - len(parts))
        if not part:
            raise ConnectionResetError(f"closed after {len(parts)} of {length} bytes")
        parts += part
    return parts
