"""What can be done to a frame at a protocol point, as faults that are injected and healed?

- ``hold``: the frame waits until it is released; what comes behind it on its connection waits with it.
- ``hold_late``: a request that waits does not end with its sender's connection: it is delivered late, as a network may.
- ``drop``: it is thrown away; its sender waits for an answer until its own time is up.
- ``delay``: it goes on later. ``close``: its connection is reset with it.
- ``answer``: the gate answers in place of its destination, with an error of choice; at a response point the answer
  that came is replaced, after its destination did what it was asked.

Each lies in wait: it has fired when a frame came, and that frame proves it. It catches one frame, several, or all
until it is healed. Healing disarms it and lets held frames go on; where frames were dropped, their connections are
reset, so that nobody who still waits for an answer need time out.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from fault_injection.cluster.lifecycle import Cluster
from fault_injection.faults.catalogue import why_no_point
from fault_injection.faults.fault import AVAILABLE, Availability, FaultError, FiredFrame
from fault_injection.wire.codec import api_name
from fault_injection.wire.gate import GateError
from fault_injection.wire.gate_armed import Exchange
from fault_injection.wire.gate_events import STANDING, Action, CaughtFrame
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from fault_injection.wire.trace import as_json

AtHeal = Literal["release", "drop", "close"]
_ENDED: dict[AtHeal, str] = {"release": "let go on", "drop": "dropped", "close": "thrown away with its connection"}


@dataclass(frozen=True, slots=True)
class GateFault:
    """Something done to frames at a protocol point; made by ``hold``, ``drop``, ``delay``, ``close`` and ``answer``.

    Attributes:
        gate: the relay that the cluster was started with.
        hold: the name that the gate knows it by, unique while it stands.
        point: which frames.
        action: what is done to them.
        delay_ms: of a delay.
        error: Kafka's error code, of an answer.
        frames_max: how many frames; None for all until it is healed.
        at_heal: what becomes of frames that are held then.
        outlives: whether a held request can still be delivered when its sender's connection has ended.
    """

    gate: GateProxy
    hold: str
    point: Point
    action: Action = "hold"
    delay_ms: int = 0
    error: int | None = None
    frames_max: int | None = 1
    at_heal: AtHeal = "release"
    outlives: bool = False

    @property
    def name(self) -> str:
        """Return the word for it, such as ``hold_frame``."""
        return "late_frame" if self.outlives else f"{self.action}_frame"

    @property
    def text(self) -> str:
        """What is done where, in words."""
        with_error = f" with error {self.error}" if self.error is not None else ""
        how_many = {1: "", None: ", every frame"}.get(self.frames_max, f", {self.frames_max} frames")
        outliving = ", also when its sender is gone" if self.outlives else ""
        return f"{self.action}{with_error} at {self.point.text}{how_many}{outliving}"

    def available(self, cluster: Cluster) -> Availability:
        """Return whether the cluster has such frames, they pass this gate and the name is free."""
        if cluster.relay is not self.gate:
            return Availability("the cluster was not started with this relay")
        obstacle = why_no_point(self.point.name, cluster.spec)
        if not obstacle and self.gate.holds().get(self.hold) in STANDING:
            obstacle = f"{self.hold!r} is {self.gate.status(self.hold)} already"
        return Availability(obstacle) if obstacle else AVAILABLE

    def inject(self, cluster: Cluster) -> str:
        """Lie in wait and return in words for what.

        Raises:
            FaultError: the cluster has no such frames, the name is in use, or the answer could not be made.
        """
        available = self.available(cluster)
        if not available:
            raise FaultError(available.obstacle)
        try:
            self.gate.arm(
                self.hold,
                self.point,
                self.action,
                self.delay_ms,
                error=self.error,
                frames_max=self.frames_max,
                outlives=self.outlives,
            )
        except (GateError, ValueError) as refused:
            raise FaultError(str(refused)) from refused
        return self.text

    def heal(self, cluster: Cluster) -> str | None:  # noqa: ARG002 - a gate serves one cluster
        """Disarm it, let held frames go on and whoever waits for a dropped one try again; None if nothing stands."""
        if self.hold not in self.gate.holds():
            return None
        ended = {"release": self.gate.release, "drop": self.gate.drop, "close": self.gate.close_connection}[
            self.at_heal
        ]
        done = ["disarmed"] if self._try(self.gate.disarm) else []
        if self._try(ended):
            done.append(f"what it held was {_ENDED[self.at_heal]}")
        if "drop" in (self.action, self.at_heal):
            done += [f"connection {number} was reset" for number in self.gate.reset_caught(self.hold)]
        return f"{self.text}: {', '.join(done)}" if done else None

    def fired(self) -> FiredFrame | None:
        """Return the last frame that it caught; None while none came or it was never injected."""
        caught = self.gate.caught(self.hold) if self.hold in self.gate.holds() else None
        return None if caught is None else frame_of(caught)

    def awaited(self) -> str:
        """Say in words which frame is awaited."""
        return self.point.text

    def came_instead(self) -> str:
        """Say in words which last frames of that request came on that link while it waited."""
        passed = self.gate.passed(self.hold) if self.hold in self.gate.holds() else ()
        if not passed:
            return f"no {api_name(self.point.kind.api_key)} came that way"
        return "what came was " + "; ".join(_told(exchange) for exchange in passed)

    def _try(self, verb: Callable[[str], None]) -> bool:
        try:
            verb(self.hold)
        except GateError:
            return False
        return True


def frame_of(caught: CaughtFrame) -> FiredFrame:
    """Return which frame was caught, as the proof of a fault."""
    request = caught.request
    return FiredFrame(
        request.connection,
        api_name(request.api_key),
        request.correlation_id,
        caught.direction,
        caught.fetch_offset,
        caught.caught_ns,
    )


def hold(
    gate: GateProxy, name: str, point: Point, *, frames_max: int | None = 1, at_heal: AtHeal = "release"
) -> GateFault:
    """Let frames wait until they are released, or the fault is healed."""
    return GateFault(gate, name, point, "hold", frames_max=frames_max, at_heal=at_heal)


def hold_late(gate: GateProxy, name: str, point: Point) -> GateFault:
    """Let a request wait until it is released, late: after its sender was killed, or has closed its connection.

    Its destination does not hear of the sender's end before that. ``GateProxy.release_late`` delivers it; if it is
    healed instead, it is thrown away.
    """
    return GateFault(gate, name, point, "hold", at_heal="drop", outlives=True)


def drop(gate: GateProxy, name: str, point: Point, *, frames_max: int | None = 1) -> GateFault:
    """Throw frames away; their connections stay."""
    return GateFault(gate, name, point, "drop", frames_max=frames_max)


def close(gate: GateProxy, name: str, point: Point, *, frames_max: int | None = 1) -> GateFault:
    """Throw frames away and reset their connections."""
    return GateFault(gate, name, point, "close", frames_max=frames_max)


def delay(gate: GateProxy, name: str, point: Point, delay_ms: int, *, frames_max: int | None = 1) -> GateFault:
    """Let frames go on later."""
    return GateFault(gate, name, point, "delay", delay_ms, frames_max=frames_max)


def answer(gate: GateProxy, name: str, point: Point, error: int, *, frames_max: int | None = 1) -> GateFault:
    """Answer requests with Kafka's error code in place of their destination, or replace the answers that came."""
    return GateFault(gate, name, point, "answer", error=error, frames_max=frames_max)


def _told(exchange: Exchange) -> str:
    request, response = exchange
    said = request.view if response is None else response
    return json.dumps(as_json(said)) if said is not None else f"request {request.correlation_id}, which was not decoded"
