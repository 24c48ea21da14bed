"""What did a search find? A verdict, how much it visited, and the shortest way to what broke."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Generic

from oracle.explorer.model import State

if TYPE_CHECKING:
    from collections.abc import Mapping

INTERRUPTED = "interrupted"
"""Why a search is unfinished that a KeyboardInterrupt has ended."""


class Verdict(Enum):
    """What a search says about the properties that it checked."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class Step(Generic[State]):
    """One step of a path.

    Attributes:
        label: what happened; None for the initial state.
        state: the state it led to.
    """

    label: object | None
    state: State


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is: states generated and distinct, levels reached, states still to expand."""

    generated: int
    distinct: int
    depth: int
    queued: int


@dataclass(frozen=True, slots=True)
class Exploration(Generic[State]):
    """The result of one search.

    Attributes:
        model: the model's name.
        verdict: UNFINISHED if the search stopped before it had seen all and found nothing broken until then.
        property_name: the broken property, None unless VIOLATED.
        generated: states generated, initial ones and repetitions included, as TLC counts them.
        distinct: states visited.
        depth: levels of the search, counted in states: 1 if there are only initial states.
        path: the counterexample from an initial state on, shortest for a property that must always hold.
        loop_start: index in the path to which its end returns, if what is missing is missing for ever.
        sometimes: how often each thing was seen that a search should see; 0 means never.
        stopped_by: why the search is unfinished, None if it is not.
    """

    model: str
    verdict: Verdict
    property_name: str | None
    generated: int
    distinct: int
    depth: int
    path: tuple[Step[State], ...] = ()
    loop_start: int | None = None
    sometimes: Mapping[str, int] = field(default_factory=dict)
    stopped_by: str | None = None

    @property
    def trace_length(self) -> int | None:
        """States of the counterexample, the initial one included; None without one."""
        return len(self.path) or None

    @property
    def never_seen(self) -> tuple[str, ...]:
        """Things that a search should see and this one did not: what holds may hold for want of them."""
        return tuple(name for name, times in self.sometimes.items() if not times)
