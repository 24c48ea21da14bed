"""Which settings does each node of a cluster get, and which of them are the tester's doing?

Settings come in three parts, so that a report can tell them apart: *identity* (ids, addresses, directories:
any cluster has them), *imposed* (what the tester sets to make schedules quick and repeatable) and the user's
own *overrides*. Everything else is the release's stock default.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fault_injection.cluster.imposed import imposed_settings
from fault_injection.cluster.relay import Address
from fault_injection.cluster.spec import ClusterSpec, Node, ProcessRole


@dataclass(frozen=True, slots=True)
class Listeners:
    """The addresses of one node.

    Attributes:
        bind_host: the address that the node listens on.
        ports: its listener names and their ports; ZooKeeper has one nameless port.
        advertised: the address that others are told, by listener name.
        metadata_address: the ZooKeeper server, or the KRaft controller as this node is to reach it.
        data_directory: where the node keeps its data, as the node sees it.
    """

    bind_host: str
    ports: Mapping[str, int]
    advertised: Mapping[str, Address]
    metadata_address: Address
    data_directory: str


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
    identity = _common_identity(listeners)
    if node.role is ProcessRole.CONTROLLER:
        identity |= _controller_identity(node)
    else:
        identity |= _broker_identity(spec, node, listeners)
    if spec.is_kraft:
        host, port = listeners.metadata_address
        identity["controller.listener.names"] = "CONTROLLER"
        identity["controller.quorum.voters"] = f"{spec.metadata_node.id}@{host}:{port}"
    return NodeProperties(identity, imposed_settings(spec, node), dict(spec.overrides))


def rack_of(broker: int) -> str:
    """Name the rack of a broker, where each has one of its own."""
    return f"rack-{broker}"


def _zookeeper_identity(listeners: Listeners) -> dict[str, str]:
    return {
        "dataDir": listeners.data_directory,
        "clientPort": str(listeners.ports[""]),
        "clientPortAddress": listeners.bind_host,
    }


def _common_identity(listeners: Listeners) -> dict[str, str]:
    bound = ",".join(f"{name}://{listeners.bind_host}:{port}" for name, port in listeners.ports.items())
    names = dict.fromkeys(("CLIENT", "REPLICATION", "CONTROLLER", *listeners.ports))
    return {
        "log.dirs": listeners.data_directory,
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
    host, port = listeners.metadata_address
    return identity | {"broker.id": str(node.id), "zookeeper.connect": f"{host}:{port}"}
