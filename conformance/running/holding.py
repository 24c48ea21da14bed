"""Which frames does a run hold, and whom does that keep from what?

A hold on a link keeps a follower from its leader. A hold on a broker's channel from the controller
keeps it from every later decision: it is *deaf*. A hold on a leader's channel to the controller keeps
its ISR change undecided or unheard: its wish is *pending*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.interruption import HarnessError, HoldNeverCaughtError
from fault_injection.faults import gate_faults
from fault_injection.waiting import DeadlineExceededError, until
from fault_injection.wire.gate_events import HoldStatus
from fault_injection.wire.points import Point
from oracle.vocabulary import FROM_CONTROLLER, TO_CONTROLLER, PointName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fault_injection.faults.account import Entry, FaultAccount
    from fault_injection.wire.gate_events import CaughtFrame, GateEvent
    from fault_injection.wire.proxy import GateProxy
    from oracle.steps.frames import Delay, Hold
    from oracle.vocabulary import BrokerId

CATCH_DEADLINE_S = 30.0
_ASKED_ALL_THE_TIME = (PointName.CONTROLLER_FETCH_REQUEST, PointName.CONTROLLER_FETCH_RESPONSE)


def point_of(step: Hold | Delay, topic: str) -> Point:
    """Return the protocol point that a step names, for a topic's only partition."""
    broker = getattr(step, "broker", None)
    if broker is None:
        return Point(
            step.point.value,
            source=step.follower,
            destination=step.leader,
            topic=topic,
            partition=0,
            fetch_offset=step.fetch_offset,
            nth=step.nth,
        )
    if step.point in _ASKED_ALL_THE_TIME:
        return Point(step.point.value, source=broker)
    if step.point in TO_CONTROLLER:
        return Point(step.point.value, source=broker, topic=topic, partition=0)
    return Point(step.point.value, destination=broker, topic=topic, partition=0)


def fields_of(hold: Hold | None) -> dict[str, int | str | None]:
    """Return what the timeline says about a hold's place."""
    if hold is None:
        return {}
    if hold.broker is not None:
        return {"broker": hold.broker, "point": hold.point.value}
    return {"follower": hold.follower, "leader": hold.leader, "point": hold.point.value}


class Holding:
    """The holds of one run, by name.

    Attributes:
        silent_brokers: tells which brokers send nothing at all: a hold on their channel waits.
        leader: tells whom the controller names as leader.
    """

    def __init__(self, gate: GateProxy, topic: str, *, faults: FaultAccount) -> None:
        self._gate = gate
        self._topic = topic
        self._faults = faults
        self._armed: dict[str, Entry] = {}
        self._holds: dict[str, Hold] = {}
        self._discharged: set[str] = set()
        self.silent_brokers: Callable[[], frozenset[int]] = frozenset
        self.leader: Callable[[], int | None] = lambda: None

    def arm(self, step: Hold) -> None:
        """Arm a hold; a metadata fetch is caught before this returns, since a broker sends one after the other."""
        self._holds[step.name] = step
        self._inject(gate_faults.hold(self._gate, step.name, point_of(step, self._topic)))
        if step.point in _ASKED_ALL_THE_TIME and step.broker not in self.silent_brokers():
            self.await_caught(step.name)

    def delay(self, name: str, step: Delay) -> None:
        """Arm a delay."""
        self._inject(gate_faults.delay(self._gate, name, point_of(step, self._topic), step.delay_ms))

    def _inject(self, fault: gate_faults.GateFault) -> None:
        self._armed[fault.hold] = self._faults.inject(fault)

    def ended(self, name: str) -> None:
        """Take note that a step ended a hold, whose frame went on or was thrown away."""
        self._faults.heal(self._armed[name])

    def fields(self, event: GateEvent) -> dict[str, int | str | None]:
        """Return what the timeline says about an event's hold."""
        return fields_of(self._holds.get(event.name))

    def await_caught(self, name: str) -> None:
        """Wait until a hold has caught its frame.

        Raises:
            HoldNeverCaughtError: none came.
        """
        try:
            until(lambda: self._gate.caught(name), deadline_s=CATCH_DEADLINE_S, what=f"hold {name!r} to catch a frame")
        except DeadlineExceededError as late:
            raise HoldNeverCaughtError(f"{late}; {self._what_came(self._holds[name])}") from late
        self._faults.look()

    def _what_came(self, hold: Hold) -> str:
        """Say which frames did pass where the hold waited."""
        if hold.broker is not None:
            return f"armed for {hold.point.value} between broker {hold.broker} and the controller"
        rounds = self._gate.rounds_since(0, topic=self._topic, follower=hold.follower)
        offsets = [r.fetch_offset for r in rounds if r.leader == hold.leader][-5:]
        return (
            f"armed for {hold.point.value} of broker {hold.follower} at broker {hold.leader}, fetch offset "
            f"{hold.fetch_offset}; last fetch offsets on that link: {offsets or 'none'}"
        )

    def _standing(self) -> dict[str, Hold]:
        """Return the holds whose frame stands in the gate, or was dropped and is still waited for."""
        stand = (HoldStatus.CAUGHT, HoldStatus.DROPPED)
        return {n: h for n, h in self._holds.items() if n not in self._discharged and self._gate.status(n) in stand}

    def blocked_links(self) -> frozenset[tuple[int, int]]:
        """Return the links (follower, leader) on which nothing moves."""
        return frozenset(
            (hold.follower, hold.leader)
            for hold in self._standing().values()
            if hold.follower is not None and hold.leader is not None
        )

    def deaf(self) -> frozenset[int]:
        """Return the brokers that hear no decision of the controller."""
        return frozenset(h.broker for h in self._standing().values() if h.broker and h.point in FROM_CONTROLLER)

    def pending(self) -> frozenset[int]:
        """Return the leaders whose change of the ISR is undecided or unheard."""
        return frozenset(h.broker for h in self._standing().values() if h.broker and h.point in TO_CONTROLLER)

    def silent(self) -> dict[BrokerId, CaughtFrame]:
        """Return the followers that a held frame keeps silent, with that frame."""
        frames = {h.follower: self._gate.caught(n) for n, h in self._standing().items() if h.follower is not None}
        return {follower: frame for follower, frame in frames.items() if frame is not None}

    def require_undisturbed(self) -> None:
        """Make sure that the gate works, and no held frame went with a connection that no step of ours has ended.

        A follower that takes another leader closes the connection of its fetcher for the former one: that ends a hold.

        Raises:
            HarnessError: what was measured is not what the schedule describes.
        """
        if self._gate.failures:
            raise HarnessError(f"the gate failed while it moved frames: {self._gate.failures[0]}")
        for name, hold in self._holds.items():
            if name in self._discharged or self._gate.status(name) is not HoldStatus.DISCHARGED:
                continue
            if hold.leader is None or hold.leader == self.leader():
                raise HarnessError(f"hold {name!r} lost its frame: its connection ended, though no broker of it did")
            self._end([name])

    def discharge(self, broker: BrokerId) -> None:
        """End the holds on a dead broker's connections: caught frames went with it, armed ones are disarmed."""
        self._end(name for name, hold in self._holds.items() if broker in hold.brokers)

    def discharge_link(self, follower: BrokerId, leader: BrokerId) -> None:
        """End the holds on a link that was cut."""
        self._end(name for name, hold in self._holds.items() if hold.brokers == (follower, leader))

    def _end(self, names: Iterable[str]) -> None:
        for name in names:
            self._discharged.add(name)
            self._faults.heal(self._armed[name])
