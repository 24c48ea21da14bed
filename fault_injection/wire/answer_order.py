"""When may an answer that the gate makes go, so that the answers of a connection keep the order of its requests?

A broker answers the requests of a connection in their order, and clients rely on it. A request that the gate
answers never reaches the broker, while requests before it may still wait there. So its answer waits until each
of those has had its end: passed on, dropped, or answered otherwise. Later requests wait behind it, as they do in a
broker. Produce requests with acks=0 have no answer and are not waited for.
"""

import os
import select
import socket
import threading
from collections.abc import Callable
from typing import Literal


class AnswerOrder:
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


# How does a held frame wait for its word without losing sight of its connection?
#
# The thread that moves a connection's frames waits here for whichever comes first: the word what to do with
# the frame, the end of its delay, or the end of the connection it came from.


Word = Literal["forward", "drop", "close", "answer", "abort"]

_HUNG_UP = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR


class ParkingSpace:
    """Where one held frame waits. The word is given once; whoever waits closes the space.

    Attributes:
        word: the word that was given.
        error: Kafka's error code to answer with, if that is the word.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self.word: Word | None = None
        self.error: int | None = None

    def tell(self, word: Word, error: int | None = None) -> None:
        """Give the word. Must not be called after ``close``."""
        self.word, self.error = word, error
        os.write(self._write, b"!")

    def wait(self, source: socket.socket, timeout_ms: int | None) -> Word | None:
        """Wait for the word and give it: abort if the source hung up, None if the time passed."""
        poll = select.poll()
        poll.register(self._read, select.POLLIN)
        poll.register(source, getattr(select, "POLLRDHUP", 0))
        ready = dict(poll.poll(timeout_ms))
        if self._read in ready:
            return self.word
        return "abort" if any(flags & _HUNG_UP for flags in ready.values()) else None

    def close(self) -> None:
        """Give the space back."""
        os.close(self._read)
        os.close(self._write)


# How much of a frame that is still arriving has gone on already?
#
# A large answer that nobody can want goes on as it arrives, as it would without a gate, and is complete at its
# receiver no later. Its last piece goes on when the frame is whole and queued to be read.


PIECE_BYTES_MIN = 16 * 1024
"""Fewer bytes are not worth a piece of their own: each wakes the receiver once."""


class CutThrough:
    """The frame under way on one direction of a connection; used by the thread that moves it.

    Args:
        may_begin: says of the first bytes of a frame whether they may go on.
        send: sends bytes on; tells whether the connection goes on.
    """

    def __init__(self, may_begin: Callable[[memoryview], bool], send: Callable[[memoryview], bool]) -> None:
        self._may_begin = may_begin
        self._send = send
        self._gone = 0

    @property
    def has_begun(self) -> bool:
        """Return whether a part of the frame under way has gone on."""
        return self._gone > 0

    def advance(self, begun: memoryview) -> bool:
        """Send on what has arrived of an unfinished frame; tell whether the connection goes on."""
        if len(begun) - self._gone < PIECE_BYTES_MIN or not (self._gone or self._may_begin(begun)):
            return True
        piece, self._gone = begun[self._gone :], len(begun)
        return self._send(piece)

    def rest(self, frame: bytearray) -> memoryview:
        """Return what is left to send of the frame now that it is whole."""
        gone, self._gone = self._gone, 0
        return memoryview(frame)[gone:]
