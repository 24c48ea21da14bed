"""What does a record batch of the metadata log look like that holds these values?"""

from __future__ import annotations

import struct

BATCH = struct.Struct(">qi i b I h i q q q h i i")
PREFIX_BYTES = 12


def batch(values: list[bytes], *, base_offset: int, attributes: int = 0) -> bytes:
    """Return a batch of short values as a controller writes it; the checksum is not computed."""
    body = b"".join(_record(delta, value) for delta, value in enumerate(values))
    size = BATCH.size - PREFIX_BYTES + len(body)
    head = (base_offset, size, 1, 2, 0, attributes, len(values) - 1, 0, 0, -1, -1, -1, len(values))
    return BATCH.pack(*head) + body


def compact(text: str) -> bytes:
    """Return a short compact string."""
    return bytes([len(text) + 1]) + text.encode()


def _record(delta: int, value: bytes) -> bytes:
    content = bytes([0, 0, delta * 2, 1, len(value) * 2]) + value + b"\0"
    return bytes([len(content) * 2]) + content
