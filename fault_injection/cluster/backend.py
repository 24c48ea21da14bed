"""What must a place that nodes run in be able to do?"""

from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from typing import Protocol

from fault_injection.cluster.spec import Node
from fault_injection.releases import JarSet

_ENDED_BY_SIGNAL = 128


@dataclass(frozen=True, slots=True)
class NodeLaunch:
    """One program of a node, ready to be run.

    Attributes:
        node: the node that the program is, or works for.
        version: the release's version.
        directory: the node's own directory. It is prepared on this machine, and the node has what is prepared,
            and keeps what it writes, under the same path; whether that is the same place is the backend's affair.
        jars: the class path.
        arguments: what follows the class path on the Java command line: options, main class, its arguments.
        client_ports: ports that the tester reaches at ``client_host``.
        node_ports: ports that other nodes reach at ``host``.
        advertised_ports: addresses of this machine, with ports, at which clients elsewhere reach the node.
    """

    node: Node
    version: str
    directory: Path
    jars: JarSet
    arguments: tuple[str, ...]
    client_ports: tuple[int, ...] = ()
    node_ports: tuple[int, ...] = ()
    advertised_ports: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ProcessState:
    """What became of a node's process: the proof of what was done to it.

    Attributes:
        exit_code: with which it ended, 128 and the number of the signal if one killed it; None while it is there.
        is_paused: whether it stands still.
    """

    exit_code: int | None = None
    is_paused: bool = False

    @property
    def was_killed(self) -> bool:
        """Return whether SIGKILL ended it."""
        return self.exit_code == _ENDED_BY_SIGNAL + SIGKILL

    @property
    def signal_number(self) -> int | None:
        """Return the number of the signal that ended it; None if none did, as far as exit codes tell."""
        if self.exit_code is None or self.exit_code <= _ENDED_BY_SIGNAL:
            return None
        return self.exit_code - _ENDED_BY_SIGNAL

    @property
    def text(self) -> str:
        """Return the state in words."""
        if self.exit_code is None:
            return "stands still" if self.is_paused else "runs"
        return "ended by SIGKILL" if self.was_killed else f"ended with exit code {self.exit_code}"

    @staticmethod
    def of_exit_code(code: int) -> "ProcessState":
        """Read an exit code as a parent process gets it, where a signal that kills is negative."""
        return ProcessState(code if code >= 0 else _ENDED_BY_SIGNAL - code)


class Backend(Protocol):
    """Runs the nodes of one cluster at a time; knows nothing about Kafka."""

    @property
    def name(self) -> str:
        """Return the name of the backend: ``process`` or ``docker``."""
        ...

    @property
    def bind_host(self) -> str:
        """Return the address that a node listens on."""
        ...

    @property
    def host(self) -> str:
        """Return the address of this machine as its nodes see it, where relays listen and node ports are reached."""
        ...

    @property
    def peers(self) -> tuple[str, ...]:
        """Return the networks that nodes, and the tester, come to ``host`` from, as address/length; nobody else's."""
        ...

    @property
    def client_host(self) -> str:
        """Return the address of this machine as the tester sees it, where client ports are reached."""
        ...

    @property
    def image_digest(self) -> str | None:
        """The id (``sha256:…``) of the image that nodes run from; None where there is none, or no node ran yet."""
        ...

    @property
    def storage(self) -> Path | None:
        """The directory in which all nodes' files are; None where each is in its own, or that is no directory here."""
        ...

    def run(self, launch: NodeLaunch) -> None:
        """Start a node, for the first time or again with the data that it has."""
        ...

    def run_to_end(self, launch: NodeLaunch) -> tuple[int, str]:
        """Run a program to its end; return its exit code and all that it printed.

        What it wrote into the node's directory is then on this machine.
        """
        ...

    def is_running(self, node: Node) -> bool:
        """Return whether the node's process is there, also while it is paused."""
        ...

    def terminate(self, node: Node) -> None:
        """Ask a node to shut down (SIGTERM) and return at once."""
        ...

    def process_state(self, node: Node) -> ProcessState | None:
        """Return what became of the node's process; None when it was never started."""
        ...

    def kill(self, *nodes: Node) -> None:
        """End nodes without a warning (SIGKILL), all at once, and return when they are gone.

        Every signal is under way before any end is waited for.
        """
        ...

    def retire(self, node: Node) -> None:
        """End a node that is not needed any more, if it still runs, in whatever way is best.

        Returns when it is gone, and when its logs are in its directory on this machine, if that is still there.
        """
        ...

    def pause(self, node: Node) -> None:
        """Freeze a node and return when it stands still."""
        ...

    def resume(self, node: Node) -> None:
        """Let a frozen node go on."""
        ...

    def files(self, node: Node) -> list[str]:
        """Return the files of a node's directory, relative to it and sorted, whether the node runs or not."""
        ...

    def read(self, node: Node, relative: str) -> bytes:
        """Return the content of a file of a node's directory, whether the node runs or not.

        Raises:
            FileNotFoundError: there is no such file, or the node never ran.
        """
        ...

    def write(self, node: Node, relative: str, content: bytes) -> None:
        """Put a file into the directory of a node that ran and is dead, in place of the one that is there.

        Raises:
            FileNotFoundError: there is no such folder.
        """
        ...

    def remove(self, node: Node, *relative: str) -> None:
        """Remove files from the directory of a node that ran and is dead; what is absent is none the worse."""
        ...

    def output(self, node: Node) -> str:
        """Return what a node printed, beside its log."""
        ...

    def close(self) -> None:
        """End every node and everything else that this backend started."""
        ...


# What can go wrong with the tester's own machinery around a cluster?


class ClusterError(Exception):
    """The harness could not do what was asked of it; never a statement about Kafka's behaviour."""


class NodeDiedError(ClusterError):
    """A node ended although nobody ended it.

    Attributes:
        node: the name of the node.
        log_tail: the last lines that it wrote.
    """

    def __init__(self, node: str, log_tail: str) -> None:
        super().__init__(f"{node} ended although nobody ended it; its last lines:\n{log_tail}")
        self.node = node
        self.log_tail = log_tail


class StorageFormatError(ClusterError):
    """Kafka's own storage tool refused to format a directory."""
