"""What does every fault have, whatever it breaks?

A fault is armed, then it has fired, then it is healed. Most faults fire when they are injected: when ``inject``
returns, the process is dead or the link is cut. One that lies in wait for a frame (``Waiting``) is only armed by
``inject``; it has fired once a frame came, and that frame proves it.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from fault_injection.cluster.errors import ClusterError
from fault_injection.cluster.lifecycle import Cluster


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
        """Say whether it can be injected."""
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


class Fault(Protocol):
    """One thing that can be done to a cluster, and taken back."""

    @property
    def name(self) -> str:
        """The word for it, in schedules and on the timeline."""
        ...

    def available(self, cluster: Cluster) -> Availability:
        """Say whether the fault can be injected into the cluster as it is now, and if not, why."""
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

    def proof(self, cluster: Cluster) -> str | None:
        """Say in words what shows that it fired, looked up anew; None when nothing does."""
        ...


@runtime_checkable
class Waiting(Protocol):
    """A fault that ``inject`` only arms: it fires when a frame comes."""

    def fired(self) -> FiredFrame | None:
        """Give the frame that it fired on; None while none came."""
        ...

    def awaited(self) -> str:
        """Say in words which frame is awaited."""
        ...

    def came_instead(self) -> str:
        """Say in words which last frames of that request came on that link while it waited."""
        ...
