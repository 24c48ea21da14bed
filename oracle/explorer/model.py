"""What does the explorer search? A model: initial states, what may follow a state, and where to stop.

A state is any value. The explorer never looks inside: it asks the model for a state's key, an exact and compact
stand-in that is equal for two states exactly if the search need not tell them apart. A model that folds symmetric
states together returns the same key for them; the search does not know about symmetry otherwise.

Sources: stateright (model, always / eventually / sometimes), TLC (constraint, generated and distinct states).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

State = TypeVar("State")
S = TypeVar("S", contravariant=True)


class CannotGoOnError(Exception):
    """A model cannot represent more states: the search ends unfinished, with this reason."""


class Model(Protocol[State]):
    """A protocol as a graph of states.

    Attributes:
        name: what results call it.
        key: returns the exact key of a state for the visited set; None if states are their own keys.
    """

    @property
    def name(self) -> str:
        """What results call the model."""

    @property
    def key(self) -> Callable[[State], Hashable] | None:
        """How to shorten a state for the visited set; None if a state is its own key."""

    def initial_states(self) -> Iterable[State]:
        """Return every initial state."""

    def successors(self, state: State) -> Sequence[State]:
        """Return every state one step away, in a fixed order; one reached in two ways stands there twice."""

    def actions(self, state: State) -> Iterable[tuple[object, State]]:
        """Return the same steps with what happened: a label whose ``str`` is readable. Rebuilds paths only."""

    def is_within_bounds(self, state: State) -> bool:
        """Tell whether to go on from a state; one out of bounds is checked, but not counted nor expanded."""

    def occurrences(self) -> Mapping[str, int]:
        """Return how often named things happened so far, if the model counts them while it makes successors."""


@dataclass(frozen=True, slots=True)
class Always(Generic[S]):
    """A property of every reachable state.

    Attributes:
        name: what results call it.
        holds: tells whether a state has it.
    """

    name: str
    holds: Callable[[S], bool]


@dataclass(frozen=True, slots=True)
class Sometimes(Generic[S]):
    """A property that some reachable state must have, or the search has proved less than it seems to.

    Attributes:
        name: what results call it.
        holds: tells whether a state has it; the search counts such states.
    """

    name: str
    holds: Callable[[S], bool]


def no_fairness(_label: object) -> None:
    """Promise nothing about any step, but that a behaviour does not stop where a step is possible."""


@dataclass(frozen=True, slots=True)
class Eventually(Generic[S]):
    """A property that every behaviour reaches, see `oracle.explorer.eventually`.

    Attributes:
        name: what results call it.
        holds: tells whether a state has it.
        fair_action: names the weakly fair action that a label belongs to, None for the others. A behaviour is
            looked at only if it takes each of these actions again and again, or finds it disabled again and again.
    """

    name: str
    holds: Callable[[S], bool]
    fair_action: Callable[[object], Hashable | None] = no_fairness
