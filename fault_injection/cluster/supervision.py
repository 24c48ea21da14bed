"""How does the tester talk to the supervisor of its node processes?"""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

from fault_injection.cluster import supervisor
from fault_injection.cluster.errors import ClusterError

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
        """The process id of the supervisor."""
        return self._process.pid

    def start(self, argv: list[str], directory: Path, output: Path) -> int:
        """Start a child with its output appended to a file; return its process id."""
        answer = self._ask({"start": argv, "directory": str(directory), "output": str(output)})
        return int(str(answer["pid"]))

    def exit_code(self, pid: int) -> int | None:
        """Give a child's exit code (negative: the signal that ended it), or None while it runs."""
        code = self._ask({"poll": pid})["exit_code"]
        return None if code is None else int(str(code))

    def send_signal(self, pid: int, number: int) -> None:
        """Send a signal to a child, if it is still there."""
        self._ask({"signal": int(number), "pid": pid})

    def limit(self, directory: Path, size: int) -> None:
        """Put a directory on an empty file system of a size in bytes, or resize that; children started later see it.

        Raises:
            ClusterError: the system does not permit it.
        """
        self._ask({"limit": str(directory), "size": size})

    def protect(self, directory: Path) -> None:
        """Make a directory read-only for children started later.

        Raises:
            ClusterError: the system does not permit it.
        """
        self._ask({"protect": str(directory)})

    def unmount(self, directory: Path) -> None:
        """Take away what was mounted on a directory."""
        self._ask({"unmount": str(directory)})

    def seen(self, path: Path) -> Path:
        """Give the path at which the tester sees what is at a path for children started last."""
        return Path(f"/proc/{self.pid}/root", *path.absolute().parts[1:])

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
