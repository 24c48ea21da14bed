"""How much memory does a proxy take, and what does it do without sockets? Run as a program: one question, one JSON.

The proxy is in this process, its peers are in a child, so that the memory measured is the proxy's.
"""

import contextlib
import json
import multiprocessing
import resource
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from fault_injection.cluster.relay import LinkName
from fault_injection.waiting import until
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.wire.frames_of import fetch_request

LINK = LinkName.replication(1)
LARGE = 100 * 1024 * 1024
MANY = 300
PIECE = bytes(1 << 20)
REQUEST = fetch_request(offset=1)


def peak_mb() -> int:
    """Return the most memory since the last call, in MB."""
    status = Path("/proc/self/status").read_text()
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5")
    return peak // 1024


def large_frames(proxy: GateProxy) -> dict[str, int]:
    """Send frames of 100 MB both ways at once, one after the other."""
    with echoing_child() as address, socket.create_connection(proxy.open(LINK, address)) as client:
        peak_mb()
        before = peak_mb()
        exchange(client)
        first = peak_mb()
        for _ in range(3):
            exchange(client)
        return {"before_mb": before, "first_mb": first, "later_mb": peak_mb(), "allowed_mb": 2 * LARGE // 2**20 + 60}


def exchange(client: socket.socket) -> None:
    """Have a large frame echoed; it is sent and received in pieces."""
    child = multiprocessing.get_context("fork").Process(target=send_large, args=(client,))
    child.start()
    left, into = LARGE + 4, bytearray(1 << 20)
    while left:
        left -= client.recv_into(into, min(left, len(into)))
    child.join()


def send_large(client: socket.socket) -> None:
    client.sendall(struct.pack(">i", LARGE))
    for _ in range(LARGE // len(PIECE)):
        client.sendall(PIECE)


def many_connections(proxy: GateProxy) -> dict[str, int]:
    """Open hundreds of connections, use and close them, again and again."""
    with echoing_child() as address:
        relayed = proxy.open(LINK, address)
        peak_mb()
        before = peak_mb()
        wave(relayed)
        first = peak_mb()
        for _ in range(3):
            wave(relayed)
        return {"before_mb": before, "first_mb": first, "later_mb": peak_mb(), "allowed_mb": 200}


def wave(address: tuple[str, int]) -> None:
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(address)) for _ in range(MANY)]
        for client in clients:
            client.sendall(REQUEST * 3)
        for client in clients:
            left = 3 * len(REQUEST)
            while left:
                left -= len(client.recv(left))


def exhausted(proxy: GateProxy) -> dict[str, bool]:
    """Leave the proxy no socket, then give it some again."""
    with echoing_child() as address:
        relayed = proxy.open(LINK, address)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        waiting, begin = client_of_child(relayed)
        used = len(list(Path("/proc/self/fd").iterdir()))
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + 4, hard))
        client = socket.create_connection(relayed)
        begin.send(b"!")
        until(lambda: bool(proxy.failures), deadline_s=20, what="the proxy has no socket left")
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        waiting.terminate()
        waiting.join()
        client.close()
        begin.close()
        wave(relayed)
        return {"failed": bool(proxy.failures), "serves_again": True}


def client_of_child(address: tuple[str, int]) -> tuple[multiprocessing.process.BaseProcess, socket.socket]:
    """Return a process that opens connections when it is told to begin."""
    begin, told = socket.socketpair()
    child = multiprocessing.get_context("fork").Process(target=hold_connections, args=(address, told))
    child.start()
    told.close()
    return child, begin


def hold_connections(address: tuple[str, int], told: socket.socket) -> None:
    told.recv(1)
    held = [socket.create_connection(address) for _ in range(8)]
    deadline = time.monotonic() + 30
    until(lambda: time.monotonic() > deadline or not held, deadline_s=40, what="the end of the test")


@contextlib.contextmanager
def echoing_child() -> Iterator[tuple[str, int]]:
    """Yield the address of a process that echoes whatever it gets on any connection."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    child = multiprocessing.get_context("fork").Process(target=echo_all, args=(listener,))
    child.start()
    address = listener.getsockname()
    listener.close()
    try:
        yield address
    finally:
        child.terminate()
        child.join()


def echo_all(listener: socket.socket) -> None:
    while True:
        accepted, _ = listener.accept()
        threading.Thread(target=echo, args=(accepted,), daemon=True).start()


def echo(accepted: socket.socket) -> None:
    into = bytearray(1 << 20)
    with contextlib.suppress(OSError), accepted:
        while count := accepted.recv_into(into):
            accepted.sendall(memoryview(into)[:count])


QUESTIONS = {"large_frames": large_frames, "many_connections": many_connections, "exhausted": exhausted}


def main(question: str) -> None:
    with GateProxy() as proxy:
        answer = QUESTIONS[question](proxy)
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1])
