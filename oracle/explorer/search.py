"""Does a property hold in every state a model can reach? Breadth first, so that a counterexample is shortest.

The visited set is exact: a dict from each state's key to the key of the state it was found from, nothing hashed
away. Order is the model's order, so two searches of a model agree to the last digit. Memory is bounded by
``max_states``; a search that reaches it is unfinished, never "holds". Nothing here reads a clock: whoever wants to
see progress or to stop after a time passes a callable.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic

from oracle.explorer.eventually import find_avoiding_behaviour
from oracle.explorer.model import (
    INTERRUPTED,
    Always,
    CannotGoOnError,
    Eventually,
    Exploration,
    Model,
    PathStep,
    SearchProgress,
    SearchVerdict,
    Sometimes,
    State,
    key_of,
    path_to,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

CHUNK = 2048  # states expanded between two looks at progress and stop


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a search stops, and who hears of it.

    Attributes:
        max_states: distinct states to hold in memory; None for all there are.
        on_progress: called after every chunk of expanded states.
        should_stop: asked after every chunk; a true answer ends the search as unfinished.
    """

    max_states: int | None = None
    on_progress: Callable[[SearchProgress], None] = lambda _progress: None
    should_stop: Callable[[], bool] = lambda: False


NO_LIMITS = Limits()


def explore(
    model: Model[State],
    always: Sequence[Always[State]] = (),
    sometimes: Sequence[Sometimes[State]] = (),
    eventually: Sequence[Eventually[State]] = (),
    limits: Limits = NO_LIMITS,
) -> Exploration[State]:
    """Search a model breadth first and return what was found.

    The search ends at the first state that breaks an ``always`` property. Where all of them hold in all states,
    each ``eventually`` property is looked at next. A KeyboardInterrupt or a CannotGoOnError ends
    it with the figures so far, unfinished.
    """
    search = _Search(model, always, sometimes, limits)
    behaviour = None
    try:
        search.run()
        if search.may_conclude:
            behaviour = next(filter(None, (find_avoiding_behaviour(model, wanted) for wanted in eventually)), None)
    except KeyboardInterrupt:
        search.stopped_by = INTERRUPTED
    except CannotGoOnError as reason:
        search.stopped_by = str(reason)
    found = search.result()
    if behaviour is None:
        return found
    return replace(
        found,
        verdict=SearchVerdict.VIOLATED,
        property_name=behaviour.avoids,
        path=behaviour.path,
        loop_start=behaviour.loop_start,
    )


@dataclass(slots=True)
class _Search(Generic[State]):
    model: Model[State]
    always: Sequence[Always[State]]
    sometimes: Sequence[Sometimes[State]]
    limits: Limits
    parents: dict[Hashable, Hashable | None] = field(default_factory=dict)
    states: list[State] = field(default_factory=list)  # found, not expanded yet
    keys: list[Hashable] = field(default_factory=list)  # theirs
    seen: dict[str, int] = field(default_factory=dict)
    generated: int = 0
    levels_expanded: int = 0
    broken: tuple[str, Hashable] | None = None
    stopped_by: str | None = None

    def run(self) -> None:
        """Visit level after level until nothing is new, something is broken, or a limit is reached."""
        self.seen = {one.name: 0 for one in self.sometimes}
        for state in self.model.initial_states():
            self.generated += 1
            key = key_of(self.model, state)
            if key not in self.parents and self.may_conclude:
                self._visit(state, key, None)
        while self.states and self._may_go_on():
            states, keys = self.states, self.keys
            self.states, self.keys = [], []
            self._expand_level(states, keys)
            self.levels_expanded += 1

    def _expand_level(self, states: list[State], keys: list[Hashable]) -> None:
        for start in range(0, len(states), CHUNK):
            end = start + CHUNK
            self._expand(states[start:end], keys[start:end])
            queued = max(0, len(states) - end) + len(self.states)
            depth = self.levels_expanded + 1 + bool(self.states)
            self.limits.on_progress(SearchProgress(self.generated, len(self.parents), depth, queued))
            if not self._may_go_on():
                return

    def _may_go_on(self) -> bool:
        if self.limits.should_stop():
            self.stopped_by = self.stopped_by or "stopped"
        return self.may_conclude

    def _expand(self, states: list[State], keys: list[Hashable]) -> None:
        parents, key, successors_of = self.parents, self.model.key, self.model.successors
        for state, parent in zip(states, keys, strict=True):
            successors = successors_of(state)
            self.generated += len(successors)
            reached: Sequence[Hashable] = successors if key is None else [key(one) for one in successors]
            for mark, successor in zip(reached, successors, strict=True):
                if mark not in parents:
                    self._visit(successor, mark, parent)
                    if not self.may_conclude:
                        return

    def _visit(self, state: State, key: Hashable, parent: Hashable | None) -> None:
        if self.model.is_within_bounds(state):
            if len(self.parents) == self.limits.max_states:
                self.stopped_by = f"reached {self.limits.max_states} states"
                return
            self.parents[key] = parent
            self.states.append(state)
            self.keys.append(key)
            for one in self.sometimes:
                self.seen[one.name] += one.holds(state)
        for wanted in self.always:
            if not wanted.holds(state):
                self.broken = (wanted.name, key)
                self.parents.setdefault(key, parent)
                return

    @property
    def may_conclude(self) -> bool:
        """Return whether every reachable state was visited and found sound."""
        return self.broken is None and self.stopped_by is None

    def result(self) -> Exploration[State]:
        """Return what has been found so far."""
        verdict, name = SearchVerdict.HOLDS, None
        path: tuple[PathStep[State], ...] = ()
        if self.broken is not None:
            name, key = self.broken
            verdict, path = SearchVerdict.VIOLATED, path_to(self.model, self.parents, key)
        elif self.stopped_by is not None:
            verdict = SearchVerdict.UNFINISHED
        return Exploration(
            model=self.model.name,
            verdict=verdict,
            property_name=name,
            generated=self.generated,
            distinct=len(self.parents),
            depth=len(path) or self.levels_expanded + bool(self.states),
            path=path,
            sometimes={**self.model.occurrences(), **self.seen},
            stopped_by=self.stopped_by if verdict is SearchVerdict.UNFINISHED else None,
        )
