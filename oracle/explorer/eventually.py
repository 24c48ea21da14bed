"""Can a model behave so that something never happens? Looked for in the whole bounded graph.

A behaviour avoids a property if no state of it has the property and it either ends in a state from which no step
leads elsewhere, or goes round in a cycle for ever. Steps that change nothing do not count as steps. A cycle is a
counterexample only if it is weakly fair: each action that the property names as fair is taken in the cycle, or is
disabled in some state of it. A path that leaves the bounds is cut there and proves nothing.

All cycles are judged at once, by strongly connected component: if one fair cycle exists in a component, the walk
through all of it is fair too. Not sound together with symmetry: a cycle of representatives may not be one of states.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Generic

from oracle.explorer.model import Eventually, Model, PathStep, State, key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Behaviour(Generic[State]):
    """A way never to reach a property.

    Attributes:
        avoids: the property's name.
        path: steps from an initial state on; it ends in a dead end, or before it closes its loop.
        loop_start: index in the path to which its last state returns; None for a dead end.
    """

    avoids: str
    path: tuple[PathStep[State], ...]
    loop_start: int | None


@dataclass(frozen=True, slots=True)
class Edge:
    """A step between two states that avoid the property: where it leads, its label, its fair action if any."""

    target: int
    label: object
    action: Hashable | None


@dataclass(slots=True)
class AvoidingGraph(Generic[State]):
    """The states that avoid a property and are reached without it, numbered breadth first."""

    states: list[State] = field(default_factory=list)
    found_by: list[tuple[int, object] | None] = field(default_factory=list)  # parent and label
    edges: list[list[Edge]] = field(default_factory=list)
    enabled: list[set[Hashable]] = field(default_factory=list)  # fair actions that a state has
    dead_end: int | None = None


def find_avoiding_behaviour(model: Model[State], wanted: Eventually[State]) -> Behaviour[State] | None:
    """Return a behaviour that never reaches ``wanted``, or None if there is none within the bounds."""
    graph = _avoiding_graph(model, wanted)
    if graph.dead_end is not None:
        return Behaviour(wanted.name, _path(graph, graph.dead_end), None)
    targets = [[edge.target for edge in edges] for edges in graph.edges]
    for component in components_of(targets):
        if len(component) > 1 and _is_fair(graph, component):
            prefix = _path(graph, min(component))
            return Behaviour(wanted.name, (*prefix, *_round(graph, component)), len(prefix) - 1)
    return None


def _avoiding_graph(model: Model[State], wanted: Eventually[State]) -> AvoidingGraph[State]:
    graph: AvoidingGraph[State] = AvoidingGraph()
    numbers: dict[Hashable, int] = {}

    def number_of(state: State, found_by: tuple[int, object] | None) -> int | None:
        key = key_of(model, state)
        if key not in numbers:
            if wanted.holds(state) or not model.is_within_bounds(state):
                return None
            numbers[key] = len(numbers)
            graph.states.append(state)
            graph.found_by.append(found_by)
        return numbers[key]

    for state in model.initial_states():
        number_of(state, None)
    for number, state in enumerate(graph.states):  # grows while it is walked
        _expand(graph, number, [*_leaving(model, state)], wanted, number_of)
        if graph.dead_end is not None:
            break
    return graph


def _leaving(model: Model[State], state: State) -> Iterator[tuple[object, State]]:
    key = key_of(model, state)
    return ((label, reached) for label, reached in model.actions(state) if key_of(model, reached) != key)


def _expand(
    graph: AvoidingGraph[State],
    number: int,
    steps: list[tuple[object, State]],
    wanted: Eventually[State],
    number_of: Callable[[State, tuple[int, object]], int | None],
) -> None:
    if not steps:
        graph.dead_end = number
    edges = []
    for label, reached in steps:
        target = number_of(reached, (number, label))
        if target is not None:
            edges.append(Edge(target, label, wanted.fair_action(label)))
    graph.edges.append(edges)
    graph.enabled.append({wanted.fair_action(label) for label, _ in steps} - {None})


def _path(graph: AvoidingGraph[State], number: int) -> tuple[PathStep[State], ...]:
    steps = []
    found_by = graph.found_by[number]
    while found_by is not None:
        parent, label = found_by
        steps.append(PathStep(label, graph.states[number]))
        number, found_by = parent, graph.found_by[parent]
    return (PathStep(None, graph.states[number]), *steps[::-1])


def _is_fair(graph: AvoidingGraph[State], component: Collection[int]) -> bool:
    always_enabled = set.intersection(*(graph.enabled[number] for number in component))
    return always_enabled <= {edge.action for number in component for edge in _inside(graph, number, component)}


def _inside(graph: AvoidingGraph[State], number: int, component: Collection[int]) -> list[Edge]:
    return [edge for edge in graph.edges[number] if edge.target in component]


def _round(graph: AvoidingGraph[State], component: Collection[int]) -> Iterator[PathStep[State]]:
    """Yield a walk from the component's first state through what makes the component fair, and back."""
    start = at = min(component)
    closes: Callable[[Edge], bool] = lambda edge: edge.target == start  # noqa: E731
    for is_due in (*_obligations(graph, component), closes):
        for edge in next(walk for walk in _walks(graph, at, component) if is_due(walk[-1])):
            at = edge.target
            yield PathStep(edge.label, graph.states[at])


def _obligations(graph: AvoidingGraph[State], component: Collection[int]) -> Iterator[Callable[[Edge], bool]]:
    actions = set().union(*(graph.enabled[number] for number in component))
    for action in sorted(actions, key=str):
        yield partial(_serves, graph, action)


def _serves(graph: AvoidingGraph[State], action: Hashable, edge: Edge) -> bool:
    return edge.action == action or action not in graph.enabled[edge.target]


def _walks(graph: AvoidingGraph[State], start: int, component: Collection[int]) -> Iterator[list[Edge]]:
    """Yield walks inside the component, shortest first; each of its steps ends one, so what is sought is found."""
    walks: dict[int, list[Edge]] = {start: []}
    queue = deque([start])
    while True:
        number = queue.popleft()
        for edge in _inside(graph, number, component):
            walk = [*walks[number], edge]
            if edge.target not in walks:
                walks[edge.target] = walk
                queue.append(edge.target)
            yield walk


# Which states of a graph reach each other? Its strongly connected components, without recursion.
#
# Source: R. Tarjan, Depth-first search and linear graph algorithms, 1972.


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
