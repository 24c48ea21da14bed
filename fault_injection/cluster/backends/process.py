"""How do nodes run as child processes on loopback?

Each node is one JVM, a child of the supervisor. All of them share this machine's network, so a node cannot be
taken off it: its links are cut at the relay instead.
"""

import contextlib
import os
import signal
from pathlib import Path

from fault_injection.cluster.backend import ClusterError, NodeLaunch, ProcessState
from fault_injection.cluster.launches import OUTPUT, ClassArchive
from fault_injection.cluster.relay import LOOPBACK
from fault_injection.cluster.spec import Node, ProcessRole
from fault_injection.cluster.supervision import ProcessRecord, Supervision, is_stopped, sweep
from fault_injection.releases import Java, find_java
from fault_injection.waiting import DeadlineExceededError, until

_KILL_DEADLINE_S = 20.0
_STAND_STILL_S = 20.0
_PROGRAM_DEADLINE_S = 120.0
_RETIRE_DEADLINE_S = 15.0


class ProcessBackend:
    """Nodes as child JVMs of a supervisor process, on loopback."""

    name = "process"
    bind_host = "127.0.0.1"
    peers = (LOOPBACK,)
    host = "127.0.0.1"
    client_host = "127.0.0.1"
    image_digest = None
    storage = None

    def __init__(self, java: Java | None = None) -> None:
        self._java = java or find_java()
        self.swept = sweep()
        self._supervision = Supervision()
        self._record = ProcessRecord.of_this_process(self._supervision.pid)
        self._pids: dict[Node, int] = {}
        self._directories: dict[Node, Path] = {}
        self._archives: dict[str, ClassArchive] = {}

    def run(self, launch: NodeLaunch) -> None:
        """Start a node, for the first time or again with the data that it has."""
        if self.is_running(launch.node):
            raise ClusterError(f"{launch.node.name} runs already")
        self._directories[launch.node] = launch.directory
        self._pids[launch.node] = self._start_with_archive(launch)

    def run_to_end(self, launch: NodeLaunch) -> tuple[int, str]:
        """Run a program to its end; return its exit code and all that it printed."""
        output = launch.directory / "program.log"
        pid = self._start(launch, output)

        def exit_code() -> tuple[int] | None:
            code = self._supervision.exit_code(pid)
            return None if code is None else (code,)

        (code,) = until(exit_code, deadline_s=_PROGRAM_DEADLINE_S, what=f"end of a program of {launch.node.name}")
        return code, output.read_text(errors="replace")

    def is_running(self, node: Node) -> bool:
        """Return whether the node's process is there, also while it is paused."""
        return node in self._pids and self._supervision.exit_code(self._pids[node]) is None

    def terminate(self, node: Node) -> None:
        """Ask a node to shut down and return at once."""
        self._signal(node, signal.SIGTERM)

    def process_state(self, node: Node) -> ProcessState | None:
        """Return what became of the node's process."""
        if node not in self._pids:
            return None
        code = self._supervision.exit_code(self._pids[node])
        return ProcessState(is_paused=is_stopped(self._pids[node])) if code is None else ProcessState.of_exit_code(code)

    def kill(self, *nodes: Node) -> None:
        """End nodes without a warning, all at once, and return when they are gone."""
        for node in nodes:
            self._signal(node, signal.SIGKILL)
        for node in nodes:
            self._await_end(node, _KILL_DEADLINE_S)

    def _await_end(self, node: Node, deadline_s: float) -> None:
        until(lambda: not self.is_running(node), deadline_s=deadline_s, what=f"end of {node.name}")

    def retire(self, node: Node) -> None:
        """End a node that is not needed any more; the one that is to archive its classes may do so."""
        if not self.is_running(node):
            return
        archive = next((one for one in self._archives.values() if one.writer == self._pids.get(node)), None)
        if archive is not None:
            self.terminate(node)
            with contextlib.suppress(DeadlineExceededError):
                self._await_end(node, _RETIRE_DEADLINE_S)
                archive.keep()
        if self.is_running(node):
            self.kill(node)

    def pause(self, node: Node) -> None:
        """Freeze a node and return when each of its threads stands still."""
        self._signal(node, signal.SIGSTOP)
        try:
            until(lambda: is_stopped(self._pids[node]), deadline_s=_STAND_STILL_S, what=f"stop of {node.name}")
        except BaseException:  # nobody would let it go on that was told it is not paused
            self.resume(node)
            raise

    def resume(self, node: Node) -> None:
        """Let a frozen node go on."""
        self._signal(node, signal.SIGCONT)

    def files(self, node: Node) -> list[str]:
        """Return the files of a node's directory; what is deleted meanwhile is left out."""
        if node not in self._directories:
            return []
        root = self._directories[node]
        return sorted(str(Path(parent, name).relative_to(root)) for parent, _, names in os.walk(root) for name in names)

    def read(self, node: Node, relative: str) -> bytes:
        """Return the content of a file of a node's directory."""
        if node not in self._directories:
            raise FileNotFoundError(relative)
        return (self._directories[node] / relative).read_bytes()

    def write(self, node: Node, relative: str, content: bytes) -> None:
        """Put a file into a dead node's directory."""
        (self._directories[node] / relative).write_bytes(content)

    def remove(self, node: Node, *relative: str) -> None:
        """Remove files from a dead node's directory."""
        for path in relative:
            (self._directories[node] / path).unlink(missing_ok=True)

    def output(self, node: Node) -> str:
        """Return what a node printed, beside its log."""
        if node not in self._directories:
            return ""
        return (self._directories[node] / OUTPUT).read_text(errors="replace")

    def close(self) -> None:
        """End every node and the supervisor."""
        self._supervision.close()
        self._record.remove()

    def _start_with_archive(self, launch: NodeLaunch) -> int:
        archive = self._archives.setdefault(launch.jars.digest, ClassArchive(launch.jars, self._java))
        if launch.node.role is ProcessRole.BROKER and archive.is_wanted():
            archive.writer = self._start(launch, launch.directory / OUTPUT, archive.options_to_write(launch.directory))
            return archive.writer
        return self._start(launch, launch.directory / OUTPUT, archive.options_to_read())

    def _start(self, launch: NodeLaunch, output: Path, options: tuple[str, ...] = ()) -> int:
        command = [str(self._java.executable), *options, "-cp", launch.jars.class_path, *launch.arguments]
        pid = self._supervision.start(command, launch.directory, output)
        self._record.add(pid)
        return pid

    def _signal(self, node: Node, number: int) -> None:
        if not self.is_running(node):
            raise ClusterError(f"{node.name} does not run")
        self._supervision.send_signal(self._pids[node], number)
