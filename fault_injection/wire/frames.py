"""Where does one Kafka frame end and the next begin?

Theory of operation: a Kafka connection carries frames of a four-byte big-endian length and that many
bytes. ``FrameParser`` owns the memory that bytes are received into: small frames are cut out of a shared
chunk, the rest of a large frame is received straight into its own buffer, so no byte is copied twice. The
buffer of a frame beyond ``BELIEVED_BYTES`` grows with what comes, so a length alone costs no memory. A length
that no frame can have ends framing on the connection: all later bytes come out as ``Unframed``.

Sources: Kafka protocol guide ("Network", "Common Request and Response Structure").
"""

import struct
from dataclasses import dataclass

FRAME_BYTES_MAX = 256 * 1024 * 1024
CHUNK_BYTES = 64 * 1024
BELIEVED_BYTES = 1024 * 1024 + CHUNK_BYTES
GROWTH = 16
LENGTH_BYTES = 4

_LENGTH = struct.Struct(">i")
_NOTHING = memoryview(b"")


@dataclass(frozen=True, slots=True)
class Frame:
    """One whole frame, its length prefix included, as it came."""

    content: bytearray


@dataclass(frozen=True, slots=True)
class Malformed:
    """A length that no frame can have; framing ends here and the bytes follow as ``Unframed``."""

    length: int


@dataclass(frozen=True, slots=True)
class Unframed:
    """Bytes after framing was lost, to be passed on as they are."""

    content: bytes


FrameEvent = Frame | Malformed | Unframed


class FrameParser:
    """Cuts a byte stream into frames; receive into ``writable()``, then report ``received(count)``.

    Invariant: at most one chunk and one unfinished frame are kept, whatever the peer sends; the room for the
    frame is ``BELIEVED_BYTES`` or ``GROWTH`` times what came of it.

    Args:
        frame_bytes_max: the longest believable frame, in bytes without its prefix.
        chunk_bytes: how many bytes are asked for when no large frame is under way.
    """

    def __init__(self, frame_bytes_max: int = FRAME_BYTES_MAX, chunk_bytes: int = CHUNK_BYTES) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._chunk = memoryview(bytearray(chunk_bytes))
        self._prefix = bytearray()
        self._frame: bytearray | None = None
        self._filled = 0
        self._size = 0
        self._is_direct = False
        self._is_lost = False

    @property
    def pending_bytes(self) -> int:
        """How many bytes of an unfinished frame are kept."""
        return len(self._prefix) if self._frame is None else self._filled

    @property
    def begun(self) -> memoryview:
        """Return the bytes so far of a frame that is not complete; empty if there is none."""
        return memoryview(self._frame)[: self._filled] if self._frame is not None else _NOTHING

    def writable(self) -> memoryview:
        """Return the memory for the next bytes: the rest of a large frame, otherwise the chunk."""
        if self._frame is not None and self._size - self._filled >= len(self._chunk):
            self._is_direct = True
            if len(self._frame) == self._filled:
                self._grow(self._frame)
            return memoryview(self._frame)[self._filled :]
        self._is_direct = False
        return self._chunk

    def received(self, count: int) -> list[FrameEvent]:
        """Note ``count`` bytes written to ``writable()`` and return what they completed."""
        if self._is_direct and self._frame is not None:
            self._filled += count
            return self._completed()
        return self._cut(self._chunk[:count])

    def feed(self, content: bytes) -> list[FrameEvent]:
        """Parse bytes that were received elsewhere; for callers without a socket."""
        events: list[FrameEvent] = []
        rest = memoryview(content)
        while rest:
            into = self.writable()
            count = min(len(into), len(rest))
            into[:count] = rest[:count]
            del into  # the buffer grows only while nobody looks at it
            rest = rest[count:]
            events += self.received(count)
        return events

    def _cut(self, rest: memoryview) -> list[FrameEvent]:
        events: list[FrameEvent] = []
        while rest:
            if self._is_lost:
                events.append(Unframed(bytes(rest)))
                break
            if self._frame is None:
                rest = self._take_prefix(rest, events)
            else:
                count = min(self._size - self._filled, len(rest))
                if len(self._frame) - self._filled < count:
                    self._grow(self._frame)
                self._frame[self._filled : self._filled + count] = rest[:count]
                self._filled += count
                rest = rest[count:]
            events += self._completed()
        return events

    def _take_prefix(self, rest: memoryview, events: list[FrameEvent]) -> memoryview:
        count = min(LENGTH_BYTES - len(self._prefix), len(rest))
        self._prefix += rest[:count]
        if len(self._prefix) < LENGTH_BYTES:
            return rest[count:]
        (length,) = _LENGTH.unpack(self._prefix)
        if 0 <= length <= self._frame_bytes_max:
            self._frame = bytearray(LENGTH_BYTES + min(length, BELIEVED_BYTES))
            self._frame[:LENGTH_BYTES] = self._prefix
            self._filled, self._size = LENGTH_BYTES, LENGTH_BYTES + length
        else:
            self._is_lost = True
            events += [Malformed(length), Unframed(bytes(self._prefix))]
        self._prefix = bytearray()
        return rest[count:]

    def _grow(self, frame: bytearray) -> None:
        self._frame = bytearray(min(self._size, GROWTH * len(frame)))
        self._frame[: len(frame)] = frame

    def _completed(self) -> list[FrameEvent]:
        if self._frame is None or self._filled < self._size:
            return []
        frame, self._frame, self._filled = self._frame, None, 0
        return [Frame(frame)]


# How do bytes pass that are no Kafka frames?
#
# Brokers speak to ZooKeeper in a protocol of its own, which the tester does not look into. Its bytes come out in
# pieces as they came, each at most one chunk.


class UnframedParser:
    """Gives every byte on as it came; receive into ``writable()``, then report ``received(count)``."""

    pending_bytes = 0
    begun = memoryview(b"")

    def __init__(self) -> None:
        self._chunk = memoryview(bytearray(CHUNK_BYTES))

    def writable(self) -> memoryview:
        """Return the memory for the next bytes."""
        return self._chunk

    def received(self, count: int) -> list[FrameEvent]:
        """Return the bytes that came."""
        return [Unframed(bytes(self._chunk[:count]))]
