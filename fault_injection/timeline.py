"""When was which fault armed, when did it fire, when was it healed, and what proves it?

Every fault goes through these stages in this order; one that fires when it is injected is armed and fired at once. All
times are monotonic nanoseconds, of the same clock as the wire trace's.
"""

from dataclasses import dataclass
from enum import StrEnum

from fault_injection.faults.fault import FiredFrame


class Stage(StrEnum):
    """How far a fault has come."""

    ARMED = "armed"
    FIRED = "fired"
    HEALED = "healed"
    HEAL_FAILED = "heal_failed"


@dataclass(frozen=True, slots=True)
class FaultEvent:
    """A fault has reached a stage.

    Attributes:
        number: which fault of the account, counted from 1 in the order of arming.
        fault: the fault's name.
        stage: what it has reached.
        at_ns: when, monotonic; for a fault that waited for a frame, when that was caught.
        text: in words: what was armed, what proves that it fired, how it was healed, why it was not.
        frame: the frame that it fired on, if it waited for one.
    """

    number: int
    fault: str
    stage: Stage
    at_ns: int
    text: str
    frame: FiredFrame | None = None
