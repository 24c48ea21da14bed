"""What does the explorer search? A model: initial states, what may follow a state, and where to stop.

A state is any value. The explorer never looks inside: it asks the model for a state's key, an exact and compact
stand-in that is equal for two states exactly if the search need not tell them apart. A model that folds symmetric
states together returns the same key for them; the search does not know about symmetry otherwise.

Sources: stateright (model, always / eventually / sometimes), TLC (constraint, generated and distinct states).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

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
        """Return whether to go on from a state; one out of bounds is checked, but not counted nor expanded."""

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


# What can be searched by name? A model with its invariants, and how to show its states to people and programs.


@dataclass(frozen=True, slots=True)
class SearchSubject(Generic[State]):
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


# What did a search find? A verdict, how much it visited, and the shortest way to what broke.


INTERRUPTED = "interrupted"
"""Why a search is unfinished that a KeyboardInterrupt has ended."""


class SearchVerdict(Enum):
    """What a search says about the properties that it checked."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class PathStep(Generic[State]):
    """One step of a path.

    Attributes:
        label: what happened; None for the initial state.
        state: the state it led to.
    """

    label: object | None
    state: State


@dataclass(frozen=True, slots=True)
class SearchProgress:
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
    verdict: SearchVerdict
    property_name: str | None
    generated: int
    distinct: int
    depth: int
    path: tuple[PathStep[State], ...] = ()
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


def path_to(
    model: Model[State], parents: Mapping[Hashable, Hashable | None], key: Hashable
) -> tuple[PathStep[State], ...]:
    """Return the path from an initial state to the state with this key.

    Args:
        model: the model whose steps are replayed.
        parents: key of each visited state to the key of the state it was found from; None for initial ones.
        key: the last state's key; it is in ``parents``.

    Raises:
        LookupError: the model's ``actions`` do not lead where its ``successors`` lead.
    """
    keys = [*_back_to_start(parents, key)][::-1]
    step = _step_to(((None, state) for state in model.initial_states()), model, keys[0])
    path = [step]
    for reached in keys[1:]:
        step = _step_to(model.actions(step.state), model, reached)
        path.append(step)
    return tuple(path)


def _back_to_start(parents: Mapping[Hashable, Hashable | None], key: Hashable) -> Iterator[Hashable]:
    at: Hashable | None = key
    while at is not None:
        yield at
        at = parents[at]


def _step_to(steps: Iterable[tuple[object | None, State]], model: Model[State], key: Hashable) -> PathStep[State]:
    for label, state in steps:
        if key_of(model, state) == key:
            return PathStep(label, state)
    raise LookupError(f"{model.name}: no action leads to {key!r}, though it is a successor")


def key_of(model: Model[State], state: State) -> Hashable:
    """Return the key under which a state is visited."""
    return model.key(state) if model.key is not None else state
