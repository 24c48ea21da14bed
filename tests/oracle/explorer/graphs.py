"""Small graphs to search, written down edge by edge."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping


@dataclass
class DrawnGraph:
    """A model whose steps are given: state to (label, next state)."""

    steps: Mapping[str, list[tuple[str, str]]]
    start: tuple[str, ...] = ("a",)
    outside: frozenset[str] = frozenset()
    key: Callable[[str], Hashable] | None = None
    name: str = "drawn graph"
    expanded: Counter[str] = field(default_factory=Counter)

    def initial_states(self) -> Iterable[str]:
        return self.start

    def successors(self, state: str) -> list[str]:
        self.expanded[state] += 1
        return [reached for _, reached in self.actions(state)]

    def actions(self, state: str) -> list[tuple[str, str]]:
        return self.steps.get(state, [])

    def is_within_bounds(self, state: str) -> bool:
        return state not in self.outside

    def occurrences(self) -> Mapping[str, int]:
        return {"steps": sum(len(self.actions(state)) * times for state, times in self.expanded.items())}


def drawn(text: str) -> dict[str, list[tuple[str, str]]]:
    """Return steps from lines such as ``a -go-> b``."""
    steps: dict[str, list[tuple[str, str]]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        source, arrow, target = line.split()
        steps.setdefault(source, []).append((arrow.removeprefix("-").removesuffix("->"), target))
    return steps
