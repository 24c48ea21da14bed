"""How much of a frame that is still arriving has gone on already?

A large answer that nobody can want goes on as it arrives, as it would without a gate, and is complete at its
receiver no later. Its last piece goes on when the frame is whole and queued to be read.
"""

from collections.abc import Callable

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
        """Whether a part of the frame under way has gone on."""
        return self._gone > 0

    def advance(self, begun: memoryview) -> bool:
        """Send on what has arrived of an unfinished frame; tell whether the connection goes on."""
        if len(begun) - self._gone < PIECE_BYTES_MIN or not (self._gone or self._may_begin(begun)):
            return True
        piece, self._gone = begun[self._gone :], len(begun)
        return self._send(piece)

    def rest(self, frame: bytearray) -> memoryview:
        """Give what is left to send of the frame now that it is whole."""
        gone, self._gone = self._gone, 0
        return memoryview(frame)[gone:]
