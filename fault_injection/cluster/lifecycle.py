"""How is a cluster started, hurt, healed and ended?"""

import posixpath
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from fault_injection.cluster.backend import Backend, ClusterError, NodeDiedError, ProcessState
from fault_injection.cluster.bring_up import bring_up
from fault_injection.cluster.launches import LOG, node_launch
from fault_injection.cluster.lost_nodes import LostNode, first_cause
from fault_injection.cluster.plan import DATA, ClusterPlan, NodePlan, NodeProperties, numbered, properties
from fault_injection.cluster.relay import Address, Relay
from fault_injection.cluster.spec import ClusterSpec, Node, ProcessRole
from fault_injection.releases import JarSet
from fault_injection.waiting import until

_STOP_DEADLINE_S = 90.0
"""Up to 1.0 a broker waits for the answer to its fetch, for a minute if a hold has it (KAFKA-6051)."""
_LOG_TAIL_LINES = 25


class Cluster:
    """A running cluster of real brokers; a context manager that ends it.

    Brokers are named by id; so is the KRaft controller where killing, pausing and reading are concerned.

    Attributes:
        may_end: the brokers whose own end is no surprise just now.
    """

    def __init__(self, spec: ClusterSpec, jars: JarSet, backend: Backend, relay: Relay, directory: Path) -> None:
        self.spec = spec
        self.jars = jars
        self.backend = backend
        self.relay = relay
        self.directory = directory
        self._plan = ClusterPlan(spec, directory, backend, relay)
        self._by_id = {
            node.id: plan for node, plan in self._plan.nodes.items() if node.role is not ProcessRole.ZOOKEEPER
        }
        self._ended_by_us: set[Node] = set(self._plan.nodes)
        self._paused: set[int] = set()
        self._hung: set[int] = set()
        self._told_at_launch: dict[Node, tuple[int, int]] = {}
        self.may_end: frozenset[int] = frozenset()

    @classmethod
    def start(
        cls,
        spec: ClusterSpec,
        jars: JarSet,
        backend: Backend,
        relay: Relay,
        directory: Path,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Self:
        """Start all nodes and return when every broker is registered and every one knows it.

        Args:
            spec: what is wanted.
            jars: the release's jars.
            backend: where the nodes run; it is not closed with the cluster.
            relay: what stands between them; it is not closed with the cluster.
            directory: gets a directory for each node, named by broker id.
            progress: told in words what is going on.

        Raises:
            ClusterError: the cluster does not come up; everything that was started is ended.
        """
        cluster = cls(spec, jars, backend, relay, directory)
        try:
            bring_up(cluster, progress)
        except BaseException:
            cluster.shutdown()
            raise
        return cluster

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()

    # What it is

    @property
    def zookeeper_address(self) -> str | None:
        """``host:port`` of ZooKeeper; None in KRaft mode."""
        host, port = self._plan.metadata_address
        return None if self.spec.is_kraft else f"{host}:{port}"

    @property
    def plans(self) -> tuple[NodePlan, ...]:
        """Return the plans of all nodes, in the order in which they are started."""
        return tuple(self._plan.nodes.values())

    @property
    def bootstrap(self) -> str:
        """Return the client addresses of all brokers that may hold replicas, live or not."""
        return ",".join(map(self.client_address, self.spec.broker_ids))

    @property
    def live_brokers(self) -> tuple[int, ...]:
        """Return the brokers, the witness among them, that run and are not paused."""
        return tuple(n.id for n in self.spec.broker_nodes if self.is_alive(n.id) and n.id not in self._paused)

    def client_address(self, broker: int) -> str:
        """Return ``host:port`` of a broker's CLIENT listener."""
        host, port = self._by_id[broker].listeners.advertised["CLIENT"]
        return f"{host}:{port}"

    def jmx_address(self, broker: int) -> Address:
        """Return the address of a broker's gauges, which the specification must ask for."""
        address = self._by_id[broker].jmx
        assert address is not None, "the cluster has no JMX ports"
        return address

    def node(self, node_id: int) -> Node:
        """Return a node by its id, as backends know it."""
        return self._by_id[node_id].node

    def settings(self, node_id: int) -> NodeProperties:
        """Return a node's settings, by where they come from."""
        plan = self._by_id[node_id]
        return properties(self.spec, plan.node, plan.listeners)

    def is_alive(self, broker: int) -> bool:
        """Return whether a broker's process is there, also while it is paused, and does not hang in its shutdown."""
        return broker not in self._hung and self.backend.is_running(self._by_id[broker].node)

    def process_state(self, broker: int) -> ProcessState | None:
        """Return what became of a broker's process; None when it was never started."""
        return self.backend.process_state(self._by_id[broker].node)

    def is_paused(self, broker: int) -> bool:
        """Return whether a broker was frozen and not resumed."""
        return broker in self._paused

    def check_alive(self, *brokers: int) -> None:
        """Make sure that every node runs that nobody ended, and each of these brokers, also one that may end by itself.

        Raises:
            NodeDiedError: one ended although nobody ended it.
        """
        asked = {self._by_id[broker].node for broker in brokers} - self._ended_by_us
        gone = [node for node in self.spec.nodes if node in asked and not self.backend.is_running(node)]
        for node in (*gone, *self._ended_alone()):
            why = first_cause(self._told_since_launch(node)[0])  # who gives up shuts down in good order after that
            tail = self._log_of(node).splitlines()[-_LOG_TAIL_LINES:]
            raise NodeDiedError(node.name, "\n".join(([] if why is None else [why]) + tail))

    def lost_nodes(self) -> tuple[LostNode, ...]:
        """Return the nodes that ended although nobody ended them and they may not, with what they logged."""
        return tuple(
            LostNode(node.name, self.backend.process_state(node) or ProcessState(), *self._told_since_launch(node))
            for node in self._ended_alone()
        )

    def logs_since_launch(self) -> dict[str, str]:
        """Return what each node logged, and what it printed, since it was last started, by the node's name."""
        return {node.name: "".join(self._told_since_launch(node)) for node in self.spec.nodes}

    def _ended_alone(self) -> list[Node]:
        """Return the nodes that ended although nobody ended them, but for those that may end by themselves."""
        may_end = {self._by_id[broker].node for broker in self.may_end}
        watched = (node for node in self.spec.nodes if node not in self._ended_by_us | may_end)
        return [node for node in watched if not self.backend.is_running(node)]

    # What can be done to it

    def launch(self, node: Node) -> None:
        """Start a node's process, with its links open; return at once."""
        plan = self._plan.nodes[node]
        for link, upstream in plan.inbound.items():
            self.relay.open(link, upstream)
        was_launched = node in self._told_at_launch  # else what is there is an earlier cluster's
        told = (len(self._logged(node)), len(self.backend.output(node))) if was_launched else (0, 0)
        self._told_at_launch[node] = told
        self.backend.run(node_launch(self.spec, plan, self.jars))
        self._ended_by_us.discard(node)

    def start_broker(self, broker: int) -> None:
        """Start a broker again with its data; return when its process runs, long before it is registered."""
        self.launch(self._by_id[broker].node)

    def kill(self, *brokers: int) -> None:
        """End brokers without a warning, all at once; return when their processes and all connections are gone.

        ``readiness.await_unregistered`` waits until the controller noticed.
        """
        nodes = [self._by_id[broker].node for broker in brokers]
        self._ended_by_us.update(nodes)
        self.backend.kill(*nodes)
        for broker in brokers:
            self._gone(broker)

    def stop(self, broker: int, deadline_s: float = _STOP_DEADLINE_S) -> None:
        """Shut a broker down gracefully (SIGTERM) and wait until its process is gone.

        Raises:
            DeadlineExceededError: it did not end within ``deadline_s`` seconds.
        """
        node = self._by_id[broker].node
        self._ended_by_us.add(node)
        self.backend.terminate(node)
        until(lambda: not self.backend.is_running(node), deadline_s=deadline_s, what=f"end of {node.name}")
        self._gone(broker)

    def note_end(self, broker: int) -> None:
        """Note that a broker ended by itself, as it may: its links are closed as by ``stop``.

        If its process is still there it hangs in its shutdown: nobody takes it for alive from now on.
        """
        node = self._by_id[broker].node
        if self.backend.is_running(node):
            self._hung.add(broker)
        self._ended_by_us.add(node)
        self._gone(broker)

    def end_hung(self, *brokers: int) -> None:
        """End those of the brokers that hang in their shutdown with SIGKILL: no other signal can."""
        if hung := self._hung.intersection(brokers):
            self.kill(*sorted(hung))
            self._hung -= hung

    def pause(self, broker: int) -> None:
        """Freeze a broker: its connections stay open and nothing answers."""
        self.backend.pause(self._by_id[broker].node)
        self._paused.add(broker)

    def resume(self, broker: int) -> None:
        """Let a frozen broker go on."""
        self.backend.resume(self._by_id[broker].node)
        self._paused.discard(broker)

    def shutdown(self) -> None:
        """End every node, without ceremony.

        Their logs are then in their directories on this machine. What they stored stays as long as the backend
        keeps it: containers keep it until the backend is closed, or runs the next cluster.
        """
        for node, plan in reversed(self._plan.nodes.items()):
            self.backend.retire(node)
            for link in plan.inbound:
                self.relay.refuse(link)
        self._ended_by_us.update(self._plan.nodes)
        self._plan.close()

    def _gone(self, broker: int) -> None:
        self._paused.discard(broker)
        for link in self._by_id[broker].inbound:
            self.relay.refuse(link)
        self.relay.abort_source(broker)

    # What it leaves on disk

    def data_directory(self, broker: int) -> Path:
        """Return the first directory that a node stores its logs and checkpoint files in, as the node sees it."""
        return self._by_id[broker].directory / DATA

    def log_directory_of(self, broker: int, folder: str) -> str:
        """Return the name of the log directory that has a replica's folder, such as ``t-0``; the first if none has."""
        names = numbered(DATA, self.spec.log_dirs)
        if len(names) == 1:
            return DATA
        files = self.backend.files(self._by_id[broker].node)
        return next((name for name in names if any(file.startswith(f"{name}/{folder}/") for file in files)), DATA)

    def files(self, broker: int) -> list[str]:
        """Return a node's data files, relative to the log directory that has each, whether it runs or not."""
        below = tuple(f"{name}/" for name in numbered(DATA, self.spec.log_dirs))
        files = self.backend.files(self._by_id[broker].node)
        return sorted({name.partition("/")[2] for name in files if name.startswith(below)})

    def read_file(self, broker: int, relative: str, beside: str = "") -> bytes:
        """Read one of a node's data files, whether it runs or not.

        Args:
            broker: the node.
            relative: its path below the log directory that has it.
            beside: the replica's folder in whose log directory it is, for what each log directory has.

        Raises:
            ClusterError: the path leads out of the log directory.
            FileNotFoundError: there is no such file.
        """
        return self.backend.read(self._by_id[broker].node, self._below_data(broker, relative, beside))

    def write_file(self, broker: int, relative: str, content: bytes, beside: str = "") -> None:
        """Put one data file into a log directory of a node that is down, in place of the one that is there.

        Raises:
            ClusterError: the node runs, or the path leads out of the log directory.
            FileNotFoundError: there is no such folder.
        """
        self.backend.write(self._dead(broker), self._below_data(broker, relative, beside), content)

    def remove_files(self, broker: int, *relative: str, beside: str = "") -> None:
        """Remove data files of a node that is down; what is absent is none the worse.

        Raises:
            ClusterError: the node runs, or a path leads out of the log directory.
        """
        self.backend.remove(self._dead(broker), *(self._below_data(broker, name, beside) for name in relative))

    def _below_data(self, broker: int, relative: str, beside: str) -> str:
        home = self.log_directory_of(broker, beside or relative.partition("/")[0])
        path = posixpath.normpath(posixpath.join(home, relative))
        if not path.startswith(f"{home}/"):
            raise ClusterError(f"{relative} is not below the data directory")
        return path

    def _dead(self, broker: int) -> Node:
        node = self._by_id[broker].node
        if self.backend.is_running(node):
            raise ClusterError(f"{node.name} runs: its files can be changed only while it is down")
        return node

    def log_text(self, broker: int) -> str:
        """Return what a node logged, and what it printed."""
        return self._log_of(self._by_id[broker].node)

    def node_logs(self) -> dict[str, str]:
        """Return what every node logged, and what it printed, by the node's name; of one that never ran nothing."""
        return {node.name: self._log_of(node) for node in self.spec.nodes}

    def _log_of(self, node: Node) -> str:
        return self._logged(node) + self.backend.output(node)

    def _logged(self, node: Node) -> str:
        try:
            return self.backend.read(node, LOG).decode(errors="replace")
        except FileNotFoundError:
            return ""

    def _told_since_launch(self, node: Node) -> tuple[str, str]:
        """Return what a node logged, and what it printed, since it was last started; what is shorter now began anew."""
        logged, printed = self._told_at_launch.get(node, (0, 0))
        log, output = self._logged(node), self.backend.output(node)
        return log[logged if logged <= len(log) else 0 :], output[printed if printed <= len(output) else 0 :]
