"""When may an answer that the gate makes go, so that the answers of a connection keep the order of its requests?

A broker answers the requests of a connection in their order, and clients rely on it. A request that the gate
answers never reaches the broker, while requests before it may still wait there. So its answer waits until each
of those has had its end: passed on, dropped, or answered otherwise. Later requests wait behind it, as they do in a
broker. Produce requests with acks=0 have no answer and are not waited for.
"""

import socket
import threading
from collections.abc import Callable

from fault_injection.wire.parking import ParkingSpace


class Turns:
    """Tells the thread of the requests of one connection when the thread of its answers has nothing to do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_busy = False
        self._space: ParkingSpace | None = None

    def begin(self) -> None:
        """Take note that answers came."""
        self._is_busy = True

    def end(self) -> None:
        """Take note that these answers have had their end."""
        self._is_busy = False
        if self._space is not None:  # seen by either thread: one sets it before it looks, the other looks after
            with self._lock:
                if self._space is not None:
                    self._space.tell("forward")
                    self._space = None

    def wait(self, client: socket.socket, is_answered: Callable[[], bool]) -> bool:
        """Wait until every request let through so far is answered; tell whether the client is still there.

        Args:
            client: whose end ends the wait.
            is_answered: whether no request let through waits for its answer.
        """
        is_there = True
        while is_there:
            space = self._space = ParkingSpace()
            try:
                if is_answered() and not self._is_busy:
                    return True
                is_there = space.wait(client, None) == "forward"
            finally:
                with self._lock:
                    self._space = None
                space.close()
        return False
