"""What if a broker's log directory takes no more, or nothing at all?

- ``full_log_directory``: writing ends with ``No space left on device`` once some room is used up.
- ``read_only_log_directory``: opening a file to write ends with ``Read-only file system``.

Both stop a broker that runs as root as well. Both are for a broker that is down: it meets the fault when it starts, or
when it has used the room that it was left. A broker that meets an error of its disk gives the whole log directory up
and goes on with the others since 1.0 (KIP-112); with its last one, and before 1.0 with any, it halts. It takes no
directory back while it runs. So healing kills a broker that still runs, gives the directory its ordinary storage
back with all that was written, and starts the broker again; one that is down stays down.

Sources: KIP-112; ``LogDirFailureChannel`` and ``ReplicaManager.handleLogDirFailure`` of 1.0 and later,
``ReplicaManager.appendToLocalLog`` (``Runtime.halt`` on ``KafkaStorageException``) of 0.10.2.
"""

from dataclasses import dataclass
from typing import ClassVar

from fault_injection.cluster.launches import DATA
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.faults.fault import AVAILABLE, Availability, Proof
from fault_injection.faults.process import require_available, started


@dataclass(frozen=True, slots=True)
class FullLogDirectory:
    """Leave a broker's log directory little room.

    Attributes:
        broker: the broker; it is down.
        room_bytes: how much it may still write, in whole blocks of 4096 bytes; 0: it may not even start.
        directory: the log directory, relative to the node's own.
    """

    name: ClassVar[str] = "full_log_directory"
    broker: int
    room_bytes: int = 0
    directory: str = DATA

    def available(self, cluster: Cluster) -> Availability:
        """Return whether the broker is down, its directory ordinary and the system lets a directory be limited."""
        return _available(cluster, self.broker, self.directory, self.name)

    def inject(self, cluster: Cluster) -> str:
        """Put the directory, with what is in it, where there is no more room.

        Raises:
            FaultError: the broker runs, the directory is limited or read-only, or nothing can be mounted here.
        """
        require_available(self.available(cluster))
        cluster.backend.limit_storage(cluster.node(self.broker), self.directory, self.room_bytes)
        return f"broker {self.broker} has {self.room_bytes} bytes left in {self.directory}"

    def heal(self, cluster: Cluster) -> str | None:
        """Return the directory room again, with all that was written."""
        return _restored(cluster, self.broker, self.directory)

    def proof(self, cluster: Cluster) -> Proof | None:
        """Return what the directory lies on, if not on ordinary storage."""
        return _proof(cluster, self.broker, self.directory)


@dataclass(frozen=True, slots=True)
class ReadOnlyLogDirectory:
    """Let a broker's log directory be read and not written.

    Attributes:
        broker: the broker; it is down.
        directory: the log directory, relative to the node's own.
    """

    name: ClassVar[str] = "read_only_log_directory"
    broker: int
    directory: str = DATA

    def available(self, cluster: Cluster) -> Availability:
        """Return whether the broker is down, its directory ordinary and the system lets one be made read-only."""
        return _available(cluster, self.broker, self.directory, self.name)

    def inject(self, cluster: Cluster) -> str:
        """Make the directory read-only, for root as well.

        Raises:
            FaultError: the broker runs, the directory is limited or read-only, or nothing can be mounted here.
        """
        require_available(self.available(cluster))
        cluster.backend.protect_storage(cluster.node(self.broker), self.directory)
        return f"broker {self.broker} may only read {self.directory}"

    def heal(self, cluster: Cluster) -> str | None:
        """Let the directory be written again."""
        return _restored(cluster, self.broker, self.directory)

    def proof(self, cluster: Cluster) -> Proof | None:
        """Return how the directory is mounted, if it is."""
        return _proof(cluster, self.broker, self.directory)


def _available(cluster: Cluster, broker: int, directory: str, fault: str) -> Availability:
    if cluster.is_alive(broker):
        return Availability(f"broker {broker} runs: {fault} is for a broker that is down, and met when it starts")
    standing = cluster.backend.storage_proof(cluster.node(broker), directory)
    if standing is not None:
        return Availability(f"broker {broker} has {standing} already")
    obstacle = cluster.backend.storage_obstacle()
    return AVAILABLE if obstacle is None else Availability(obstacle)


def _proof(cluster: Cluster, broker: int, directory: str) -> Proof | None:
    text = cluster.backend.storage_proof(cluster.node(broker), directory)
    return None if text is None else Proof(text)


def _restored(cluster: Cluster, broker: int, directory: str) -> str | None:
    node = cluster.node(broker)
    if cluster.backend.storage_proof(node, directory) is None:
        return None
    is_to_run = cluster.is_alive(broker)
    if is_to_run:
        cluster.kill(broker)
    cluster.backend.restore_storage(node, directory)
    if is_to_run:
        started(cluster, broker)
    said = ", and the broker started again with it" if is_to_run else ""
    return f"{directory} of broker {broker} can be written again{said}"
