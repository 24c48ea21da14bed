"""Which frames does a run hold, and whom does that keep from what?

A hold on a link keeps a follower from its leader. A hold on a broker's channel from the controller
keeps it from every later decision: it is *unreachable*. A hold on a leader's channel to the controller keeps
its ISR change undecided or unheard: its wish is *pending*.

The gate alone knows where a hold stands, the account of faults whether it is still ours. Here nothing of it is kept:
a hold is armed, caught, and ended by a step or with its connection, and whoever asks is told what those two say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.interruption import HarnessError, HoldNeverCaughtError
from conformance.running.standstill import StandingFrame
from fault_injection.faults import gate_faults
from fault_injection.faults.gate_faults import GateFault
from fault_injection.waiting import DeadlineExceededError, until
from fault_injection.wire.gate_events import HoldStatus
from fault_injection.wire.points import Point
from oracle.steps.frames import Drop, ReleaseHold, between_words, late_holds
from oracle.vocabulary import FROM_CONTROLLER, TO_CONTROLLER, BrokerId, PointName, frame_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fault_injection.faults.account import FaultAccount, FaultEntry
    from fault_injection.wire.gate_events import CaughtFrame
    from fault_injection.wire.proxy import GateProxy
    from oracle.steps.frames import Close, DelayFrame, Hold
    from oracle.steps.step import Step

CATCH_DEADLINE_S = 30.0
_ASKED_ALL_THE_TIME = (PointName.CONTROLLER_FETCH_REQUEST, PointName.CONTROLLER_FETCH_RESPONSE)


def point_of(step: Hold | DelayFrame, topic: str) -> Point:
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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a frame is caught: on the link of a follower to a leader, or on a broker's channel of the controller."""

    follower: int | None = None
    leader: int | None = None
    broker: int | None = None

    @property
    def brokers(self) -> tuple[int | None, ...]:
        """Return the brokers whose end takes the connection with it."""
        return (self.follower, self.leader) if self.broker is None else (self.broker,)


def place_of(point: Point) -> Place:
    """Return where a point of a run is: it names both ends of a link, and of a controller's channel the broker."""
    if point.source is not None and point.destination is not None:
        return Place(follower=point.source, leader=point.destination)
    return Place(broker=point.destination if point.source is None else point.source)


class Holding:
    """The holds of one run, by name.

    Attributes:
        silent_brokers: tells which brokers send nothing at all: a hold on their channel waits.
        leader: tells whom the controller names as leader.
    """

    def __init__(self, gate: GateProxy, topic: str, *, faults: FaultAccount, steps: Sequence[Step] = ()) -> None:
        """Begin without holds; ``steps`` tell whose frames are delivered late."""
        self._gate = gate
        self._late = late_holds(steps)
        self._topic = topic
        self._faults = faults
        self.silent_brokers: Callable[[], frozenset[int]] = frozenset
        self.leader: Callable[[], int | None] = lambda: None

    def arm(self, step: Hold) -> None:
        """Arm a hold; a metadata fetch is caught before this returns, since a broker sends one after the other."""
        make = gate_faults.hold_late if step.name in self._late else gate_faults.hold
        self._faults.inject(make(self._gate, step.name, point_of(step, self._topic)))
        if step.point in _ASKED_ALL_THE_TIME and step.broker not in self.silent_brokers():
            self.await_caught(step.name)

    def delay(self, name: str, step: DelayFrame) -> None:
        """Arm a delay."""
        self._faults.inject(gate_faults.delay(self._gate, name, point_of(step, self._topic), step.delay_ms))

    def end(self, step: ReleaseHold | Drop | Close) -> None:
        """End a hold as a step says. One whose frame is dropped stands on: the sender waits for its answer.

        The frame may be on its way still: with ZooKeeper others are told seconds later how an ISR has changed.
        """
        if isinstance(step, ReleaseHold) and step.late:
            self._deliver_late(step.name)
            return
        self.await_caught(step.name)
        if isinstance(step, Drop):
            self._gate.drop(step.name)
            return
        (self._gate.release if isinstance(step, ReleaseHold) else self._gate.close_connection)(step.name)
        for fault, entry in self._ours():
            if fault.hold == step.name:
                self._faults.heal(entry)

    def _deliver_late(self, name: str) -> None:
        """Deliver a fetch whose sender's connection has ended, and wait until its leader has answered it."""
        until(
            lambda: self._gate.status(name) is HoldStatus.ORPHANED,
            deadline_s=CATCH_DEADLINE_S,
            what=f"the connection of hold {name!r} to be ended by its sender",
        )
        self._gate.release_late(name)
        caught = self._gate.caught(name)
        assert caught is not None, "what was released had been caught"
        until(
            lambda: not self._gate.is_open(caught.request.connection),
            deadline_s=CATCH_DEADLINE_S,
            what=f"the leader to answer the late fetch of hold {name!r}",
        )

    def await_caught(self, name: str) -> None:
        """Wait until a hold has caught its frame.

        Raises:
            HoldNeverCaughtError: none came.
        """
        try:
            until(lambda: self._gate.caught(name), deadline_s=CATCH_DEADLINE_S, what=f"hold {name!r} to catch a frame")
        except DeadlineExceededError as late:
            raise HoldNeverCaughtError(f"{late}; {self._what_came(name)}") from late

    def _what_came(self, name: str) -> str:
        """Return which frames did pass where a hold waits."""
        point = next((hold.point for hold, _ in self._ours() if hold.hold == name), None)
        if point is None:
            return "its connection was ended by a step"
        place = place_of(point)
        if place.broker is not None:
            return f"armed for {point.name} between broker {place.broker} and the controller"
        rounds = self._gate.rounds_since(0, topic=self._topic, partition=0, follower=place.follower)
        offsets = [r.fetch_offset for r in rounds if r.leader == place.leader][-5:]
        return (
            f"armed for {point.name} of broker {place.follower} at broker {place.leader}, fetch offset "
            f"{point.fetch_offset}; last fetch offsets on that link: {offsets or 'none'}"
        )

    def _ours(self) -> Iterator[tuple[GateFault, FaultEntry]]:
        """Yield the holds and delays that no step has ended."""
        for entry in self._faults.standing:
            if isinstance(entry.fault, GateFault):
                yield entry.fault, entry

    def _standing(self) -> Iterator[tuple[GateFault, Place]]:
        """Yield the holds whose frame stands in the gate, or was dropped and is still waited for."""
        for fault, _ in self._ours():
            if fault.action == "hold" and self._gate.status(fault.hold) in (HoldStatus.CAUGHT, HoldStatus.DROPPED):
                yield fault, place_of(fault.point)

    def blocked_links(self) -> frozenset[tuple[int, int]]:
        """Return the links (follower, leader) on which nothing moves."""
        return frozenset(
            (place.follower, place.leader)
            for _, place in self._standing()
            if place.follower is not None and place.leader is not None
        )

    def unreachable(self) -> frozenset[int]:
        """Return the brokers that hear no decision of the controller."""
        return self._held_on(FROM_CONTROLLER)

    def pending(self) -> frozenset[int]:
        """Return the leaders whose change of the ISR is undecided or unheard."""
        return self._held_on(TO_CONTROLLER)

    def awaiting_metadata(self) -> list[tuple[str, BrokerId]]:
        """Return the holds that lie in wait for an UpdateMetadata, with its broker."""
        waiting = (f for f, _ in self._ours() if f.action == "hold" and self._gate.status(f.hold) is HoldStatus.ARMED)
        places = ((f.hold, place_of(f.point).broker) for f in waiting if f.point.name == PointName.UPDATE_METADATA)
        return [(name, BrokerId(broker)) for name, broker in places if broker is not None]

    def is_caught(self, name: str) -> bool:
        """Return whether a hold has caught its frame."""
        return self._gate.status(name) is HoldStatus.CAUGHT

    def undecided(self) -> frozenset[int]:
        """Return the brokers whose LeaderAndIsr stands in the gate."""
        return self._held_on((PointName.LEADER_AND_ISR,))

    def _held_on(self, channel: tuple[PointName, ...]) -> frozenset[int]:
        standing = ((PointName(fault.point.name), place.broker) for fault, place in self._standing())
        return frozenset(broker for point, broker in standing if broker is not None and point in channel)

    def frames(self) -> Iterator[StandingFrame]:
        """Yield the frames that stand in the gate."""
        for fault, place in self._standing():
            if self.is_caught(fault.hold) and (frame := self._gate.caught(fault.hold)) is not None:
                between = between_words(place.follower, place.leader, place.broker)
                text = f"{frame_words(fault.point.name, fault.point.fetch_offset)} between {between}"
                yield StandingFrame(fault.hold, text, frame.caught_ns / 1e9)

    def silent(self) -> dict[BrokerId, CaughtFrame]:
        """Return the followers that a held frame keeps silent, with that frame."""
        found = {}
        for fault, place in self._standing():
            frame = self._gate.caught(fault.hold)
            if place.follower is not None and frame is not None:
                found[BrokerId(place.follower)] = frame
        return found

    def require_undisturbed(self) -> None:
        """Make sure that the gate works, and no held frame went with a connection that no step of ours has ended.

        A follower that takes another leader closes the connection of its fetcher for the former one: that ends a hold.

        Raises:
            HarnessError: what was measured is not what the schedule describes.
        """
        if self._gate.failures:
            raise HarnessError(f"the gate failed while it moved frames: {self._gate.failures[0]}")
        for fault, entry in self._ours():
            if fault.action != "hold" or self._gate.status(fault.hold) is not HoldStatus.DISCHARGED:
                continue
            leader = place_of(fault.point).leader
            if leader is None or leader == self.leader():
                ended = "its connection ended, though no broker of it did"
                raise HarnessError(f"hold {fault.hold!r} lost its frame: {ended}")
            self._faults.heal(entry)

    def discharge(self, broker: BrokerId) -> None:
        """End the holds on a dead broker's connections: caught frames went with it, armed ones are disarmed.

        What it sent and outlives it waits for its step.
        """
        for fault, entry in self._ours():
            is_kept = self._gate.status(fault.hold) is HoldStatus.ORPHANED
            if fault.action == "hold" and broker in place_of(fault.point).brokers and not is_kept:
                self._faults.heal(entry)

    def discharge_link(self, follower: BrokerId, leader: BrokerId) -> None:
        """End the holds on a link that was cut."""
        for fault, entry in self._ours():
            if fault.action == "hold" and place_of(fault.point).brokers == (follower, leader):
                self._faults.heal(entry)
