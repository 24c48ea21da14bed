"""What lines does a wire trace have, compressed or not? They are read one after the other, a block in memory at a time.

A compressed file is a sequence of blocks of whole lines: a skippable frame of zstd says two lengths, of the block
compressed and of its lines, and a frame of zstd has the lines (``fault_injection.wire.compressed_lines``).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, BinaryIO

from conformance.spark_extra import at_first_use

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa
else:
    pa = at_first_use("pyarrow")

SUFFIX = ".zst"
LAST_BYTES = 4096
HEAD = struct.Struct("<IIII")
SKIPPABLE, LENGTHS_BYTES = 0x184D2A50, 8


def lines_of(path: Path) -> Iterator[bytes]:
    """Yield the lines of a trace with their ends, as they are read; of one whose writer was killed those it has whole.

    Raises:
        OSError: it cannot be read.
        ValueError: it is compressed, but not as ours are.
    """
    with path.open("rb") as file:
        if path.suffix != SUFFIX:
            yield from (line for line in file if line.endswith(b"\n"))
            return
        while (head := _head(file)) is not None and len(block := file.read(head[0])) == head[0]:
            yield from _text(block, head[1]).splitlines(keepends=True)


def last_line_of(path: Path) -> bytes:
    """Return the last line of a trace without its end; nothing if there is none.

    Raises:
        OSError: it cannot be read.
        ValueError: it is compressed, but not as ours are.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        return _last_of_block(file, size) if path.suffix == SUFFIX else _last_of_text(file, size)


def _last_of_text(file: BinaryIO, size: int) -> bytes:
    read, line = LAST_BYTES, b""
    while True:
        file.seek(max(size - read, 0))
        _, end, line = file.read().rstrip(b"\n").rpartition(b"\n")
        if end or read >= size:
            return line
        read *= 2


def _last_of_block(file: BinaryIO, size: int) -> bytes:
    """Return the last line of the last whole block: heads alone are read on the way to it."""
    at, last = file.seek(0), None
    while (head := _head(file)) is not None and file.tell() + head[0] <= size:
        at, last = file.tell(), head
        file.seek(head[0], 1)
    file.seek(at)
    return _text(file.read(last[0]), last[1]).rstrip(b"\n").rpartition(b"\n")[2] if last is not None else b""


def _head(file: BinaryIO) -> tuple[int, int] | None:
    """Read the lengths of the next block, compressed and not; None at the end of the file."""
    head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    magic, size, compressed, whole = HEAD.unpack(head)
    if (magic, size) != (SKIPPABLE, LENGTHS_BYTES):
        raise ValueError("it is not a compressed trace of ours")
    return compressed, whole


def _text(block: bytes, size: int) -> bytes:
    return pa.Codec("zstd").decompress(block, decompressed_size=size, asbytes=True)  # type: ignore[no-any-return]
