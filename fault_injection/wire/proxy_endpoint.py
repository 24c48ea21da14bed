"""How does one listening port of the proxy behave like the port of the node behind it?

While the node lives the port accepts; when it is dead the port is closed, and because it stays reserved the
node comes back under the same address. A connection that cannot be served, for want of sockets or threads, is
turned away; the port goes on.
"""

import contextlib
import errno
import select
import socket
import struct
import threading
from collections.abc import Callable

BACKLOG = 1024
CONNECT_TIMEOUT_S = 10.0
RESET_ON_CLOSE = struct.pack("ii", 1, 0)
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
TURNED_AWAY_S = 0.05
_HUNG_UP = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR


class Endpoint:
    """One port that listens or refuses.

    Args:
        address: host and reserved port to listen on.
        on_accepted: called with every accepted socket and the host that it comes from, on the accepting thread.
        on_failure: told why a connection could not be served.
    """

    def __init__(
        self,
        address: tuple[str, int],
        on_accepted: Callable[[socket.socket, str], None],
        on_failure: Callable[[Exception], None] = lambda _: None,
    ) -> None:
        self.address = address
        self._on_accepted = on_accepted
        self._on_failure = on_failure
        self._is_closed = threading.Event()
        self._listener: socket.socket | None = None
        self._thread: threading.Thread | None = None

    def listen(self) -> None:
        """Accept connections; does nothing if it listens already. Raises OSError if the port is taken."""
        if self._listener is not None:
            return
        with contextlib.ExitStack() as unless_it_listens:
            listener = unless_it_listens.enter_context(socket.socket())
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(self.address)
            listener.listen(BACKLOG)
            unless_it_listens.pop_all()
        self._listener = listener
        self._is_closed.clear()
        name = f"wire-listener-{self.address[1]}"
        self._thread = threading.Thread(target=self._accept_all, args=(listener,), name=name, daemon=True)
        self._thread.start()

    def refuse(self) -> None:
        """Close the port; when this returns nobody is accepted any more."""
        listener, self._listener = self._listener, None
        thread, self._thread = self._thread, None
        if listener is None or thread is None:
            return
        self._is_closed.set()
        with contextlib.suppress(OSError):  # wakes the accepting thread
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()

    def _accept_all(self, listener: socket.socket) -> None:
        while not self._is_closed.is_set():
            try:
                accepted, (host, _) = listener.accept()
            except OSError as error:
                if not self._is_closed.is_set():
                    self._on_failure(error)
                    self._is_closed.wait(TURNED_AWAY_S)  # sockets are given back meanwhile
                continue
            try:
                self._on_accepted(accepted, str(host))
            except Exception as error:  # noqa: BLE001 - the next connection may be served
                accepted.close()
                self._on_failure(error)


def connected_to(address: tuple[str, int], on_failure: Callable[[Exception], None]) -> socket.socket | None:
    """Connect to a node; None if it cannot be reached, which is a failure of the tester only for want of sockets."""
    try:
        upstream = socket.create_connection(address, timeout=CONNECT_TIMEOUT_S)
    except OSError as error:
        if error.errno in EXHAUSTED:
            on_failure(error)
        return None
    upstream.settimeout(None)
    return upstream


def shut(side: socket.socket, *, is_reset: bool, is_stuck: bool) -> None:
    """End a connection: in order, or by a reset when it is closed, and at once if a thread is stuck in a send."""
    with contextlib.suppress(OSError):  # it may be gone already
        if is_reset:
            side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        side.shutdown(socket.SHUT_RD if is_reset and not is_stuck else socket.SHUT_RDWR)


def has_hung_up(connection: socket.socket) -> bool:
    """Return whether the other end of a connection sends no more, also when bytes of it are still unread."""
    if connection.fileno() < 0:  # closed by ourselves
        return True
    poll = select.poll()
    poll.register(connection, getattr(select, "POLLRDHUP", 0))
    return any(flags & _HUNG_UP for _, flags in poll.poll(0))
