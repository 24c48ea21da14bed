"""How does a tester stand between the nodes of a cluster?

``GateProxy`` is the relay a cluster is started with. Each link has one port; every frame through it is
decoded, shown to the gate and passed on unchanged. Reaching a protocol point is an event: arm it, wait until
``caught`` gives the frame, release it. Nothing here sleeps or decides what should happen.
"""

import socket
import threading
from collections.abc import Callable, Sequence
from functools import partial
from ipaddress import ip_address, ip_network
from pathlib import Path
from types import TracebackType
from uuid import UUID

from fault_injection.cluster.plan import PortReservation
from fault_injection.cluster.relay import LOOPBACK, Address, LinkName
from fault_injection.wire.codec import Codec, load_schemas
from fault_injection.wire.gate_armed import Exchange
from fault_injection.wire.gate_events import Action, CaughtFrame, GateEvent, HoldStatus
from fault_injection.wire.network import JOIN_TIMEOUT_S, Network, abort
from fault_injection.wire.points import Point
from fault_injection.wire.proxy_connection import Connection
from fault_injection.wire.proxy_endpoint import RESET_ON_CLOSE, Endpoint
from fault_injection.wire.rounds import Round
from fault_injection.wire.traffic import Traffic


class GateProxy:
    """The relay between brokers with a gate in it; safe to use from any thread.

    Args:
        bind_host: host to listen on.
        peers: the networks that nodes and clients come from, as address/length. A connection from elsewhere is
            reset unread: at a bridge's gateway every container of this machine can knock.
        schemas: a kafka-clients 3.9 jar; without it the controller's requests are not decoded.
        on_event: told of everything that happens to armed actions, in order; must return quickly.

    Attributes:
        network: cuts, delays, throttles and resets of the links.

    Raises:
        SchemasUnreadableError: the jar is no such jar.
    """

    def __init__(
        self,
        bind_host: str = "127.0.0.1",
        peers: Sequence[str] = (LOOPBACK,),
        schemas: Path | None = None,
        on_event: Callable[[GateEvent], None] | None = None,
    ) -> None:
        codec = Codec(load_schemas(schemas)) if schemas is not None else Codec()
        self._traffic = Traffic(codec, on_event or _ignore)
        self._bind_host = bind_host
        self._peers = [ip_network(peer) for peer in peers]
        self._strangers = 0
        self._ports = PortReservation(bind_host)
        self._lock = threading.RLock()
        self._endpoints: dict[LinkName, Endpoint] = {}
        self._upstreams: dict[LinkName, Address] = {}
        self._connections: set[Connection] = set()
        self.network = Network(self._traffic.valve, self._open_connections)

    def open(self, link: LinkName, upstream: Address) -> Address:
        """Listen for a link and give the address to advertise, the same one whenever a link re-opens.

        Raises:
            OSError: the port cannot be listened on.
        """
        with self._lock:
            self._upstreams[link] = upstream
            endpoint = self._endpoints.get(link)
            if endpoint is None:
                address = (self._bind_host, self._ports.port())
                endpoint = self._endpoints[link] = Endpoint(address, partial(self._admit, link), self._traffic.failed)
            endpoint.listen()
            return endpoint.address

    def refuse(self, link: LinkName) -> None:
        """Behave as a dead node's port: close the listener, reset its connections, discharge their frames."""
        with self._lock:
            endpoint = self._endpoints.get(link)
            self._upstreams.pop(link, None)
        if endpoint is not None:
            endpoint.refuse()
        abort([one for one in self._open_connections() if one.state.link == link])
        if link.kind == "replication":
            with self._traffic.lock:
                self._traffic.rounds.leader_lost(link.destination)

    def abort_source(self, broker: int) -> None:
        """Reset every connection a broker opened and discharge their frames: the broker died."""
        abort([one for one in self._open_connections() if one.state.source == broker])

    def cut(self, source: int | None, destination: int | None) -> None:
        """Let no connection from a source to a destination live; None means every other node (on one side).

        Connections that exist are reset and their held frames discharged; new ones are reset at their first
        frame. ``network`` has the other ways to cut.
        """
        self.network.cut(source, destination)

    def heal(self, source: int | None, destination: int | None) -> None:
        """Take a cut back."""
        self.network.heal(source, destination)

    def isolate(self, broker: int) -> None:
        """Cut every link to and from a living broker until it rejoins."""
        self.network.isolate(broker)

    def rejoin(self, broker: int) -> None:
        """Let the links of an isolated broker work again."""
        self.network.rejoin(broker)

    def close(self) -> None:
        """End everything and wait for every thread; held frames are discharged."""
        for link in list(self._endpoints):
            self.refuse(link)
        for connection in self._open_connections():
            connection.join(JOIN_TIMEOUT_S)
        self._ports.close()
        self._traffic.close()

    def __enter__(self) -> "GateProxy":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def arm(
        self,
        name: str,
        point: Point,
        action: Action = "hold",
        delay_ms: int = 0,
        *,
        error: int | None = None,
        frames_max: int | None = 1,
    ) -> None:
        """Lie in wait for frames at a point.

        Args:
            name: how the action is called from now on.
            point: which frames.
            action: what happens to a frame that is caught.
            delay_ms: how long a delayed frame waits.
            error: Kafka's error code, which the action ``answer`` needs.
            frames_max: how many frames are caught; None for every one until it is disarmed.

        Raises:
            GateError: the name is in use, or the answer could not be made.
            ValueError: as ``Gate.arm``.
        """
        self._traffic.arm(name, point, action, delay_ms, error, frames_max)

    def disarm(self, name: str) -> None:
        """Stop waiting for a frame. Raises GateError unless the action is still armed."""
        self._traffic.disarm(name)

    def release(self, name: str) -> None:
        """Let a held frame go on, unchanged. Raises GateError unless a frame is held under that name."""
        self._traffic.tell(name, "forward")

    def drop(self, name: str) -> None:
        """Throw a held frame away; its connection stays open and silent. Raises GateError if none is held."""
        self._traffic.tell(name, "drop")

    def close_connection(self, name: str) -> None:
        """Throw a held frame away and reset its connection. Raises GateError if none is held."""
        self._traffic.tell(name, "close")

    def answer(self, name: str, error: int) -> None:
        """Answer a held frame with an error, in place of its destination. Raises GateError if none is held."""
        self._traffic.answer(name, error)

    def reset_caught(self, name: str) -> tuple[int, ...]:
        """Reset the connections on which an action caught frames, so that nobody waits for an answer to them.

        Gives the numbers of those that were open. Raises GateError for a name that was never armed.
        """
        with self._traffic.lock:
            numbers = self._traffic.gate.connections(name)
        hit = [one for one in self._open_connections() if one.state.number in numbers]
        abort(hit)
        return tuple(sorted(one.state.number for one in hit))

    def frames(self, name: str) -> int:
        """Tell how many frames an action has caught. Raises GateError for a name that was never armed."""
        with self._traffic.lock:
            return self._traffic.gate.frames(name)

    def passed(self, name: str) -> tuple[Exchange, ...]:
        """Return the last frames of its kind on its link that an action let pass. Raises GateError as ``frames``."""
        with self._traffic.lock:
            return self._traffic.gate.passed(name)

    def caught(self, name: str) -> CaughtFrame | None:
        """Return the last frame an action caught, also after it went on; None while the action is armed.

        Raises:
            GateError: nothing was ever armed under that name.
        """
        with self._traffic.lock:
            return self._traffic.gate.caught(name)

    def status(self, name: str) -> HoldStatus:
        """Tell where an action stands. Raises GateError for a name that was never armed."""
        with self._traffic.lock:
            return self._traffic.gate.status(name)

    def holds(self) -> dict[str, HoldStatus]:
        """Tell where all actions ever armed stand, by name in the order of arming."""
        with self._traffic.lock:
            return self._traffic.gate.holds()

    def rounds_since(self, time_ns: int, *, topic: str | None = None, follower: int | None = None) -> tuple[Round, ...]:
        """Return the finished fetch rounds whose request arrived at or after a monotonic time."""
        with self._traffic.lock:
            return self._traffic.rounds.rounds_since(time_ns, topic=topic, follower=follower)

    def last_forwarded_fetch_offset(self, follower: int, leader: int, topic: str, partition: int) -> int | None:
        """Return the last fetch offset let through to the leader: its remote log end offset, derived."""
        with self._traffic.lock:
            return self._traffic.rounds.last_forwarded_fetch_offset(follower, leader, topic, partition)

    def diverging_fetch_offset(self, follower: int, leader: int, topic: str, partition: int) -> int | None:
        """Return the remote log end offset if the leader counted the last fetch, to which it said that logs diverge."""
        with self._traffic.lock:
            return self._traffic.rounds.diverging_fetch_offset(follower, leader, topic, partition)

    def learn_topic(self, topic_id: str | UUID, name: str) -> None:
        """Tell which topic an id names; needed for points on a topic from Fetch v13 on (KRaft)."""
        self._traffic.names.learn(topic_id, name)

    def trace_to(self, path: Path) -> None:
        """Write every frame from now on to a new file. Raises OSError if it cannot be created."""
        self._traffic.begin_trace(path)

    def end_trace(self) -> None:
        """Write the last line of the file and no more to it. Raises OSError if a line could not be written."""
        self._traffic.end_trace()

    @property
    def undecodable(self) -> int:
        """How many frames should have decoded and did not; they were passed on all the same."""
        return self._traffic.codec.undecodable

    @property
    def strangers(self) -> int:
        """How many connections were refused because they came from outside the network of the nodes."""
        with self._lock:
            return self._strangers

    @property
    def failures(self) -> tuple[str, ...]:
        """What failed in the tester itself while it moved frames; any of it may have disturbed the nodes."""
        return tuple(self._traffic.failures)

    def _admit(self, link: LinkName, accepted: socket.socket, host: str) -> None:
        with self._lock:
            upstream = self._upstreams.get(link)
            is_strange = not any(ip_address(host) in peers for peers in self._peers)
            self._strangers += is_strange
            if upstream is None or is_strange:
                accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                accepted.close()
                return
            state = self._traffic.connected(link)
            connection = Connection(accepted, upstream, self._traffic, state, self._forget)
            connection.start()
            self._connections.add(connection)

    def _open_connections(self) -> list[Connection]:
        with self._lock:
            return list(self._connections)

    def _forget(self, connection: Connection) -> None:
        with self._lock:
            self._connections.discard(connection)


def _ignore(_event: GateEvent) -> None:
    """Nobody asked to be told."""
