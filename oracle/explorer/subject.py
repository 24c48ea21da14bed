"""What can be searched by name? A model with its invariants, and how to show its states to people and programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from oracle.explorer.model import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from oracle.explorer.exploration import Exploration
    from oracle.explorer.model import Always, Model, Sometimes


@dataclass(frozen=True, slots=True)
class Subject(Generic[State]):
    """Something to search, ready for a search.

    Attributes:
        model: its states and steps.
        constants: what it is bounded by, for results.
        invariants: what is checked if nobody chooses.
        further: what can be checked besides.
        sometimes: what a search should see, besides what the model counts itself.
        conclude: makes something of what was found, and says what.
        lines: tells a state to people.
        value: tells a state to programs, as plain JSON values.
    """

    model: Model[State]
    constants: Mapping[str, object]
    invariants: tuple[Always[State], ...]
    lines: Callable[[State], Iterable[str]]
    value: Callable[[State], object]
    further: tuple[Always[State], ...] = ()
    sometimes: tuple[Sometimes[State], ...] = ()
    conclude: Callable[[Exploration[State]], Iterable[str]] = lambda _found: ()
