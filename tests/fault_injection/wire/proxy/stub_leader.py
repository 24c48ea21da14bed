"""What stands where a leader would: a port that answers each FETCH with the next prepared frame."""

import contextlib
import socket
import threading

from fault_injection.cluster.relay import LinkName
from fault_injection.waiting import until
from fault_injection.wire.proxy import GateProxy

LINK = LinkName.replication(1)
DEADLINE_S = 10.0


class Leader:
    """A destination that answers each FETCH with the next prepared frame; not a broker, only its port."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self.listener.getsockname()
        self.received: list[bytes] = []
        self.connections: list[socket.socket] = []
        self.echoes = False
        self._asked_by: socket.socket | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                accepted, _ = self.listener.accept()
                self.connections.append(accepted)
                threading.Thread(target=self._serve, args=(accepted,), daemon=True).start()

    def _serve(self, accepted: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while content := accepted.recv(1 << 16):
                self._asked_by = accepted
                self.received.append(content)
                if self.echoes:
                    accepted.sendall(content)

    def answer(self, frame: bytes) -> None:
        (self._asked_by or self.connections[-1]).sendall(frame)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self._thread.join()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def bytes_received(self) -> bytes:
        return b"".join(self.received)


def received(leader: Leader, expected: bytes) -> None:
    until(lambda: leader.bytes_received() == expected, deadline_s=DEADLINE_S, what="the leader has the bytes")


def held(proxy: GateProxy, name: str) -> None:
    until(lambda: proxy.caught(name), deadline_s=DEADLINE_S, what=f"{name} caught a frame")


def read(connected: socket.socket, count: int) -> bytes:
    content = b""
    while len(content) < count and (more := connected.recv(count - len(content))):
        content += more
    return content


def is_reset(connected: socket.socket) -> bool:
    try:
        connected.recv(1)
    except ConnectionResetError:
        return True
    return False


def follower_address(proxy: GateProxy, leader: Leader) -> tuple[str, int]:
    return proxy.open(LINK, leader.address)
