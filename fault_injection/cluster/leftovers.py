"""Which processes did a dead tester leave behind, and how are they ended without hitting anybody else's?

Every tester keeps a record of its node processes. A process is known by its id and its start time, and its
command line must carry our marker; only then, and only when the tester that owns it is provably gone, is it killed.
Needs ``/proc``; without it nothing is swept.
"""

import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from fault_injection.cluster.owner import Owner, start_time
from fault_injection.releases.cache import cache_directory

MARKER = "-Dkafka.conformance.node="
"""Every node's command line has an option that begins like this."""


def is_stopped(pid: int) -> bool:
    """Say whether every thread of a process is stopped; where that cannot be seen, take it for granted."""
    try:
        threads = [stat.read_text() for stat in Path("/proc", str(pid), "task").glob("*/stat")]
    except OSError:
        return False
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in threads)


def records_directory() -> Path:
    """Give the directory of all testers' records."""
    return cache_directory().parent / "processes"


@dataclass(slots=True)
class ProcessRecord:
    """The record of one tester's node processes, on disk from the first one on."""

    path: Path
    processes: dict[int, str]

    @classmethod
    def of_this_process(cls, supervisor: int) -> "ProcessRecord":
        """Begin the record of a supervisor that this process owns."""
        return cls(records_directory() / f"{Owner.of_this_process()}-{supervisor}.json", {})

    def add(self, pid: int) -> None:
        """Note a process that was just started."""
        self.processes[pid] = start_time(pid) or ""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(self.processes))
        fresh.replace(self.path)

    def remove(self) -> None:
        """Forget everything: all processes have ended."""
        self.path.unlink(missing_ok=True)


def sweep() -> list[int]:
    """End the node processes whose tester is gone; return the process ids that were killed."""
    killed: list[int] = []
    for record in sorted(records_directory().glob("*.json")):
        owner = Owner.written(record.stem.rpartition("-")[0])
        if owner is None or not owner.is_gone:
            continue
        killed += _killed_of(record)
        record.unlink(missing_ok=True)
    return killed


def _killed_of(record: Path) -> list[int]:
    try:
        processes: dict[str, str] = json.loads(record.read_text())
    except (OSError, ValueError):
        return []
    return [int(pid) for pid, started in processes.items() if _kill(int(pid), started)]


def _kill(pid: int, started: str) -> bool:
    if start_time(pid) != started or not is_node(pid):
        return False
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def is_node(pid: int) -> bool:
    """Say whether a process of this machine is a node of some cluster."""
    try:
        return MARKER.encode() in Path("/proc", str(pid), "cmdline").read_bytes()
    except OSError:
        return False
