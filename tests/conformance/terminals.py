"""A command in a terminal of its own: what a person would see, with the codes that steer the terminal and without."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COMMAND_LINE = (sys.executable, "-m", "conformance")


@dataclass(frozen=True)
class Shown:
    """What a command wrote to its terminal.

    Attributes:
        raw: every character, steering codes among them.
    """

    code: int
    raw: str

    @property
    def lines(self) -> list[str]:
        """Return the lines without steering codes; of a line that was written over every state is one."""
        return re.split(r"\r\n|\r|\n", CODE.sub("", self.raw))

    @property
    def widest(self) -> int:
        return max(map(len, self.lines))


def in_terminal(
    arguments: tuple[str, ...], columns: int = 80, environment: Mapping[str, str] | None = None, timeout_s: float = 60
) -> Shown:
    """Run a command in a pseudo-terminal and return what it wrote there, answer, progress and errors alike."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS", "LINES"}}
    process = subprocess.Popen(
        arguments,
        cwd=ROOT,
        env=inherited | {"TERM": "xterm-256color"} | dict(environment or {}),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return Shown(process.wait(timeout=timeout_s), written.decode())


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # EIO: whoever wrote to it has ended
        return b""


@cache
def piped(*arguments: str) -> str:
    """Return what a command writes to pipes, answer first."""
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr
