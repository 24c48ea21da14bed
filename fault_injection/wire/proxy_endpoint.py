"""How does one listening port of the proxy behave like the port of the node behind it?

While the node lives the port accepts; when it is dead the port is closed, and because it stays reserved the
node comes back under the same address.
"""

import contextlib
import select
import socket
import threading
from collections.abc import Callable

BACKLOG = 1024
_HUNG_UP = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR


class Endpoint:
    """One port that listens or refuses.

    Args:
        address: host and reserved port to listen on.
        on_accepted: called with every accepted socket, on the accepting thread.
    """

    def __init__(self, address: tuple[str, int], on_accepted: Callable[[socket.socket], None]) -> None:
        self.address = address
        self._on_accepted = on_accepted
        self._listener: socket.socket | None = None
        self._thread: threading.Thread | None = None

    def listen(self) -> None:
        """Accept connections; does nothing if it listens already. Raises OSError if the port is taken."""
        if self._listener is not None:
            return
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(self.address)
        listener.listen(BACKLOG)
        self._listener = listener
        name = f"wire-listener-{self.address[1]}"
        self._thread = threading.Thread(target=self._accept_all, args=(listener,), name=name, daemon=True)
        self._thread.start()

    def refuse(self) -> None:
        """Close the port; when this returns nobody is accepted any more."""
        listener, self._listener = self._listener, None
        thread, self._thread = self._thread, None
        if listener is None or thread is None:
            return
        with contextlib.suppress(OSError):  # wakes the accepting thread
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()

    def _accept_all(self, listener: socket.socket) -> None:
        while True:
            try:
                accepted, _ = listener.accept()
            except OSError:
                return
            self._on_accepted(accepted)


def has_hung_up(connection: socket.socket) -> bool:
    """Whether the other end of a connection sends no more, also when bytes of it are still unread."""
    poll = select.poll()
    poll.register(connection, getattr(select, "POLLRDHUP", 0))
    return any(flags & _HUNG_UP for _, flags in poll.poll(0))
