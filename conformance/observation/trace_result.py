"""What came out of the check of one run's wire trace? The content of ``trace_check.json``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.observation.nearby_frames import NearbyFrame

TRACE_CHECK_FILE = "trace_check.json"


@dataclass(frozen=True, slots=True)
class InvariantCount:
    """How often one invariant was looked at and held; 0 if the trace never exercised it."""

    number: int
    name: str
    statement: str
    held: int


@dataclass(frozen=True, slots=True)
class TraceViolation:
    """The first event that no rule allows.

    Attributes:
        invariant: number of the invariant that it breaks.
        name: its name.
        frame: number of the frame that shows it; None if none does.
        at_s: when, in seconds since the trace began.
        observed: what it says.
        allowed: what would have been allowed.
        rule: the rule by which.
        frames: the frames around it.
    """

    invariant: int
    name: str
    frame: int | None
    at_s: float
    observed: str
    allowed: str
    rule: str
    frames: tuple[NearbyFrame, ...] = ()

    @property
    def text(self) -> str:
        """What was observed and what would have been allowed, in one sentence."""
        where = f"at {self.at_s:.3f} s" if self.frame is None else f"frame {self.frame}"
        broken = f"wire invariant {self.invariant}, {self.name.replace('_', ' ')}"
        return f"{where}: {self.observed}; allowed: {self.allowed} ({broken}; {self.rule})"

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "frames"}
        return {**plain, "text": self.text, "frames": [frame.as_json() for frame in self.frames]}


@dataclass(frozen=True, slots=True)
class TraceResult:
    """The result of one check.

    Attributes:
        rules_of: release and metadata mode whose rules were used.
        why_not: why the trace was not, or not wholly, checked; None if it was.
        violation: the first event that no rule allows; None if all are allowed.
        frames: frames in the trace.
        checked: frames that were shown to the model, by api.
        events: events that were replayed.
        invariants: every invariant, the exercised and the others.
        seconds: how long reading and replaying took.
    """

    rules_of: str
    why_not: str | None = None
    violation: TraceViolation | None = None
    frames: int = 0
    checked: Mapping[str, int] = field(default_factory=dict)
    events: int = 0
    invariants: tuple[InvariantCount, ...] = ()
    seconds: float = 0.0

    @property
    def shown(self) -> int:
        """How many frames were shown to the model."""
        return sum(self.checked.values())

    def as_json(self) -> dict[str, Any]:
        """Return trace_check.json."""
        return {
            "rules_of": self.rules_of,
            "is_checked": self.why_not is None,
            "why_not": self.why_not,
            "violation": self.violation.as_json() if self.violation is not None else None,
            "frames": self.frames,
            "checked": dict(self.checked),
            "events": self.events,
            "invariants": [
                {"number": i.number, "name": i.name, "statement": i.statement, "held": i.held} for i in self.invariants
            ],
            "seconds": self.seconds,
        }
