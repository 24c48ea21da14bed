"""Which processes does a tester have, and which of them are still there? Read from ``/proc``."""

from __future__ import annotations

from pathlib import Path

from fault_injection.cluster.supervision import start_time

Process = tuple[int, str]


def descendants(pid: int) -> set[Process]:
    """Return the living descendants of a process as (process id, start time)."""
    children: dict[int, set[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), set()).add(int(stat.parent.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in children.get(waiting.pop(), set()) - found:
            found.add(child)
            waiting.append(child)
    return {(child, started) for child in found if (started := start_time(child)) is not None}


def living(processes: set[Process]) -> set[Process]:
    """Return those of the processes that still run; an id that was used again is another process."""
    return {(pid, started) for pid, started in processes if start_time(pid) == started}


def is_java(process: Process) -> bool:
    """Return whether a process is a JVM."""
    try:
        return Path("/proc", str(process[0]), "cmdline").read_bytes().split(b"\0")[0].endswith(b"java")
    except OSError:
        return False
