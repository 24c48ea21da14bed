"""What can be wrong with the network between the nodes, as faults that are injected and healed?

- ``cut``: nothing passes from one node to another, or both ways. By a *blackhole* connections stay and nobody
  hears anything, as in a partition; by *resets* connections end whenever they are tried.
- ``isolate``: all ways from and to a broker are cut, those of clients and ZooKeeper as well if they lead through
  the relay.
- ``delay``: bytes arrive later.

All are done at the relay, per way: a node may be heard that does not hear. Each is only armed until
traffic meets it: a cut has fired once it stopped something. What a blackhole stopped goes on when it is healed;
with ``at_heal="reset"`` its connections end instead, and their nodes open new ones.
"""

from dataclasses import dataclass
from typing import Literal

from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import CLIENTS, ZOOKEEPER
from fault_injection.faults.fault import AVAILABLE, Availability, FaultError, FiredFrame
from fault_injection.wire.impairments import (
    Impairment,
    ImpairmentError,
    ImpairmentEvidence,
    LinkCut,
    LinkDelay,
    LinkDirection,
    Touched,
    around,
    between,
)
from fault_injection.wire.points import LinkKind
from fault_injection.wire.proxy import GateProxy

By = Literal["blackhole", "reset"]
AtHeal = Literal["deliver", "reset"]


class FiredTraffic(FiredFrame):
    """Traffic that an impairment met and that is no frame: bytes to ZooKeeper, or a connection as a whole."""

    __slots__ = ()

    @property
    def text(self) -> str:  # type: ignore[explicit-override]  # typing has it from 3.12 on
        """What it is, in words."""
        return f"connection {self.connection} ({self.api}, {self.direction}s)"


@dataclass(frozen=True, slots=True)
class ImpairedNetwork:
    """An impairment of some ways; made by ``cut``, ``isolate`` and ``delay``.

    Attributes:
        name: the word for it.
        gate: the relay that the cluster was started with.
        impairment: what is imposed.
        at_heal: what becomes of what it stopped.
    """

    name: str
    gate: GateProxy
    impairment: Impairment
    at_heal: AtHeal = "deliver"

    @property
    def text(self) -> str:
        """What is imposed on which ways, in words: the name that it is imposed under."""
        return f"{self.name} {self.impairment.text}: {', '.join(way.text for way in self.impairment.ways)}"

    def available(self, cluster: Cluster) -> Availability:
        """Return whether its ways lead through the relay and it is not imposed already."""
        obstacle = _obstacle(cluster, self.gate, self.impairment.ways)
        if not obstacle and self.text in self.gate.network.imposed():
            obstacle = f"{self.text} is imposed already"
        return Availability(obstacle) if obstacle else AVAILABLE

    def inject(self, cluster: Cluster) -> str:
        """Impose it and return in words what is imposed.

        Raises:
            FaultError: a way does not lead through the relay, or it is imposed already.
        """
        _require(self.available(cluster))
        self.gate.network.impose(self.text, self.impairment)
        return self.text

    def heal(self, cluster: Cluster) -> str | None:  # noqa: ARG002 - a relay serves one cluster
        """Lift it and return in words what it did; None if it is not imposed."""
        if self.text not in self.gate.network.imposed():
            return None
        if self.at_heal == "reset":
            self.gate.network.reset(*self.impairment.ways)
        return f"{self.text}: lifted; {self.gate.network.lift(self.text).text}"

    def evidence(self) -> ImpairmentEvidence:
        """Return what it did so far. Raises ImpairmentError if it was never injected."""
        return self.gate.network.evidence(self.text)

    def fired(self) -> FiredFrame | None:
        """Return the first frame that it met, or the first connection; None while it met none or was never injected."""
        try:
            first = self.evidence().first
        except ImpairmentError:
            return None
        return None if first is None else _proof(first)

    def awaited(self) -> str:
        """Say in words which traffic is awaited."""
        return f"traffic on {', '.join(way.text for way in self.impairment.ways)}"

    def came_instead(self) -> str:
        """Say in words what there was on these ways."""
        return f"nothing came that way; {self.gate.network.count(*self.impairment.ways)} connections have it"


def cut(
    gate: GateProxy,
    sender: int | None,
    receiver: int | None,
    *,
    both_ways: bool = False,
    kind: LinkKind | None = None,
    by: By = "blackhole",
    at_heal: AtHeal = "deliver",
) -> ImpairedNetwork:
    """Let the receiver not hear the sender, or with ``both_ways`` neither the other; None is any other node.

    Nodes are named by id, ``CLIENTS`` and ``ZOOKEEPER`` by theirs in ``cluster.relay``.
    """
    ways = between(sender, receiver, kind) if both_ways else (LinkDirection(sender, receiver, kind),)
    return ImpairedNetwork("cut", gate, LinkCut(ways, by), at_heal)


def isolate(gate: GateProxy, broker: int, *, by: By = "blackhole", at_heal: AtHeal = "deliver") -> ImpairedNetwork:
    """Cut all that a broker sends and hears through the relay."""
    return ImpairedNetwork("isolate", gate, LinkCut(around(broker), by), at_heal)


def delay(
    gate: GateProxy, sender: int | None, receiver: int | None, delay_ms: int, *, kind: LinkKind | None = None
) -> ImpairedNetwork:
    """Let what the sender sends arrive later."""
    return ImpairedNetwork("delay", gate, LinkDelay((LinkDirection(sender, receiver, kind),), delay_ms))


def _obstacle(cluster: Cluster, gate: GateProxy, ways: tuple[LinkDirection, ...]) -> str:
    """Return why these ways cannot be impaired in a cluster; empty if they can."""
    spec = cluster.spec
    if cluster.relay is not gate:
        return "the cluster was not started with this relay"
    named = {node for way in ways for node in (way.sender, way.receiver)} - {None}
    kinds = {way.kind for way in ways}
    if (CLIENTS in named or "client" in kinds) and not spec.client_links:
        return "clients reach the brokers directly (client_links)"
    if (ZOOKEEPER in named or "zookeeper" in kinds) and (spec.is_kraft or not spec.zookeeper_links):
        return "no broker reaches ZooKeeper through the relay (zookeeper_links)"
    if "controller" in kinds and not spec.is_kraft:
        return "there is no channel to a KRaft controller"
    known = {node.id for node in spec.broker_nodes} | {CLIENTS, ZOOKEEPER, spec.controller_id}
    known |= set(spec.other_controller_ids)
    unknown = sorted(str(node) for node in named - known)
    return f"there is no node {', '.join(unknown)}" if unknown else ""


def _require(available: Availability) -> None:
    if not available:
        raise FaultError(available.obstacle)


def _proof(touched: Touched) -> FiredFrame:
    frame, direction = touched.first, touched.flow.direction
    if frame is None:
        return FiredTraffic(touched.connection, touched.flow.kind, -1, direction, None, touched.at_ns)
    return FiredFrame(touched.connection, frame.api, frame.correlation_id, direction, frame.fetch_offset, touched.at_ns)
