"""Through which addresses do the nodes of a cluster reach each other?

Brokers advertise, and are told, addresses of a relay instead of each other's real ones, so that every frame
between two nodes passes one place. On request clients, and the brokers' way to ZooKeeper, pass it too. The
cluster opens and closes the relay's endpoints as nodes come and go; what a relay does with the frames is its
own affair.
"""

from dataclasses import dataclass
from typing import Protocol

from fault_injection.wire.points import LinkKind

Address = tuple[str, int]
"""A host and a port."""

LOOPBACK = "127.0.0.0/8"
"""The network that this machine alone is on."""

CLIENTS = -1
"""Stands for all clients as the end of a link, as Kafka's own replica id of a consumer does."""

ZOOKEEPER = -2
"""Stands for ZooKeeper as the end of a link; a broker may have the id 0 that its node has."""


@dataclass(frozen=True, slots=True)
class LinkName:
    """One listening endpoint of a relay.

    Attributes:
        destination: id of the node that is reached through it, or ``ZOOKEEPER``.
        source: None when any broker may come through it (replication: one endpoint per destination); a broker
            id for the KRaft controller channel and ZooKeeper (one endpoint per broker); ``CLIENTS`` for clients.
        kind: which of the destination's listeners it leads to.
    """

    destination: int
    source: int | None
    kind: LinkKind

    @staticmethod
    def replication(destination: int) -> "LinkName":
        """Name the endpoint through which brokers and ZooKeeper-era controllers reach a broker."""
        return LinkName(destination, None, "replication")

    @staticmethod
    def controller(destination: int, source: int) -> "LinkName":
        """Name the endpoint through which one broker reaches a KRaft controller."""
        return LinkName(destination, source, "controller")

    @staticmethod
    def client(destination: int) -> "LinkName":
        """Name the endpoint through which clients reach a broker."""
        return LinkName(destination, CLIENTS, "client")

    @staticmethod
    def zookeeper(source: int) -> "LinkName":
        """Name the endpoint through which one broker reaches ZooKeeper."""
        return LinkName(ZOOKEEPER, source, "zookeeper")


class Relay(Protocol):
    """What a cluster asks of the thing that stands between its nodes."""

    def open(self, link: LinkName, upstream: Address) -> Address:
        """Listen for a link and return the address to advertise; the same one whenever a link re-opens."""
        ...

    def refuse(self, link: LinkName) -> None:
        """Behave as a dead node's port: close the listener, abort its connections and their held frames."""
        ...

    def abort_source(self, broker: int) -> None:
        """Abort every connection that a broker opened: it died."""
        ...

    def close(self) -> None:
        """Close everything."""
        ...


class DirectRelay:
    """No relay at all: nodes are told each other's real addresses, so nothing can be held or cut."""

    def open(self, link: LinkName, upstream: Address) -> Address:  # noqa: ARG002 - every link is its upstream
        """Return the destination's own address."""
        return upstream

    def refuse(self, link: LinkName) -> None:
        """Do nothing: a dead node's own port refuses."""

    def abort_source(self, broker: int) -> None:
        """Do nothing: a dead node's connections end by themselves."""

    def close(self) -> None:
        """Do nothing."""
