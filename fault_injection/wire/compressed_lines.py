"""How are lines kept compressed, so that those of a killed writer can be read up to the last whole one?

The file is a sequence of blocks of whole lines. A block is a skippable frame of zstd that says two lengths, of the
block compressed and of its lines, and a frame of zstd with the lines; so ``zstd -dc`` reads the file as any other. A
block is written when it is full, or with the first line that comes a second after its own first.

pyarrow compresses; it is imported when the first file is created, as it is not installed everywhere.

Source: RFC 8878 (Zstandard), "Skippable Frames".
"""

import struct
import time
from importlib import import_module
from pathlib import Path

SUFFIX = ".zst"
BLOCK_BYTES = 4 * 2**20
"""So much text is a block."""
BLOCK_NS = 1_000_000_000
HEAD = struct.Struct("<IIII")
"""Magic number and size of a skippable frame, bytes of the compressed block, bytes of its lines."""
SKIPPABLE, LENGTHS_BYTES = 0x184D2A50, 8


class CompressedLines:
    """A new file of lines. Used by one thread.

    Raises:
        OSError: the file cannot be created.
        ModuleNotFoundError: pyarrow is not installed.
    """

    def __init__(self, path: Path) -> None:
        self._codec = import_module("pyarrow").Codec("zstd")
        self._file = path.open("wb", buffering=0)
        self._lines: list[bytes] = []
        self._bytes = 0
        self._began_ns = 0

    def write(self, line: bytes) -> None:
        """Write a line with its end. Raises OSError if a block could not be written."""
        now_ns = time.monotonic_ns()
        if not self._lines:
            self._began_ns = now_ns
        self._lines.append(line)
        self._bytes += len(line)
        if self._bytes >= BLOCK_BYTES or now_ns - self._began_ns >= BLOCK_NS:
            self.flush()

    def flush(self) -> None:
        """Have all lines in the file. Raises OSError if they could not be written."""
        if not self._lines:
            return
        text = b"".join(self._lines)
        self._lines, self._bytes = [], 0
        block = self._codec.compress(text, asbytes=True)
        rest = memoryview(HEAD.pack(SKIPPABLE, LENGTHS_BYTES, len(block), len(text)) + block)
        while rest:
            rest = rest[self._file.write(rest) :]

    def close(self) -> None:
        """Write what is left and close the file. Raises OSError if it could not be written."""
        try:
            self.flush()
        finally:
            self._file.close()
