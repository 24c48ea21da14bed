"""How did a state come about? Rebuilt from each state's parent, with what happened at every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.explorer.model import PathStep

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from oracle.explorer.model import Model, State


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
