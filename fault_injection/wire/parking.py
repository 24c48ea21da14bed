"""How does a held frame wait for its word without losing sight of its connection?

The thread that moves a connection's frames waits here for whichever comes first: the word what to do with
the frame, the end of its delay, or the end of the connection it came from.
"""

import os
import select
import socket
from typing import Literal

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
