"""What does a report know about an open race? Every way it can end, and the one that was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """One of several ways an open race can end.

    Attributes:
        moves: what has to happen, in order.
        ends: the records that end otherwise than in another outcome.
        is_measured: whether it is the one that fits what was measured.
    """

    number: int
    moves: tuple[str, ...]
    ends: tuple[str, ...]
    is_measured: bool


@dataclass(frozen=True, slots=True)
class OpenRace:
    """What the prediction left open, and how it ended.

    Attributes:
        values: each number, log and record with the values it can have.
        assumed: the steps that only some outcomes bring about.
    """

    outcomes: tuple[Outcome, ...]
    values: tuple[str, ...]
    assumed: tuple[str, ...]

    @property
    def measured(self) -> Outcome | None:
        """Return the outcome that was measured, if any was."""
        return next((outcome for outcome in self.outcomes if outcome.is_measured), None)
