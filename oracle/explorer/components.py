"""Which states of a graph reach each other? Its strongly connected components, without recursion.

Source: R. Tarjan, Depth-first search and linear graph algorithms, 1972.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def components_of(targets: Sequence[Sequence[int]]) -> list[frozenset[int]]:
    """Return the components of the graph in which node ``n`` has edges to ``targets[n]``."""
    search = _Tarjan(targets)
    for node in range(len(targets)):
        if node not in search.order:
            search.visit(node)
    return search.components


@dataclass(slots=True)
class _Tarjan:
    targets: Sequence[Sequence[int]]
    order: dict[int, int] = field(default_factory=dict)  # node to when it was met
    lowest: dict[int, int] = field(default_factory=dict)  # node to the earliest one it reaches
    open: dict[int, None] = field(default_factory=dict)  # nodes without a component yet, in order
    components: list[frozenset[int]] = field(default_factory=list)

    def visit(self, root: int) -> None:
        """Walk depth first from a node; close every component that the walk completes."""
        calls = [self._enter(root)]
        while calls:
            node, rest = calls[-1]
            following = next(rest, None)
            if following is None:
                calls.pop()
                self._leave(node, calls[-1][0] if calls else None)
            elif following not in self.order:
                calls.append(self._enter(following))
            elif following in self.open:
                self.lowest[node] = min(self.lowest[node], self.order[following])

    def _enter(self, node: int) -> tuple[int, Iterator[int]]:
        self.order[node] = self.lowest[node] = len(self.order)
        self.open[node] = None
        return node, iter(self.targets[node])

    def _leave(self, node: int, parent: int | None) -> None:
        if parent is not None:
            self.lowest[parent] = min(self.lowest[parent], self.lowest[node])
        if self.lowest[node] == self.order[node]:
            members: list[int] = []
            while not members or members[-1] != node:
                members.append(self.open.popitem()[0])
            self.components.append(frozenset(members))
