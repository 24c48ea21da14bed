"""What does every fault have, whatever it breaks?"""

from typing import Protocol

from fault_injection.cluster.errors import ClusterError
from fault_injection.cluster.lifecycle import Cluster


class FaultError(ClusterError):
    """A fault could not be injected as it was asked for; nothing was changed."""


class Fault(Protocol):
    """One thing that can be done to a cluster."""

    @property
    def name(self) -> str:
        """The word for it, in schedules and on the timeline."""
        ...

    def available(self, cluster: Cluster) -> bool:
        """Say whether the fault can be injected into the cluster as it is now."""
        ...

    def inject(self, cluster: Cluster) -> str:
        """Do it and return in words what was done.

        Raises:
            FaultError: it cannot be done; nothing was changed.
        """
        ...
