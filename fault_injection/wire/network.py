"""Which ports and connections does the network between the nodes have, and what can be done to it?

Every impairment is imposed under a name and lifted by it; several may be imposed at once, also on the same way.
``reset`` ends connections once and imposes nothing.
"""

import socket
import threading
import time
from collections.abc import Sequence
from functools import partial
from ipaddress import ip_address, ip_network

from fault_injection.cluster.plan import PortReservation
from fault_injection.cluster.relay import Address, LinkName
from fault_injection.wire.frame_handler import FrameHandler
from fault_injection.wire.impairments import Flow, Impairment, ImpairmentEvidence, LinkCut, LinkDirection, Touched
from fault_injection.wire.proxy_connection import Connection
from fault_injection.wire.proxy_endpoint import RESET_ON_CLOSE, Endpoint

JOIN_TIMEOUT_S = 15.0


class Network:
    """The network that one proxy is; safe to use from any thread.

    Args:
        handler: decides about the frames.
        bind_host: host to listen on.
        peers: the networks that nodes and clients come from.
    """

    def __init__(self, handler: FrameHandler, bind_host: str, peers: Sequence[str]) -> None:
        self._handler = handler
        self._valve = handler.valve
        self._bind_host = bind_host
        self._peers = [ip_network(peer) for peer in peers]
        self._strangers = 0
        self._ports = PortReservation(bind_host)
        self._lock = threading.RLock()
        self._endpoints: dict[LinkName, Endpoint] = {}
        self._upstreams: dict[LinkName, Address] = {}
        self._connections: set[Connection] = set()

    def open(self, link: LinkName, upstream: Address) -> Address:
        """Listen for a link and return the address to advertise, the same one whenever a link re-opens.

        Raises:
            OSError: the port cannot be listened on.
        """
        with self._lock:
            self._upstreams[link] = upstream
            endpoint = self._endpoints.get(link)
            if endpoint is None:
                address = (self._bind_host, self._ports.port())
                endpoint = self._endpoints[link] = Endpoint(address, partial(self._admit, link), self._handler.failed)
            endpoint.listen()
            return endpoint.address

    def refuse(self, link: LinkName) -> None:
        """Close the listener of a link and reset its connections."""
        with self._lock:
            endpoint = self._endpoints.get(link)
            self._upstreams.pop(link, None)
        if endpoint is not None:
            endpoint.refuse()
        abort([one for one in self.connections() if one.state.link == link])

    def abort_source(self, broker: int) -> None:
        """Reset every connection that a broker opened; a frame that outlives its sender stays, and its way on."""
        opened = [one for one in self.connections() if one.state.source == broker]
        abort([one for one in opened if not one.lose_sender()])

    def close(self) -> None:
        """Close every port, end every connection and wait for every thread."""
        for link in list(self._endpoints):
            self.refuse(link)
        for connection in self.connections():
            connection.join(JOIN_TIMEOUT_S)
        self._ports.close()

    def connections(self) -> list[Connection]:
        """Return those that are open."""
        with self._lock:
            return list(self._connections)

    @property
    def strangers(self) -> int:
        """How many connections were refused because they came from outside the network of the nodes."""
        with self._lock:
            return self._strangers

    def _admit(self, link: LinkName, accepted: socket.socket, host: str) -> None:
        with self._lock:
            upstream = self._upstreams.get(link)
            is_strange = not any(ip_address(host) in peers for peers in self._peers)
            self._strangers += is_strange
            if upstream is None or is_strange:
                accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                accepted.close()
                return
            connection = Connection(accepted, upstream, link, self._handler, self._forget)
            connection.start()
            self._connections.add(connection)

    def _forget(self, connection: Connection) -> None:
        with self._lock:
            self._connections.discard(connection)

    # What is imposed on it

    def impose(self, name: str, impairment: Impairment) -> None:
        """Begin an impairment. A cut by resets ends the connections that it concerns and their held frames.

        Raises:
            ImpairmentError: one of that name is imposed already.
        """
        self._valve.impose(name, impairment)
        if isinstance(impairment, LinkCut) and impairment.by == "reset":
            abort([one for one in self.connections() if self._valve.was_reset(one.state)])

    def lift(self, name: str) -> ImpairmentEvidence:
        """End an impairment and return what it did; what it stopped goes on.

        Raises:
            ImpairmentError: none of that name is imposed.
        """
        return self._valve.lift(name)

    def evidence(self, name: str) -> ImpairmentEvidence:
        """Return what an impairment did so far, also after it was lifted.

        Raises:
            ImpairmentError: none of that name was ever imposed.
        """
        with self._valve.changed:
            return self._valve.shaping.evidence(name)

    def imposed(self) -> dict[str, Impairment]:
        """Return what is imposed now, in order of time."""
        with self._valve.changed:
            return self._valve.shaping.imposed()

    def reset(self, *ways: LinkDirection) -> tuple[Touched, ...]:
        """End the connections that have one of these ways, once, and tell which; held frames are discharged."""
        hit = {one: flow for one in self.connections() for flow in _flows(one) if _is_on(flow, ways)}
        abort(list(hit))
        now_ns = time.monotonic_ns()
        return tuple(Touched(one.state.number, flow, 0, 0, None, now_ns) for one, flow in hit.items())

    def count(self, *ways: LinkDirection) -> int:
        """Return how many open connections have one of these ways."""
        return sum(any(_is_on(flow, ways) for flow in _flows(one)) for one in self.connections())


def abort(connections: list[Connection]) -> None:
    """End connections by a reset and wait until they have ended."""
    for connection in connections:
        connection.abort()
    for connection in connections:
        connection.join(JOIN_TIMEOUT_S)


def _flows(connection: Connection) -> tuple[Flow, Flow]:
    state = connection.state
    requests = Flow(state.link.kind, state.source, state.link.destination, "request")
    return requests.reverse, requests


def _is_on(flow: Flow, ways: tuple[LinkDirection, ...]) -> bool:
    return any(way.carries(flow) for way in ways)
