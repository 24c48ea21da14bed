"""What can be done to the network between the nodes, by name and one by one?

Every impairment is imposed under a name and lifted by it; several may be imposed at once, also on the same way.
``reset`` ends connections once and imposes nothing.
"""

import time
from collections.abc import Callable, Iterable

from fault_injection.wire.channel import Valve
from fault_injection.wire.impairments import Cut, Evidence, Flow, Impairment, Touched, Way, around
from fault_injection.wire.proxy_connection import Connection

JOIN_TIMEOUT_S = 15.0


class Network:
    """The network that one proxy is; safe to use from any thread.

    Args:
        valve: what the connections ask.
        connections: gives those that are open.
    """

    def __init__(self, valve: Valve, connections: Callable[[], Iterable[Connection]]) -> None:
        self._valve = valve
        self._connections = connections

    def impose(self, name: str, impairment: Impairment) -> None:
        """Begin an impairment. A cut by resets ends the connections that it concerns and their held frames.

        Raises:
            ImpairmentError: one of that name is imposed already.
        """
        self._valve.impose(name, impairment)
        if isinstance(impairment, Cut) and impairment.by == "reset":
            abort([one for one in self._connections() if self._valve.was_reset(one.state)])

    def lift(self, name: str) -> Evidence:
        """End an impairment and give what it did; what it stopped goes on.

        Raises:
            ImpairmentError: none of that name is imposed.
        """
        return self._valve.lift(name)

    def evidence(self, name: str) -> Evidence:
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

    def reset(self, *ways: Way) -> tuple[Touched, ...]:
        """End the connections that have one of these ways, once, and tell which; held frames are discharged."""
        hit = {one: flow for one in self._connections() for flow in _flows(one) if _is_on(flow, ways)}
        abort(list(hit))
        now_ns = time.monotonic_ns()
        return tuple(Touched(one.state.number, flow, 0, 0, None, now_ns) for one, flow in hit.items())

    def count(self, *ways: Way) -> int:
        """Tell how many open connections have one of these ways."""
        return sum(any(_is_on(flow, ways) for flow in _flows(one)) for one in self._connections())

    def cut(self, source: int | None, destination: int | None) -> None:
        """Reset what a source opens to a destination until it is healed; None means every other node.

        Cutting what is cut already changes nothing.
        """
        name = _cut_name(source, destination)
        if name not in self.imposed():
            self.impose(name, Cut((Way(source, destination, opened_by="sender"),), by="reset"))

    def heal(self, source: int | None, destination: int | None) -> None:
        """Take one such cut back; does nothing if it was not made."""
        name = _cut_name(source, destination)
        if name in self.imposed():
            self.lift(name)

    def isolate(self, broker: int) -> None:
        """Reset every connection to and from a living broker until it rejoins, those of clients included."""
        name = _isolation_name(broker)
        if name not in self.imposed():
            self.impose(name, Cut(around(broker), by="reset"))

    def rejoin(self, broker: int) -> None:
        """Let the links of an isolated broker work again; does nothing if it is not isolated."""
        name = _isolation_name(broker)
        if name in self.imposed():
            self.lift(name)


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


def _is_on(flow: Flow, ways: tuple[Way, ...]) -> bool:
    return any(way.carries(flow) for way in ways)


def _cut_name(source: int | None, destination: int | None) -> str:
    return f"cut of {Way(source, destination, opened_by='sender').text}"


def _isolation_name(broker: int) -> str:
    return f"isolation of {broker}"
