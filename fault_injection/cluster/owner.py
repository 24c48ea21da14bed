"""Whose is what a tester starts or writes, and is that tester provably gone?

Testers share more than a machine's processes: a Docker daemon, a temporary directory, a home directory. So an owner
is named by the boot of its kernel, its PID namespace (pid_namespaces(7): a process id means something in one
namespace alone), its process id and its start time. Only one of this boot and this namespace can be looked up in
``/proc``; of any other, nothing is known, and what it left is somebody else's to remove.
"""

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE = Path("/proc/self/ns/pid")
_START_TIME_FIELD = 19  # of /proc/<pid>/stat, counted after the name in parentheses
_PLACE_LENGTH = 16
_UNKNOWN = "0"


def start_time(pid: int) -> str | None:
    """Return a process's start time in clock ticks since boot, or None when there is no such process."""
    try:
        stat = Path("/proc", str(pid), "stat").read_text()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else fields[_START_TIME_FIELD]


def _place() -> str | None:
    """Return one word for this boot and this PID namespace; None where ``/proc`` does not show this namespace."""
    try:
        if os.readlink("/proc/self") != str(os.getpid()):  # noqa: PTH115 - a text, not a path
            return None  # the /proc of another namespace, as after unshare without a mount
        seen = f"{_BOOT.read_text().strip()} {_NAMESPACE.readlink()}"
    except OSError:
        return None
    return hashlib.sha256(seen.encode()).hexdigest()[:_PLACE_LENGTH]


@dataclass(frozen=True, slots=True)
class Owner:
    """A tester's process.

    Attributes:
        place: its boot and PID namespace, in one word.
        pid: its process id there.
        started: its start time, in clock ticks since boot.
    """

    place: str
    pid: int
    started: str

    PATTERN = r"[0-9a-f]+-\d+-\d+"
    """How an owner is written, as a regular expression."""

    @classmethod
    def of_this_process(cls) -> "Owner":
        """Return the owner of what this process starts."""
        pid = os.getpid()
        return cls(_place() or _UNKNOWN, pid, start_time(pid) or _UNKNOWN)

    @classmethod
    def written(cls, text: str) -> "Owner | None":
        """Read an owner; None for what no tester of today writes."""
        if not re.fullmatch(cls.PATTERN, text):
            return None
        place, pid, started = text.split("-")
        return cls(place, int(pid), started)

    @override
    def __str__(self) -> str:
        return f"{self.place}-{self.pid}-{self.started}"

    @property
    def is_gone(self) -> bool:
        """Return whether it lived in this boot and this PID namespace, and lives no more."""
        return self.place == _place() and start_time(self.pid) != self.started
