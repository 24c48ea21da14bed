"""What cluster does a run ask for?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

from fault_injection.cluster.hosts import AdvertisedHost
from fault_injection.releases import MetadataMode, Release, UsageError

PATIENCE_S = 60
"""How long a node waits for an answer that is held, unless somebody looks at the brokers meanwhile."""

LAG_S = 120
"""How long a run may take whose followers shall not leave the in-sync replicas by themselves."""


class Timing(Enum):
    """Who removes a silent replica from the in-sync set, decided by which clock runs out first.

    SESSION: the controller does, once the broker's session is gone (2 s; lag 120 s).
    LAG: the leader does, once the follower lags (3 s; session 60 s).
    """

    SESSION = "session"
    LAG = "lag"


class HighWatermarkCheckpoint(Enum):
    """When brokers write their high watermarks to disk: every 100 ms, or never while they run."""

    PROMPT = "prompt"
    NEVER = "never"


class ProcessRole(Enum):
    """What a node of a cluster does."""

    ZOOKEEPER = "zookeeper"
    CONTROLLER = "controller"
    BROKER = "broker"


@dataclass(frozen=True, slots=True)
class Node:
    """One process of a cluster."""

    role: ProcessRole
    id: int

    @property
    def name(self) -> str:
        """Return the name that directories and containers carry, for example ``broker-1``."""
        return f"{self.role.value}-{self.id}"


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """A cluster as a run asks for it.

    Attributes:
        release: the Kafka release of all its nodes.
        metadata_mode: ZooKeeper or KRaft; the release must have it.
        broker_ids: the brokers that may hold replicas.
        controller_id: KRaft: the id of the one isolated controller. ZooKeeper: the id of a witness broker
            that is started first, so that it is the controller, and gets no replicas; None for no witness.
        other_controller_ids: KRaft: further isolated controllers, which vote with the first. Brokers reach them
            through the relay, and they each other directly.
        controller_hosts: by id, the loopback address that a controller listens on and is known by, as on a host of its
            own (process backend); the backend's own without one.
        timing: who removes silent replicas from the in-sync set.
        checkpoint: when high watermarks are written to disk.
        fetch_wait_max_ms: how long a leader parks a follower's empty fetch, in milliseconds.
        fetch_sessions: whether incremental fetch sessions (KIP-227) stay on, as brokers have them from 1.1 on.
        patience_s: how long a node waits for an answer that is held, in seconds.
        lag_s: under ``session``, how long a silent follower stays in sync: longer than any schedule takes, in seconds.
        overrides: broker settings of the user's own; they win over everything else.
        node_overrides: by id, what a node alone has of such settings; they win over ``overrides``. Not ``log.dirs``.
        features: KRaft feature levels to format with, beside the release's own (``--feature``).
        advertised: where CLIENT listeners are bound and advertised, so that clients elsewhere reach them; nothing else
            of the cluster is there. None for where the backend has them, which this machine alone reaches.
        client_links: whether brokers have a second listener for clients, RELAYED, that leads through the relay.
            The tester's own questions go to the CLIENT listener, which is direct.
        zookeeper_links: whether brokers reach ZooKeeper through the relay; nothing to a KRaft cluster.
        log_dirs: how many log directories a broker has on its disk: ``data``, ``data-2`` and so on.
        racks: whether each broker is in a rack of its own (``fault_injection.cluster.plan.rack_of``).
        jmx: whether brokers show their gauges on a JMX port.
    """

    release: Release
    metadata_mode: MetadataMode
    broker_ids: tuple[int, ...] = (1, 2, 3)
    controller_id: int | None = 100
    other_controller_ids: tuple[int, ...] = ()
    controller_hosts: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    timing: Timing = Timing.SESSION
    checkpoint: HighWatermarkCheckpoint = HighWatermarkCheckpoint.PROMPT
    fetch_wait_max_ms: int = 100
    fetch_sessions: bool = True
    patience_s: int = PATIENCE_S
    lag_s: int = LAG_S
    overrides: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    node_overrides: Mapping[int, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    features: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    advertised: AdvertisedHost | None = None
    client_links: bool = False
    zookeeper_links: bool = False
    jmx: bool = False
    racks: bool = False
    log_dirs: int = 1

    def __post_init__(self) -> None:
        self.release.metadata_mode(self.metadata_mode)
        if not self.broker_ids or len(set(self.broker_ids)) < len(self.broker_ids):
            raise UsageError(f"A cluster needs brokers with ids of their own, not {list(self.broker_ids)}.")
        if self.controller_id in self.broker_ids:
            raise UsageError(f"Id {self.controller_id} cannot be a broker and the controller at once.")
        if self.is_kraft and self.controller_id is None:
            raise UsageError("A KRaft cluster needs a controller id.")
        self._check_other_controllers()
        self._check_log_directories()

    def _check_other_controllers(self) -> None:
        others = self.other_controller_ids
        if others and not self.is_kraft:
            raise UsageError("With ZooKeeper there is one controller, and no voter beside it.")
        taken = {*self.broker_ids, self.controller_id, *others}
        if len(taken) < len(self.broker_ids) + 1 + len(others):
            raise UsageError(f"Controllers need ids of their own, not {list(others)}.")

    def _check_log_directories(self) -> None:
        if self.log_dirs < 1:
            raise UsageError(f"A broker needs a log directory at least, not {self.log_dirs}.")
        if self.log_dirs > 1 and "log.dirs" in self.overrides:
            raise UsageError("Either log.dirs names the log directories, or the cluster numbers them.")

    @property
    def is_kraft(self) -> bool:
        """Return whether KRaft controllers keep the metadata."""
        return self.metadata_mode is MetadataMode.KRAFT

    @property
    def witness_id(self) -> int | None:
        """Return the broker that is there only to be the ZooKeeper-era controller, if any."""
        return None if self.is_kraft else self.controller_id

    @property
    def broker_nodes(self) -> tuple[Node, ...]:
        """All nodes that run a broker, the witness first."""
        witness = () if self.witness_id is None else (Node(ProcessRole.BROKER, self.witness_id),)
        return witness + tuple(Node(ProcessRole.BROKER, broker) for broker in self.broker_ids)

    @property
    def metadata_node(self) -> Node:
        """Return the node that keeps the metadata: ZooKeeper or the KRaft controller."""
        if self.is_kraft:
            assert self.controller_id is not None, "checked at construction"
            return Node(ProcessRole.CONTROLLER, self.controller_id)
        return Node(ProcessRole.ZOOKEEPER, 0)

    @property
    def metadata_nodes(self) -> tuple[Node, ...]:
        """Return every node that keeps the metadata: ZooKeeper, or each KRaft controller, the one above first."""
        others = tuple(Node(ProcessRole.CONTROLLER, one) for one in self.other_controller_ids)
        return (self.metadata_node, *others)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, in the order in which they are started."""
        return (*self.metadata_nodes, *self.broker_nodes)
