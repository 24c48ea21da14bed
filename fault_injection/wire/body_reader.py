"""How is the body of a message read without a copy of the records in it?

What the messages that are read by hand have in common: lengths, text and tagged fields, in the old form and in the
flexible one.

Sources: Kafka protocol guide ("Protocol Primitive Types"); KIP-482 (tagged fields).
"""

import struct

INT16, INT32 = struct.Struct(">h"), struct.Struct(">i")

_CONTINUATION = 0x80
_VARINT_SHIFTS = range(0, 35, 7)


class BodyReader:
    """Walks through one body; ``_at`` is where it is.

    Args:
        frame: the whole frame.
        at: where the body begins.
        is_flexible: whether its version has tagged fields and compact lengths.
    """

    def __init__(self, frame: memoryview, at: int, *, is_flexible: bool) -> None:
        self._frame = frame
        self._at = at
        self._is_flexible = is_flexible

    def _text(self) -> str | None:
        """Return text, None if it is null."""
        if self._is_flexible:
            length = self._varint() - 1
        else:
            (length,) = INT16.unpack_from(self._frame, self._at)
            self._at += INT16.size
        return str(self._taken(length), "utf-8") if length >= 0 else None

    def _skip_tags(self) -> None:
        if self._is_flexible:
            for _ in range(self._varint()):
                self._varint()
                self._taken(self._varint())

    def _count(self) -> int:
        return max(self._length(), 0)

    def _length(self) -> int:
        return self._varint() - 1 if self._is_flexible else self._int32()

    def _int32(self) -> int:
        (number,) = INT32.unpack_from(self._frame, self._at)
        self._at += INT32.size
        return int(number)

    def _varint(self) -> int:
        value = 0
        for shift in _VARINT_SHIFTS:
            byte = self._frame[self._at]
            self._at += 1
            value |= (byte & ~_CONTINUATION) << shift
            if byte < _CONTINUATION:
                return value
        raise ValueError("a varint of more than five bytes")

    def _taken(self, length: int) -> memoryview:
        end = self._at + length
        if length < 0 or end > len(self._frame):
            raise ValueError(f"{length} bytes at {self._at} of a frame of {len(self._frame)}")
        taken = self._frame[self._at : end]
        self._at = end
        return taken
