"""What does every fault have, whatever it breaks?

A fault is armed, then it has fired, then it is healed. Most faults fire when they are injected: when ``inject``
returns, the process is dead or the link is cut. One that lies in wait for a frame (``Waiting``) is only armed by
``inject``; it has fired once a frame came, and that frame proves it.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn, Protocol, runtime_checkable

from fault_injection.cluster.backend import ClusterError
from fault_injection.cluster.health import UnhealthyClusterError
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.wire.gate_events import STANDING
from fault_injection.wire.proxy import GateProxy


class FaultError(ClusterError):
    """A fault could not be injected as it was asked for, or nothing shows that it fired."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a fault can be injected into a cluster as it is now; true when it can.

    Attributes:
        obstacle: why it cannot, in words; empty when it can.
    """

    obstacle: str = ""

    def __bool__(self) -> bool:
        """Return whether it can be injected."""
        return not self.obstacle


AVAILABLE = Availability()


@dataclass(frozen=True, slots=True)
class FiredFrame:
    """The frame that proves that a fault fired.

    Attributes:
        connection: the relay's number of the connection that it came on.
        api: the request's name in Kafka's protocol, such as ``Fetch``.
        correlation_id: the request's, on that connection.
        direction: ``request`` or ``response``.
        offset: the fetch offset that it carried, if it is a fetch.
        at_ns: when it was caught, monotonic nanoseconds.
    """

    connection: int
    api: str
    correlation_id: int
    direction: str
    offset: int | None
    at_ns: int

    @property
    def text(self) -> str:
        """Which frame it is, in words."""
        shown = "" if self.offset is None else f" at offset {self.offset}"
        return f"{self.api} {self.direction} {self.correlation_id} of connection {self.connection}{shown}"


@dataclass(frozen=True, slots=True)
class EndedProcess:
    """What became of a broker's process.

    Attributes:
        broker: whose.
        exit_code: with which it ended, 128 and the number of the signal if one killed it; None while it is there.
        signal: the number of the signal that ended it; None if none did.
        is_paused: whether it stands still.
    """

    broker: int
    exit_code: int | None
    signal: int | None
    is_paused: bool


@dataclass(frozen=True, slots=True)
class FileOnDisk:
    """What a broker's file says of a replica after it was changed.

    Attributes:
        broker: whose.
        path: the file, relative to the broker's data.
        offset: where the log ends, or the checkpointed high watermark; None if the file has no line for it.
    """

    broker: int
    path: str
    offset: int | None


@dataclass(frozen=True, slots=True)
class Proof:
    """What shows on the cluster itself that a fault fired.

    Attributes:
        text: in words.
        processes: what became of the processes that it ended or froze.
        file: what it left on a disk.
    """

    text: str
    processes: tuple[EndedProcess, ...] = ()
    file: FileOnDisk | None = None


class Fault(Protocol):
    """One thing that can be done to a cluster, and taken back."""

    @property
    def name(self) -> str:
        """Return the word for it, in schedules and on the timeline."""
        ...

    def available(self, cluster: Cluster) -> Availability:
        """Return whether the fault can be injected into the cluster as it is now, and if not, why."""
        ...

    def inject(self, cluster: Cluster) -> str:
        """Do it and return in words what was done.

        Raises:
            FaultError: it cannot be done; nothing was changed.
        """
        ...

    def heal(self, cluster: Cluster) -> str | None:
        """Take it back and return in words what was done; None when there is nothing that could be taken back.

        Healing what is healed already, or was never injected, changes nothing.
        """
        ...


@runtime_checkable
class Proven(Protocol):
    """A fault of which the cluster itself shows that it fired."""

    def proof(self, cluster: Cluster) -> Proof | None:
        """Return what shows that it fired, looked up anew; None when nothing does."""
        ...


@runtime_checkable
class Waiting(Protocol):
    """A fault that ``inject`` only arms: it fires when a frame comes."""

    def fired(self) -> FiredFrame | None:
        """Return the frame that it fired on; None while none came."""
        ...

    def awaited(self) -> str:
        """Say in words which frame is awaited."""
        ...

    def came_instead(self) -> str:
        """Say in words which last frames of that request came on that link while it waited."""
        ...


# When was which fault armed, when did it fire, when was it healed, and what proves it?
#
# Every fault goes through these stages in this order; one that fires when it is injected is armed and fired at once.
# All times are monotonic nanoseconds, of the same clock as the wire trace's.


class FaultStage(StrEnum):
    """How far a fault has come."""

    ARMED = "armed"
    FIRED = "fired"
    HEALED = "healed"
    HEAL_FAILED = "heal_failed"


@dataclass(frozen=True, slots=True)
class FaultEvent:
    """A fault has reached a stage.

    Attributes:
        number: which fault of the account, counted from 1 in the order of arming.
        fault: the fault's name.
        stage: what it has reached.
        at_ns: when, monotonic; for a fault that waited for a frame, when that was caught.
        text: in words: what was armed, what proves that it fired, how it was healed, why it was not.
        frame: the frame that it fired on, if it waited for one.
        proof: what else shows that it fired, if anything does.
        hold: of a fault at a protocol point the name by which the gate knows it and tells of it.
    """

    number: int
    fault: str
    stage: FaultStage
    at_ns: int
    text: str
    frame: FiredFrame | None = None
    proof: Proof | None = None
    hold: str | None = None


# How is clean-up reached when the tester is told to end?
#
# Python turns Ctrl-C into an exception by itself; SIGTERM ends a process at once unless somebody handles it. Within
# this context it raises ``SystemExit``, so that every ``finally`` runs. A program that handles SIGTERM already is
# left to it.


TERMINATED = 128 + signal.SIGTERM


@contextmanager
def termination_raises() -> Iterator[None]:
    """Let SIGTERM raise ``SystemExit`` in the main thread; in another thread nothing can be changed."""
    is_ours = (
        threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if is_ours:
        signal.signal(signal.SIGTERM, _raise)
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _raise(number: int, _frame: object) -> NoReturn:
    """End once; a second SIGTERM must not interrupt the clean-up."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(TERMINATED)


# Is a fault of somebody before still standing in a cluster?


def require_untouched(cluster: Cluster) -> None:
    """Make sure that no frame is waited for or held and no link impaired.

    Raises:
        UnhealthyClusterError: something is, and what.
    """
    found = tuple(_standing(cluster))
    if found:
        raise UnhealthyClusterError(f"a fault is left over before the first one: {'; '.join(found)}")


def _standing(cluster: Cluster) -> Iterator[str]:
    relay = cluster.relay
    if isinstance(relay, GateProxy):
        for name, status in relay.holds().items():
            if status in STANDING:
                yield f"hold {name!r} is {status.value}"
        yield from relay.network.imposed()
