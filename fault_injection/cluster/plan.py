"""Which ports, links and directories does each node of one cluster get?"""

import socket
from dataclasses import dataclass
from pathlib import Path

from fault_injection.cluster.backend import Backend
from fault_injection.cluster.properties import Listeners
from fault_injection.cluster.relay import Address, LinkName, Relay
from fault_injection.cluster.spec import ClusterSpec, Node, ProcessRole


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
        self._client_ports = PortReservation(backend.client_host)
        self._node_ports = PortReservation(backend.host)
        metadata = spec.metadata_node
        self.metadata_address: Address = (backend.host, self._node_ports.port())
        self.nodes: dict[Node, NodePlan] = {metadata: self._metadata_plan(metadata)}
        for node in spec.broker_nodes:
            self.nodes[node] = self._broker_plan(node)

    def close(self) -> None:
        """Give the ports back."""
        self._client_ports.close()
        self._node_ports.close()

    def _metadata_plan(self, node: Node) -> NodePlan:
        name = "CONTROLLER" if node.role is ProcessRole.CONTROLLER else ""
        links = (self._metadata_link(broker) for broker in self._spec.broker_nodes)
        inbound = {link: self.metadata_address for link in links if link is not None}
        listeners = self._listeners(node, {name: self.metadata_address[1]}, {}, self.metadata_address)
        return NodePlan(node, self._directory_of(node), listeners, inbound)

    def _broker_plan(self, node: Node) -> NodePlan:
        client = (self._backend.client_host, self._client_ports.port())
        replication = (self._backend.host, self._node_ports.port())
        inbound = {LinkName.replication(node.id): replication}
        advertised = {"CLIENT": client, "REPLICATION": self._relay.open(LinkName.replication(node.id), replication)}
        ports = {"CLIENT": client[1], "REPLICATION": replication[1]}
        if self._spec.client_links:
            link, relayed = LinkName.client(node.id), (self._backend.host, self._node_ports.port())
            inbound[link], ports["RELAYED"] = relayed, relayed[1]
            advertised["RELAYED"] = self._relay.open(link, relayed)
        listeners = self._listeners(node, ports, advertised, self._metadata_address_for(node))
        jmx = (self._backend.client_host, self._client_ports.port()) if self._spec.jmx else None
        return NodePlan(node, self._directory_of(node), listeners, inbound, jmx)

    def _metadata_address_for(self, broker: Node) -> Address:
        link = self._metadata_link(broker)
        return self.metadata_address if link is None else self._relay.open(link, self.metadata_address)

    def _metadata_link(self, broker: Node) -> LinkName | None:
        if self._spec.is_kraft:
            return LinkName.controller(self._spec.metadata_node.id, broker.id)
        return LinkName.zookeeper(broker.id) if self._spec.zookeeper_links else None

    def _listeners(
        self, node: Node, ports: dict[str, int], advertised: dict[str, Address], metadata: Address
    ) -> Listeners:
        data_directory = str(self._directory_of(node) / "data")
        return Listeners(self._backend.bind_host, ports, advertised, metadata, data_directory)

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


def address_seen_at(host: str) -> str:
    """Return the address that this machine's own connections to one of its hosts come from; NAT may have changed it.

    Raises:
        OSError: the host is none of this machine's.
    """
    with (
        socket.create_server((host, 0)) as server,
        socket.create_connection(server.getsockname()),
        server.accept()[0] as accepted,
    ):
        return str(accepted.getpeername()[0])
