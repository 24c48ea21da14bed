"""Which ports, links, directories and settings does each node of one cluster get?"""

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from fault_injection.cluster.backend import Backend
from fault_injection.cluster.imposed import imposed_settings
from fault_injection.cluster.relay import Address, LinkName, Relay
from fault_injection.cluster.spec import ClusterSpec, Node, ProcessRole

DATA = "data"
"""The folder in a node's directory that it stores its logs in; a second log directory stands beside it."""


def numbered(first: str, log_dirs: int) -> list[str]:
    """Return a node's log directories, the first one's name or path given: the others have a number behind it."""
    return [first, *(f"{first}-{number}" for number in range(2, log_dirs + 1))]


def log_directories(spec: ClusterSpec) -> list[str]:
    """Return the names of the log directories in a node's directory: numbered, or those of ``log.dirs`` of the user."""
    return spec.overrides["log.dirs"].split(",") if "log.dirs" in spec.overrides else numbered(DATA, spec.log_dirs)


# Which settings does each node of a cluster get, and which of them are the tester's doing?
#
# Settings come in three parts, so that a report can tell them apart: *identity* (ids, addresses, directories:
# any cluster has them), *imposed* (what the tester sets to make schedules quick and repeatable) and the user's
# own *overrides*. Everything else is the release's stock default.


@dataclass(frozen=True, slots=True)
class Listeners:
    """The addresses of one node.

    Attributes:
        bind_host: the address that the node listens on.
        ports: its listener names and their ports; ZooKeeper has one nameless port.
        advertised: the address that others are told, by listener name.
        metadata_addresses: the ZooKeeper server, or each KRaft controller, as this node is to reach it, by node id.
        data_directory: where the node keeps its data, as the node sees it: its first log directory.
        bound_elsewhere: the listeners that are not on ``bind_host``, and the address that each is on.
    """

    bind_host: str
    ports: Mapping[str, int]
    advertised: Mapping[str, Address]
    metadata_addresses: Mapping[int, Address]
    data_directory: str
    bound_elsewhere: Mapping[str, str] = field(default_factory=dict)

    def bound(self, name: str) -> str:
        """Return a listener as ``listeners`` has it: its name, address and port."""
        return f"{name}://{self.bound_elsewhere.get(name, self.bind_host)}:{self.ports[name]}"


@dataclass(frozen=True, slots=True)
class NodeProperties:
    """The settings of one node, by where they come from."""

    identity: Mapping[str, str]
    imposed: Mapping[str, str]
    overrides: Mapping[str, str]

    @property
    def merged(self) -> dict[str, str]:
        """All settings; the user's win over the tester's, which win over the identity."""
        return {**self.identity, **self.imposed, **self.overrides}

    def text(self) -> str:
        """Return the settings as a Java properties file."""
        return "".join(f"{key}={value}\n" for key, value in sorted(self.merged.items()))


def properties(spec: ClusterSpec, node: Node, listeners: Listeners) -> NodeProperties:
    """Return the settings of one node of a cluster."""
    if node.role is ProcessRole.ZOOKEEPER:
        return NodeProperties(_zookeeper_identity(listeners), imposed_settings(spec, node), {})
    identity = _common_identity(listeners, spec.log_dirs)
    if node.role is ProcessRole.CONTROLLER:
        identity |= _controller_identity(node)
    else:
        identity |= _broker_identity(spec, node, listeners)
    if spec.is_kraft:
        voters = (f"{one}@{host}:{port}" for one, (host, port) in listeners.metadata_addresses.items())
        identity["controller.listener.names"] = "CONTROLLER"
        identity["controller.quorum.voters"] = ",".join(voters)
    overrides = {**spec.overrides, **spec.node_overrides.get(node.id, {})}
    return NodeProperties(identity, imposed_settings(spec, node), overrides)


def rack_of(broker: int) -> str:
    """Name the rack of a broker, where each has one of its own."""
    return f"rack-{broker}"


def _zookeeper_identity(listeners: Listeners) -> dict[str, str]:
    return {
        "dataDir": listeners.data_directory,
        "clientPort": str(listeners.ports[""]),
        "clientPortAddress": listeners.bind_host,
    }


def _common_identity(listeners: Listeners, log_dirs: int) -> dict[str, str]:
    bound = ",".join(map(listeners.bound, listeners.ports))
    names = dict.fromkeys(("CLIENT", "REPLICATION", "CONTROLLER", *listeners.ports))
    return {
        "log.dirs": ",".join(numbered(listeners.data_directory, log_dirs)),
        "listeners": bound,
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in names),
    }


def _controller_identity(node: Node) -> dict[str, str]:
    return {"process.roles": "controller", "node.id": str(node.id)}


def _broker_identity(spec: ClusterSpec, node: Node, listeners: Listeners) -> dict[str, str]:
    advertised = ",".join(f"{name}://{host}:{port}" for name, (host, port) in listeners.advertised.items())
    identity = {"advertised.listeners": advertised, "inter.broker.listener.name": "REPLICATION"}
    if spec.racks:
        identity["broker.rack"] = rack_of(node.id)
    if spec.is_kraft:
        return identity | {"process.roles": "broker", "node.id": str(node.id)}
    ((host, port),) = listeners.metadata_addresses.values()
    return identity | {"broker.id": str(node.id), "zookeeper.connect": f"{host}:{port}"}


@dataclass(frozen=True, slots=True)
class NodePlan:
    """One node's place in a cluster.

    Attributes:
        node: the node.
        directory: its directory on this machine.
        listeners: its addresses.
        inbound: the links that lead to it, with the real address behind each.
        jmx: where the tester reaches its gauges, if it shows them.
    """

    node: Node
    directory: Path
    listeners: Listeners
    inbound: dict[LinkName, Address]
    jmx: Address | None = None


class ClusterPlan:
    """The plans of all nodes, and the ports that are reserved for them until it is closed."""

    def __init__(self, spec: ClusterSpec, directory: Path, backend: Backend, relay: Relay) -> None:
        self._spec, self._directory, self._backend, self._relay = spec, directory, backend, relay
        self._reserved: dict[str, PortReservation] = {}
        self._keepers = {node.id: self._reserve(self._host_of(node)) for node in spec.metadata_nodes}
        self.nodes: dict[Node, NodePlan] = {node: self._metadata_plan(node) for node in spec.metadata_nodes}
        for node in spec.broker_nodes:
            self.nodes[node] = self._broker_plan(node)

    @property
    def metadata_address(self) -> Address:
        """Return the real address of ZooKeeper, or of the first KRaft controller."""
        return self._keepers[self._spec.metadata_node.id]

    def close(self) -> None:
        """Give the ports back."""
        for reserved in self._reserved.values():
            reserved.close()

    def _reserve(self, host: str) -> Address:
        return host, self._reserved.setdefault(host, PortReservation(host)).port()

    def _host_of(self, keeper: Node) -> str:
        return self._spec.controller_hosts.get(keeper.id, self._backend.host)

    def _metadata_plan(self, node: Node) -> NodePlan:
        name, address = "CONTROLLER" if node.role is ProcessRole.CONTROLLER else "", self._keepers[node.id]
        links = (self._metadata_link(node, broker) for broker in self._spec.broker_nodes)
        inbound = {link: address for link in links if link is not None}
        listeners = self._listeners(node, {name: address[1]}, {}, self._keepers)
        return NodePlan(node, self._directory_of(node), listeners, inbound)

    def _broker_plan(self, node: Node) -> NodePlan:
        client, replication = self._client_address(), self._reserve(self._backend.host)
        inbound = {LinkName.replication(node.id): replication}
        advertised = {"CLIENT": client, "REPLICATION": self._relay.open(LinkName.replication(node.id), replication)}
        ports = {"CLIENT": client[1], "REPLICATION": replication[1]}
        if self._spec.client_links:
            link, relayed = LinkName.client(node.id), self._reserve(self._backend.host)
            inbound[link], ports["RELAYED"] = relayed, relayed[1]
            advertised["RELAYED"] = self._relay.open(link, relayed)
        listeners = self._listeners(node, ports, advertised, self._metadata_addresses_for(node))
        if self._spec.advertised is not None and self._backend.bind_host == self._backend.client_host:
            listeners = replace(listeners, bound_elsewhere={"CLIENT": self._spec.advertised.address})
        jmx = self._reserve(self._backend.client_host) if self._spec.jmx else None
        return NodePlan(node, self._directory_of(node), listeners, inbound, jmx)

    def _client_address(self) -> Address:
        """Reserve a port for a CLIENT listener, and return where clients are told that it is.

        A node whose network is this machine's listens there itself; a container is published there.
        """
        advertised = self._spec.advertised
        if advertised is None:
            return self._reserve(self._backend.client_host)
        return advertised.name, self._reserve(advertised.address)[1]

    def _metadata_addresses_for(self, broker: Node) -> dict[int, Address]:
        found: dict[int, Address] = {}
        for node in self._spec.metadata_nodes:
            link, address = self._metadata_link(node, broker), self._keepers[node.id]
            found[node.id] = address if link is None else self._relay.open(link, address)
        return found

    def _metadata_link(self, keeper: Node, broker: Node) -> LinkName | None:
        if self._spec.is_kraft:
            return LinkName.controller(keeper.id, broker.id)
        return LinkName.zookeeper(broker.id) if self._spec.zookeeper_links else None

    def _listeners(
        self, node: Node, ports: dict[str, int], advertised: dict[str, Address], keepers: dict[int, Address]
    ) -> Listeners:
        data_directory = str(self._directory_of(node) / DATA)
        bind_host = self._spec.controller_hosts.get(node.id, self._backend.bind_host)
        return Listeners(bind_host, ports, advertised, keepers, data_directory)

    def _directory_of(self, node: Node) -> Path:
        name = str(node.id) if node.role is ProcessRole.BROKER else node.name
        return self._directory.absolute() / name


# Which ports may a cluster use, so that nobody takes one while its broker is down?
#
# The kernel picks free ports. Each one stays bound, without listening, for as long as the reservation lives:
# the kernel then gives it to nobody else, neither to another program nor to an outgoing connection, while a
# broker, which binds with SO_REUSEADDR as Java does, can listen on it, die, and listen on it again. A
# connection to a port that is only reserved is refused, as for any dead port.


class PortReservation:
    """Ports of one host that are kept for one cluster."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._host = host
        self._sockets: list[socket.socket] = []

    def port(self) -> int:
        """Reserve one more port."""
        reserved = socket.socket()
        reserved.bind((self._host, 0))
        # Only now: a socket that allows reuse before it is bound could be given a port that is in use.
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._sockets.append(reserved)
        return int(reserved.getsockname()[1])

    def close(self) -> None:
        """Give all ports back."""
        for reserved in self._sockets:
            reserved.close()
        self._sockets.clear()
