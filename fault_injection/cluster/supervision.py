"""How does the tester talk to the supervisor of its node processes?"""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from typing_extensions import override

from fault_injection.cluster import supervisor
from fault_injection.cluster.backend import ClusterError
from fault_injection.releases.jars import cache_directory

_SUPERVISOR_END_S = 20.0


class Supervision:
    """One supervisor process and the requests to it; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._serial = 0
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(supervisor.__file__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """Return the process id of the supervisor."""
        return self._process.pid

    def start(self, argv: list[str], directory: Path, output: Path) -> int:
        """Start a child with its output appended to a file; return its process id."""
        answer = self._ask({"start": argv, "directory": str(directory), "output": str(output)})
        return int(str(answer["pid"]))

    def exit_code(self, pid: int) -> int | None:
        """Return a child's exit code (negative: the signal that ended it), or None while it runs."""
        code = self._ask({"poll": pid})["exit_code"]
        return None if code is None else int(str(code))

    def send_signal(self, pid: int, number: int) -> None:
        """Send a signal to a child, if it is still there."""
        self._ask({"signal": int(number), "pid": pid})

    def close(self) -> None:
        """Let the supervisor kill its children and end."""
        with self._lock:
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
        self._process.wait(_SUPERVISOR_END_S)

    def _ask(self, request: dict[str, object]) -> dict[str, object]:
        with self._lock:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            try:
                self._serial += 1
                self._process.stdin.write(json.dumps({**request, "serial": self._serial}).encode() + b"\n")
                self._process.stdin.flush()
                answer = self._answer_to(self._serial, self._process.stdout)
            except (BrokenPipeError, ValueError) as error:
                raise ClusterError("The supervisor of the node processes is gone.") from error
        if "error" in answer:
            raise ClusterError(f"The supervisor could not do it: {answer['error']}")
        return answer

    @staticmethod
    def _answer_to(serial: int, answers: IO[bytes]) -> dict[str, object]:
        """Read up to the answer to a request; a signal may have kept an earlier one from being read."""
        for line in answers:
            answer: dict[str, object] = json.loads(line)
            if answer["serial"] == serial:
                return answer
        raise ClusterError("The supervisor of the node processes ended.")


# Which processes did a dead tester leave behind, and how are they ended without hitting anybody else's?
#
# Every tester keeps a record of its node processes. A process is known by its id and its start time, and its
# command line must carry our marker; only then, and only when the tester that owns it is provably gone, is it killed.
# Needs ``/proc``; without it nothing is swept.


MARKER = "-Dkafka.conformance.node="
"""Every node's command line has an option that begins like this."""


def is_stopped(pid: int) -> bool:
    """Return whether every thread of a process is stopped; where that cannot be seen, take it for granted."""
    try:
        threads = [stat.read_text() for stat in Path("/proc", str(pid), "task").glob("*/stat")]
    except OSError:
        return False
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in threads)


def records_directory() -> Path:
    """Return the directory of all testers' records."""
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
    """Return whether a process of this machine is a node of some cluster."""
    try:
        return MARKER.encode() in Path("/proc", str(pid), "cmdline").read_bytes()
    except OSError:
        return False


# Whose is what a tester starts or writes, and is that tester provably gone?
#
# Testers share more than a machine's processes: a Docker daemon, a temporary directory, a home directory. So an owner
# is named by the boot of its kernel, its PID namespace (pid_namespaces(7): a process id means something in one
# namespace alone), its process id and its start time. Only one of this boot and this namespace can be looked up in
# ``/proc``; of any other, nothing is known, and what it left is somebody else's to remove.


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
