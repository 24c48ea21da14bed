"""Which few paths take every arc that is wanted? Greedy: each goes by a shortest way to an arc that none has taken yet.

From there it goes on to the nearest arc not taken yet, as long as it has moves left. The arcs farthest from the start
are sought first: a path to them takes many nearer ones with it. Equal distances are decided by the arcs' order, so that
the same graph has the same paths in every process.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    Ends = tuple[int, int]
    Path = tuple[int, ...]


class PathFinder:
    """Shortest ways through a graph.

    Attributes:
        arcs: source and target of each arc, by its number.
    """

    def __init__(self, arcs: Sequence[Ends]) -> None:
        self.arcs = arcs
        self._leaving: dict[int, list[int]] = {}
        for number, (source, _) in enumerate(arcs):
            self._leaving.setdefault(source, []).append(number)

    def nearest(self, start: int, wanted: Collection[int], moves_max: int) -> Path | None:
        """Return a shortest path from a node that ends with a wanted arc; None if it would have too many arcs."""
        came_by: dict[int, int] = {}
        queue = deque([(start, 0)])
        while queue:
            node, length = queue.popleft()
            for arc in self._leaving.get(node, ()) if length < moves_max else ():
                if arc in wanted:
                    return (*self._back(came_by, start, node), arc)
                target = self.arcs[arc][1]
                if target != start and target not in came_by:
                    came_by[target] = arc
                    queue.append((target, length + 1))
        return None

    def ways(self, start: int) -> dict[int, Path]:
        """Return a shortest path to every node that can be reached, nearest first."""
        found: dict[int, Path] = {start: ()}
        queue = deque([start])
        while queue:
            node = queue.popleft()
            for arc in self._leaving.get(node, ()):
                target = self.arcs[arc][1]
                if target not in found:
                    found[target] = (*found[node], arc)
                    queue.append(target)
        return found

    def _back(self, came_by: Mapping[int, int], start: int, node: int) -> Path:
        path: list[int] = []
        while node != start:
            path.append(came_by[node])
            node = self.arcs[came_by[node]][0]
        return tuple(reversed(path))


def cover(arcs: Sequence[Ends], wanted: Iterable[int], start: int, moves_max: int) -> tuple[Path, ...]:
    """Return paths that together take every wanted arc that can be reached.

    Args:
        arcs: source and target of each arc, by its number.
        wanted: numbers of the arcs to take.
        start: the node from which every path leaves.
        moves_max: arcs of a path at most, unless the shortest way to an arc is longer.

    Returns:
        each path as the numbers of its arcs, in their order; it ends with a wanted arc.
    """
    finder = PathFinder(arcs)
    ways = finder.ways(start)
    left = {arc for arc in wanted if arcs[arc][0] in ways}
    paths: list[Path] = []
    for arc in sorted(left, key=lambda one: (-len(ways[arcs[one][0]]), one)):
        if arc in left:
            path = (*ways[arcs[arc][0]], arc)
            left.difference_update(path)
            paths.append(_continued(finder, path, left, moves_max))
    return tuple(paths)


def _continued(finder: PathFinder, path: Path, left: set[int], moves_max: int) -> Path:
    """Return a path that goes on to the nearest arc which is left, as long as it may; take what it takes from those."""
    while more := finder.nearest(finder.arcs[path[-1]][1], left, moves_max - len(path)):
        left.difference_update(more)
        path += more
    return path
