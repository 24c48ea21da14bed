"""How is a command ended with all that it started? By its session: a shell's jobs, and ``timeout``, have other groups.

What began a session of its own (``setsid``) is not found. A session's id is no other process's while it has any.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fault_injection.waiting import DeadlineExceededError, until

if TYPE_CHECKING:
    import subprocess

ENDED_S = 5.0
"""So long a process may take to end by itself once it is told to."""
PROC = Path("/proc")
_STATE, _GROUP, _SESSION = 0, 2, 3
"""Fields of ``/proc/<pid>/stat``, counted after the name in parentheses (proc(5))."""


def ended_whole(leader: subprocess.Popen[bytes]) -> bool:
    """End the process that leads a session and all others of it; return whether none is left.

    First by SIGTERM, so that a trap may mend something, then by SIGKILL. One of another user (``sudo``) may stay.
    """
    _signal(leader, signal.SIGTERM)
    if not _is_over(leader):
        _signal(leader, signal.SIGKILL)
    return _is_over(leader)


def _is_over(leader: subprocess.Popen[bytes]) -> bool:
    def is_over() -> bool:
        return leader.poll() is not None and not _groups(leader.pid)

    with suppress(DeadlineExceededError):
        return until(is_over, deadline_s=ENDED_S, what="the end of a command", interval_s=0.05)
    return False


def _signal(leader: subprocess.Popen[bytes], number: signal.Signals) -> None:
    own = {leader.pid} if leader.poll() is None else set()
    for group in _groups(leader.pid) | own:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def _groups(session: int) -> set[int]:
    """Return the process groups of a session in which anything runs; the first one alone without a /proc of ours.

    That of another PID namespace has other numbers.
    """
    if not _is_ours(PROC):
        return {session} if _is_there(session) else set()
    fields = [one for stat in PROC.glob("[0-9]*/stat") if (one := _fields(stat))]
    return {int(one[_GROUP]) for one in fields if int(one[_SESSION]) == session and one[_STATE] not in "ZX"}


def _is_ours(proc: Path) -> bool:
    with suppress(OSError):
        return (proc / "self").readlink().name == str(os.getpid())
    return False


def _fields(stat: Path) -> list[str]:
    with suppress(OSError):  # it has ended meanwhile
        return stat.read_text(errors="replace").rpartition(")")[2].split()
    return []


def _is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
