"""What came out of the check of one run's wire trace? The content of ``trace_check.json``."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the decoder evaluates the fields' types
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory

TRACE_CHECK_FILE = "trace_check.json"


@dataclass(frozen=True, slots=True)
class InvariantCount:
    """How often one invariant was looked at and held; 0 if the trace, as far as it was replayed, never exercised it."""

    number: int
    name: str
    statement: str
    held: int


@dataclass(frozen=True, slots=True)
class NearbyFrame:
    """One frame near the violation.

    Attributes:
        seq: its number in the wire trace.
        at_s: when it was sent, in seconds since the trace began.
        text: what it is.
    """

    seq: int
    at_s: float
    text: str


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
    def where(self) -> str:
        """The frame that shows it, or the moment if none does."""
        return f"at {self.at_s:.3f} s" if self.frame is None else f"frame {self.frame}"

    @property
    def text(self) -> str:
        """What was observed and what would have been allowed, in one sentence."""
        broken = f"wire invariant {self.invariant}, {self.name.replace('_', ' ')}"
        return f"{self.where}: {self.observed}; allowed: {self.allowed} ({broken}; {self.rule})"


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
    def is_whole(self) -> bool:
        """Whether the trace was replayed to its end; the check stops at a violation, and where it cannot go on."""
        return self.violation is None and self.why_not is None

    @property
    def shown(self) -> int:
        """How many frames were shown to the model."""
        return sum(self.checked.values())


def write_trace_check(run: RunDirectory, result: TraceResult) -> None:
    """Write what came out of the check."""
    run.write(TRACE_CHECK_FILE, result)


def read_trace_check(run: RunDirectory) -> TraceResult | None:
    """Read what came out of the check; None of a run that was never checked.

    Raises:
        RunDirectoryError: it cannot be read.
    """
    return run.read(TRACE_CHECK_FILE, TraceResult) if run.has(TRACE_CHECK_FILE) else None
