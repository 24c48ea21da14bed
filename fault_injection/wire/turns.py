"""When may an answer that the gate makes go, so that the answers of a connection keep the order of its requests?

A broker answers the requests of a connection in their order, and clients rely on it. A request that the gate
answers never reaches the broker, while requests before it may still wait there. So its answer waits until each
of those has had its end: passed on, dropped, or answered otherwise. Later requests wait behind it, as they do in a
broker. Produce requests with acks=0 have no answer and are not waited for.
"""

import socket
import threading

from fault_injection.wire.gate_armed import expects_answer
from fault_injection.wire.parking import ParkingSpace
from fault_injection.wire.passage import Passage


class Turns:
    """Counts the requests of one connection that are still to be answered; used by both of its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._unanswered = 0
        self._space: ParkingSpace | None = None

    def passes(self, passage: Passage) -> None:
        """Take note that a frame is let through; only requests count."""
        if passage.direction == "request" and (passage.request is None or expects_answer(passage.request)):
            with self._lock:
                self._unanswered += 1

    def ended(self, passage: Passage) -> None:
        """Take note that a frame has had its end; only answers of the destination count."""
        if passage.direction == "request" or passage.is_fabricated:
            return
        with self._lock:
            self._unanswered = max(0, self._unanswered - 1)
            if self._unanswered == 0 and self._space is not None:
                self._space.tell("forward")
                self._space = None

    def wait(self, client: socket.socket) -> bool:
        """Wait until every request let through so far is answered; tell whether the client is still there."""
        with self._lock:
            if self._unanswered == 0:
                return True
            space = self._space = ParkingSpace()
        word = space.wait(client, None)
        with self._lock:
            self._space = None
        space.close()
        return word == "forward"
