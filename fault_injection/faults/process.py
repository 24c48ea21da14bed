"""What can happen to the processes of brokers?

- ``stop``: it is told to end (SIGTERM) and hands its leaderships over first (ControlledShutdown).
- ``kill``: it ends without a warning (SIGKILL). What it wrote is in the page cache and outlives it.
- ``kill_together``: several end so at once, as in a power cut; every signal is under way before any end is waited for.
- ``pause``: it stands still (SIGSTOP, or the container's freezer): connections stay open and nothing answers.

Healed, a broker that ended is started again with the data that it has, and one that stood still goes on. Nobody waits
until it is registered: ``cluster.readiness`` and ``cluster.health`` do.

Sources: ``KafkaServer.shutdown`` and ``BrokerServer.shutdown`` (a clean end writes the clean-shutdown marker).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from fault_injection.cluster.backend import ProcessState
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import zookeeper
from fault_injection.cluster.spec import Timing
from fault_injection.faults.fault import AVAILABLE, Availability, EndedProcess, FaultError, Proof
from fault_injection.waiting import until

_SESSION_DEADLINE_S = 20.0


@dataclass(frozen=True, slots=True)
class StopProcess:
    """Shut a broker down in order and wait for its end."""

    name: ClassVar[str] = "stop"
    broker: int

    def available(self, cluster: Cluster) -> Availability:
        """Return whether the broker runs."""
        return runs(cluster, self.broker)

    def inject(self, cluster: Cluster) -> str:
        """Send SIGTERM and wait until the process is gone.

        Raises:
            FaultError: the broker does not run.
            DeadlineExceededError: it does not end.
        """
        require_available(self.available(cluster))
        cluster.stop(self.broker)
        return f"broker {self.broker} stopped (SIGTERM)"

    def heal(self, cluster: Cluster) -> str | None:
        """Start the broker again, if it is down."""
        return started(cluster, self.broker)

    def proof(self, cluster: Cluster) -> Proof | None:
        """Return with which exit code the process ended, if SIGKILL was not needed."""
        return _shown(cluster, self.broker, lambda state: state.exit_code is not None and not state.was_killed)


@dataclass(frozen=True, slots=True)
class KillProcess:
    """End a broker without a warning."""

    name: ClassVar[str] = "kill"
    broker: int

    def available(self, cluster: Cluster) -> Availability:
        """Return whether the broker's process is there; a paused one can be killed as well."""
        return is_there(cluster, self.broker)

    def inject(self, cluster: Cluster) -> str:
        """Send SIGKILL and wait until the process and its connections are gone.

        Raises:
            FaultError: the broker does not run.
        """
        require_available(self.available(cluster))
        cluster.kill(self.broker)
        return f"broker {self.broker} killed (SIGKILL)"

    def heal(self, cluster: Cluster) -> str | None:
        """Start the broker again, if it is down."""
        return started(cluster, self.broker)

    def proof(self, cluster: Cluster) -> Proof | None:
        """Return that SIGKILL ended the process, if it did."""
        return killed(cluster, self.broker)


@dataclass(frozen=True, slots=True)
class KillProcesses:
    """End brokers without a warning, all at once.

    Attributes:
        brokers: they end; paused ones as well.
        start_order: in which order healing starts them; that of ``brokers`` if it is empty.
    """

    name: ClassVar[str] = "kill_together"
    brokers: tuple[int, ...]
    start_order: tuple[int, ...] = ()

    def available(self, cluster: Cluster) -> Availability:
        """Return whether all the brokers' processes are there."""
        obstacles = [seen.obstacle for broker in self.brokers if not (seen := is_there(cluster, broker))]
        return Availability("; ".join(obstacles)) if obstacles else AVAILABLE

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
class PauseProcess:
    """Freeze a broker: whoever is connected to it hears nothing, and no connection ends."""

    name: ClassVar[str] = "pause"
    broker: int

    def available(self, cluster: Cluster) -> Availability:
        """Return whether the broker runs."""
        return runs(cluster, self.broker)

    def inject(self, cluster: Cluster) -> str:
        """Freeze the process and wait until it stands still.

        Raises:
            FaultError: the broker does not run, or is paused already.
        """
        require_available(self.available(cluster))
        cluster.pause(self.broker)
        return f"broker {self.broker} paused"

    def heal(self, cluster: Cluster) -> str | None:
        """Let the broker go on, if it stands still."""
        if not cluster.is_alive(self.broker) or not cluster.is_paused(self.broker):
            return None
        cluster.resume(self.broker)
        return f"broker {self.broker} resumed"

    def proof(self, cluster: Cluster) -> Proof | None:
        """Return that the process stands still, if it does."""
        return _shown(cluster, self.broker, lambda state: state.is_paused)


def is_there(cluster: Cluster, broker: int) -> Availability:
    """Return whether a broker's process is there, paused or not."""
    return AVAILABLE if cluster.is_alive(broker) else Availability(f"broker {broker} does not run")


def runs(cluster: Cluster, broker: int) -> Availability:
    """Return whether a broker runs and is not paused."""
    if cluster.is_alive(broker) and cluster.is_paused(broker):
        return Availability(f"broker {broker} is paused")
    return is_there(cluster, broker)


def started(cluster: Cluster, *brokers: int) -> str | None:
    """Start those of the brokers that are down, in the order given; say which, or None if none was.

    In ZooKeeper mode a broker of old does not start while its registration from before is there
    (``ZkUtils.registerBrokerInZk`` of 0.10.2), so that is waited for where sessions are short.
    """
    down = [broker for broker in brokers if not cluster.is_alive(broker)]
    cluster.end_hung(*down)
    if down and cluster.zookeeper_address is not None and cluster.spec.timing is Timing.SESSION:
        _await_session_end(cluster.zookeeper_address, *down)
    for broker in down:
        cluster.start_broker(broker)
    return f"{named(*down)} started" if down else None


def _await_session_end(address: str, *brokers: int) -> None:
    """Wait until ZooKeeper has forgotten brokers that are down."""
    with zookeeper(address) as client:
        until(
            lambda: not any(client.exists(f"/brokers/ids/{broker}") for broker in brokers),
            deadline_s=_SESSION_DEADLINE_S,
            what=f"{named(*brokers)} to be forgotten by ZooKeeper",
        )


def killed(cluster: Cluster, *brokers: int) -> Proof | None:
    """Return that SIGKILL ended the brokers; None when one of them ended otherwise or is there."""
    shown = [_shown(cluster, broker, lambda state: state.was_killed) for broker in brokers]
    processes = tuple(process for proof in shown if proof is not None for process in proof.processes)
    return Proof(f"{named(*brokers)} ended by SIGKILL", processes) if len(processes) == len(brokers) else None


def _shown(cluster: Cluster, broker: int, holds: Callable[[ProcessState], bool]) -> Proof | None:
    """Return what became of a broker's process, if that is what is asked about."""
    state = cluster.process_state(broker)
    if state is None or not holds(state):
        return None
    process = EndedProcess(broker, state.exit_code, state.signal_number, state.is_paused)
    return Proof(f"broker {broker} {state.text}", (process,))


def named(*brokers: int) -> str:
    """Name brokers in words: ``broker 1`` or ``brokers 1, 2``."""
    return f"broker{'s' if len(brokers) > 1 else ''} {', '.join(map(str, brokers))}"


def require_available(availability: Availability) -> None:
    """Make sure that a fault can be injected.

    Raises:
        FaultError: it cannot, and why.
    """
    if not availability:
        raise FaultError(availability.obstacle)
