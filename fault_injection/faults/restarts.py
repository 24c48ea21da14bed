"""What can happen to the processes of several brokers, and in which order?

- ``rolling_restart``: one after the other ends and comes back before the next one ends, as in an upgrade.
- ``kill_together``: all end at once, as in a power cut; every signal is under way before any end is waited for.
- ``restart_in_order``: all end at once and come back in an order of choice, each before the next one: who is back first
  may decide who leads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.faults.fault import AVAILABLE, Availability, Proof
from fault_injection.faults.process import is_there, killed, named, require_available, runs, started


@dataclass(frozen=True, slots=True)
class RollingRestart:
    """Restart brokers one by one.

    Attributes:
        brokers: in this order.
        is_graceful: whether each is told to end (SIGTERM); else it is killed.
    """

    name: ClassVar[str] = "rolling_restart"
    brokers: tuple[int, ...]
    is_graceful: bool = True

    def available(self, cluster: Cluster) -> Availability:
        """Say whether all the brokers run."""
        return _all(runs, cluster, self.brokers)

    def inject(self, cluster: Cluster) -> str:
        """End and start each broker; wait each time until the controller noticed the one and the other.

        Raises:
            FaultError: a broker does not run; nothing was done.
            DeadlineExceededError: a broker did not end, or did not come back.
        """
        require_available(self.available(cluster))
        for broker in self.brokers:
            (cluster.stop if self.is_graceful else cluster.kill)(broker)
            await_unregistered(cluster, broker)
            cluster.start_broker(broker)
            await_registered(cluster, broker)
        return f"{named(*self.brokers)} restarted one by one ({'SIGTERM' if self.is_graceful else 'SIGKILL'})"

    def heal(self, cluster: Cluster) -> str | None:
        """Start the brokers that are down, if the restart did not get to its end."""
        return started(cluster, *self.brokers)


@dataclass(frozen=True, slots=True)
class KillTogether:
    """End brokers without a warning, all at once.

    Attributes:
        brokers: they end; paused ones as well.
        start_order: in which order healing starts them; that of ``brokers`` if it is empty.
    """

    name: ClassVar[str] = "kill_together"
    brokers: tuple[int, ...]
    start_order: tuple[int, ...] = ()

    def available(self, cluster: Cluster) -> Availability:
        """Say whether all the brokers' processes are there."""
        return _all(is_there, cluster, self.brokers)

    def inject(self, cluster: Cluster) -> str:
        """Send SIGKILL to all, then wait until all are gone.

        Raises:
            FaultError: a broker does not run; nothing was done.
        """
        require_available(self.available(cluster))
        cluster.kill(*self.brokers)
        return f"{named(*self.brokers)} killed at once (SIGKILL)"

    def heal(self, cluster: Cluster) -> str | None:
        """Start the brokers that are down, without waiting for one before the next."""
        return started(cluster, *(self.start_order or self.brokers))

    def proof(self, cluster: Cluster) -> Proof | None:
        """Return that SIGKILL ended all the processes, if it did."""
        return killed(cluster, *self.brokers)


@dataclass(frozen=True, slots=True)
class RestartInOrder:
    """End brokers all at once and start them one after the other.

    Attributes:
        start_order: the brokers, in the order in which they come back.
    """

    name: ClassVar[str] = "restart_in_order"
    start_order: tuple[int, ...]

    def available(self, cluster: Cluster) -> Availability:
        """Say whether all the brokers' processes are there."""
        return _all(is_there, cluster, self.start_order)

    def inject(self, cluster: Cluster) -> str:
        """Kill all, wait until none is registered, then start each when the one before it is registered.

        Raises:
            FaultError: a broker does not run; nothing was done.
            DeadlineExceededError: a broker did not come back.
        """
        require_available(self.available(cluster))
        cluster.kill(*self.start_order)
        for broker in self.start_order:
            await_unregistered(cluster, broker)
        for broker in self.start_order:
            cluster.start_broker(broker)
            await_registered(cluster, broker)
        return f"{named(*self.start_order)} killed at once and started in this order"

    def heal(self, cluster: Cluster) -> str | None:
        """Start the brokers that are down, if the restart did not get to its end."""
        return started(cluster, *self.start_order)


def _all(is_ready: Callable[[Cluster, int], Availability], cluster: Cluster, brokers: tuple[int, ...]) -> Availability:
    obstacles = [seen.obstacle for broker in brokers if not (seen := is_ready(cluster, broker))]
    return Availability("; ".join(obstacles)) if obstacles else AVAILABLE
