"""What does a report tell of the wire? How many frames were replayed, what held, and the first that is not allowed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class WireAnswer(StrEnum):
    """Are all frames of a run such as the rules allow?"""

    ALLOWED = "allowed"
    VIOLATED = "violated"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class WireInvariant:
    """How often one invariant was looked at and held; 0 if the run, as far as it was replayed, never exercised it."""

    number: int
    statement: str
    held: int


@dataclass(frozen=True, slots=True)
class WireFrame:
    """One frame near the one that is not allowed; seconds count from the beginning of the trace."""

    number: int
    at_s: float
    text: str
    is_the_one: bool = False


@dataclass(frozen=True, slots=True)
class WireViolation:
    """The first event that no rule allows.

    Attributes:
        where: the frame or the moment.
        invariant: number and name of the invariant that it breaks.
        frames: the frames around it, in the order of time.
    """

    where: str
    observed: str
    allowed: str
    invariant: str
    rule: str
    frames: tuple[WireFrame, ...] = ()


@dataclass(frozen=True, slots=True)
class Wire:
    """What the check of one run's wire trace found.

    Attributes:
        frames: frames in the trace.
        shown: frames that were shown to the model, by api.
        events: what these frames, faults, outcomes and measurements are as events of the model.
        why_not: why the trace was not checked; empty if it was.
    """

    rules_of: str
    frames: int = 0
    shown: Mapping[str, int] = field(default_factory=dict)
    events: int = 0
    invariants: tuple[WireInvariant, ...] = ()
    violation: WireViolation | None = None
    why_not: str = ""

    @property
    def answer(self) -> WireAnswer:
        """Return whether all frames are such as the rules allow."""
        if self.violation is not None:
            return WireAnswer.VIOLATED
        return WireAnswer.NOT_CHECKED if self.why_not else WireAnswer.ALLOWED

    @property
    def shown_frames(self) -> int:
        """How many frames were shown to the model."""
        return sum(self.shown.values())

    @property
    def held(self) -> tuple[WireInvariant, ...]:
        """Return the invariants that the run exercised."""
        return tuple(invariant for invariant in self.invariants if invariant.held)

    @property
    def idle(self) -> tuple[int, ...]:
        """Return the numbers of those that were neither looked at nor broken."""
        broken = "" if self.violation is None else self.violation.invariant
        return tuple(
            each.number for each in self.invariants if not each.held and not broken.startswith(f"{each.number},")
        )

    @property
    def sentence(self) -> str:
        """Return the answer in one sentence."""
        if self.violation is not None:
            return f"{self.violation.where}: {self.violation.observed}; allowed: {self.violation.allowed}."
        if self.why_not:
            return f"The wire trace was not checked: {self.why_not}."
        return f"Every one of {self.events:,} events on the wire is one that the rules of {self.rules_of} allow."
