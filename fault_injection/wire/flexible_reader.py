"""How are the parts of Kafka's flexible encoding read, one after the other?

Sources: KIP-482 (compact types and tagged fields); "Protocol Primitive Types".
"""

import struct
from uuid import UUID

_INT8, _INT32, _INT64 = struct.Struct(">b"), struct.Struct(">i"), struct.Struct(">q")
_MORE = 0x80
_BITS = 0x7F
_VARINT_SHIFT_MAX = 63
_UUID_BYTES = 16


class FlexibleReader:
    """Reads values from ``position`` on; every read moves it.

    Every read raises ValueError or struct.error when the bytes end too early.
    """

    def __init__(self, content: memoryview) -> None:
        self._content = content
        self.position = 0

    def raw(self, size: int) -> memoryview:
        """Return the next bytes as they are."""
        end = self.position + size
        if size < 0 or end > len(self._content):
            raise ValueError(f"{size} bytes at {self.position}, but only {len(self._content)} in all")
        part = self._content[self.position : end]
        self.position = end
        return part

    def int8(self) -> int:
        """Read one byte with its sign."""
        return int(_INT8.unpack(self.raw(1))[0])

    def int32(self) -> int:
        """Read four bytes with their sign."""
        return int(_INT32.unpack(self.raw(4))[0])

    def int64(self) -> int:
        """Read eight bytes with their sign."""
        return int(_INT64.unpack(self.raw(8))[0])

    def uuid(self) -> UUID:
        """Read an id."""
        return UUID(bytes=bytes(self.raw(_UUID_BYTES)))

    def unsigned(self) -> int:
        """Read an unsigned varint. Raises ValueError if it does not end."""
        value = shift = 0
        while shift <= _VARINT_SHIFT_MAX:
            byte = self.raw(1)[0]
            value |= (byte & _BITS) << shift
            if not byte & _MORE:
                return value
            shift += 7
        raise ValueError("a varint without end")

    def varint(self) -> int:
        """Read a varint with its sign (zigzag)."""
        value = self.unsigned()
        return (value >> 1) ^ -(value & 1)

    def text(self) -> str | None:
        """Read a compact string."""
        size = self.unsigned() - 1
        return None if size < 0 else bytes(self.raw(size)).decode("utf-8")

    def int32s(self) -> tuple[int, ...] | None:
        """Read a compact array of four-byte numbers."""
        count = self.unsigned() - 1
        return None if count < 0 else struct.unpack(f">{count}i", self.raw(4 * count))

    def uuids(self) -> tuple[UUID, ...] | None:
        """Read a compact array of ids."""
        count = self.unsigned() - 1
        return None if count < 0 else tuple(self.uuid() for _ in range(count))

    def tagged(self) -> dict[int, "FlexibleReader"]:
        """Read the tagged fields: by tag, a reader of each value."""
        return {self.unsigned(): FlexibleReader(self.raw(self.unsigned())) for _ in range(self.unsigned())}
