"""A port that a node would listen on, and what a test does with the connections through the proxy."""

import contextlib
import socket
import threading
import time

from fault_injection.waiting import until

DEADLINE_S = 10.0


class StubNode:
    """A destination: it keeps what it receives for each connection and sends what it is told to."""

    def __init__(self, *, echoes: bool = False) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.address: tuple[str, int] = self.listener.getsockname()
        self.echoes = echoes
        self.connections: list[socket.socket] = []
        self.received: dict[socket.socket, bytearray] = {}
        self.ended: set[socket.socket] = set()
        self.counts_only = False
        self.count = 0
        self._threads = [threading.Thread(target=self._accept_all, daemon=True)]
        self._threads[0].start()

    def _accept_all(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                accepted, _ = self.listener.accept()
                self.received[accepted] = bytearray()
                self.connections.append(accepted)
                self._threads.append(threading.Thread(target=self._serve, args=(accepted,), daemon=True))
                self._threads[-1].start()

    def _serve(self, accepted: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while content := accepted.recv(1 << 16):
                self.count += len(content)
                if not self.counts_only:
                    self.received[accepted] += content
                if self.echoes:
                    accepted.sendall(content)
        self.ended.add(accepted)

    @property
    def all_received(self) -> bytes:
        return b"".join(bytes(self.received[connection]) for connection in self.connections)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for connection in self.connections:
            connection.close()


def connected(address: tuple[str, int]) -> socket.socket:
    return socket.create_connection(address, timeout=DEADLINE_S)


def await_received(node: StubNode, expected: bytes) -> None:
    until(lambda: node.all_received == expected, deadline_s=DEADLINE_S, what=f"{len(expected)} bytes have come")


def read(connection: socket.socket, count: int) -> bytes:
    content = bytearray()
    while len(content) < count and (more := connection.recv(count - len(content))):
        content += more
    return bytes(content)


def is_silent(connection: socket.socket, for_s: float = 0.15) -> bool:
    """Return whether neither a byte nor an end comes for a while."""
    connection.settimeout(for_s)
    try:
        connection.recv(1)
    except TimeoutError:
        return True
    finally:
        connection.settimeout(DEADLINE_S)
    return False


def is_reset(connection: socket.socket) -> bool:
    try:
        connection.recv(1)
    except ConnectionResetError:
        return True
    return False


def seconds_of_round_trip(connection: socket.socket, frame: bytes) -> float:
    begun = time.monotonic()
    connection.sendall(frame)
    assert read(connection, len(frame)) == frame
    return time.monotonic() - begun
