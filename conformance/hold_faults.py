"""What does a schedule's hold or delay look like to the account of faults?

It is armed in the gate and fires on the frame that the gate catches. Healed, a frame that is held goes on, and a hold
that still waits is disarmed; a frame that was dropped, closed or discharged is not to be had back.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.fault_record import came_instead
from fault_injection.faults.fault import AVAILABLE, Availability, FiredFrame
from fault_injection.wire.codec import api_name
from fault_injection.wire.gate_events import HoldStatus

if TYPE_CHECKING:
    from pathlib import Path

    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.wire.gate_events import Action, CaughtFrame
    from fault_injection.wire.points import Point
    from fault_injection.wire.proxy import GateProxy


@dataclass(slots=True)
class GateAction:
    """A frame that a schedule holds or delays.

    Attributes:
        gate: the gate between the brokers.
        label: the name that it is armed under.
        point: where the frame is caught.
        trace: the run's wire trace.
        action: what becomes of the frame.
        delay_ms: for how long it is delayed.
    """

    gate: GateProxy
    label: str
    point: Point
    trace: Path
    action: Action = "hold"
    delay_ms: int = 0
    armed_ns: int = field(default=0, init=False)

    @property
    def name(self) -> str:
        """The action and its name in the schedule."""
        return self.label if self.action == "delay" else f"{self.action} {self.label!r}"

    def available(self, cluster: Cluster) -> Availability:  # noqa: ARG002 - every cluster of a run has a gate
        """Say that it can be armed."""
        return AVAILABLE

    def inject(self, cluster: Cluster) -> str:  # noqa: ARG002 - the gate is the cluster's
        """Arm it."""
        self.armed_ns = time.monotonic_ns()
        self.gate.arm(self.label, self.point, self.action, self.delay_ms)
        return f"{self.name} armed for {self.awaited()}"

    def heal(self, cluster: Cluster) -> str | None:  # noqa: ARG002 - the gate is the cluster's
        """Let the frame go on, or stop waiting for it."""
        match self.gate.status(self.label):
            case HoldStatus.CAUGHT if self.action == "hold":
                self.gate.release(self.label)
                return f"{self.name}: the frame went on"
            case HoldStatus.ARMED:
                self.gate.disarm(self.label)
                return f"{self.name}: disarmed"
            case _:
                return None

    def fired(self) -> FiredFrame | None:
        """Give the frame that was caught."""
        caught = self.gate.caught(self.label)
        return None if caught is None else _fired(caught)

    def awaited(self) -> str:
        """Name the point in words."""
        fields = {"source": self.point.source, "destination": self.point.destination}
        fields |= {"fetch offset": self.point.fetch_offset, "nth": self.point.nth if self.point.nth > 1 else None}
        said = ", ".join(f"{word} {value}" for word, value in fields.items() if value is not None)
        return f"{self.point.name} ({said})"

    def came_instead(self) -> str:
        """Say which frames came there, out of the wire trace."""
        self.gate.flush_trace()
        return came_instead(self.trace, self.point, self.armed_ns)


def _fired(caught: CaughtFrame) -> FiredFrame:
    request = caught.request
    return FiredFrame(
        connection=request.connection,
        api=api_name(request.api_key),
        correlation_id=request.correlation_id,
        direction=caught.direction,
        offset=caught.fetch_offset,
        at_ns=caught.caught_ns,
    )
