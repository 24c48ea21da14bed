"""Where can held brokers be led, half step by half step, and which edges of the model are held on both sides then?

The graph of held brokers is searched breadth first from the partition right after its creation. Its nodes are worlds
in which every link stands, told apart as the explorer's model tells states apart; some of them are no states of that
model (``held_moves``), and lead to states that are. An arc that takes one action, from a state of the model to the
state that the model foresees, is an edge held on both sides. Every other edge has the reason why no schedule holds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from oracle.brokers.held_moves import answered_when_parked, catches, moves_beyond, moves_of, steps_of
from oracle.brokers.path_to_schedule import HoldNames
from oracle.brokers.rests import REFUSALS, RestPoint, modelled_state, rests_after
from oracle.predict import initial_world

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.brokers.edges import BrokerEdge, EdgeGraph
    from oracle.brokers.held_moves import HeldMove
    from oracle.brokers.model import BrokerAction, Brokers
    from oracle.state import PartitionState
    from oracle.world import World


class WhyNotHeld(StrEnum):
    """Why is an edge never held on both sides?"""

    NEVER_THERE = "no schedule stops in its source"
    PARKED_ANSWER = "it has a parked fetch answered, and a hold catches the empty answer that comes before"
    RACE = "brokers take it in more than one way"
    REFUSED = "a step is refused"
    ELSEWHERE = "brokers come to rest in another state"


@dataclass(frozen=True, slots=True)
class Arc:
    """A move of held brokers.

    Attributes:
        source: number of the world that it starts from.
        target: number of the world that it ends in.
        edge: the edge of the model that it holds on both sides; None if it holds none.
    """

    source: int
    target: int
    move: HeldMove
    edge: BrokerEdge | None = None


class HeldGraph:
    """Every world of held brokers within the bounds.

    Attributes:
        edges: the model's graph.
        worlds: the first is the partition right after its creation.
        arcs: the moves between them.
        why_not: of each edge that no arc holds, the reason.
    """

    def __init__(self, edges: EdgeGraph) -> None:
        self.edges = edges
        self.worlds: list[World] = []
        self.arcs: list[Arc] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._failed: dict[str, WhyNotHeld] = {}
        model = edges.model
        self._found(initial_world(model.empty_schedule(), model.rules, model.brokers()))
        for number, world in enumerate(self.worlds):
            if model.is_within_bounds(world.state):
                self._leave(number, world)
        held = self.arcs_by_edge()
        self.why_not = {
            edge.id: self._failed.get(edge.id, WhyNotHeld.NEVER_THERE) for edge in edges.edges if edge.id not in held
        }

    def arcs_by_edge(self) -> dict[str, int]:
        """Return the number of the arc that holds an edge, for every edge that one holds, in the arcs' order."""
        return {arc.edge.id: number for number, arc in enumerate(self.arcs) if arc.edge is not None}

    def _leave(self, number: int, world: World) -> None:
        """Take every move from a world."""
        for action in self.edges.model.possible(self._state(world)):
            if not self._take_action(number, world, action):
                self._take_first(number, world, moves_beyond(world, action, self.edges.model), None)
        for move in catches(world):
            self._take_first(number, world, (move,), None)

    def _take_action(self, number: int, world: World, action: BrokerAction) -> bool:
        """Take one action; if it cannot be, note why."""
        state = self.edges.number(self._state(world))
        edge = None if state is None else self.edges.edge(state, action)
        moves = moves_of(world, action, self.edges.model)
        if answered_when_parked(world.state, moves[0].target):
            why: WhyNotHeld | None = WhyNotHeld.PARKED_ANSWER
        else:
            why = self._take_first(number, world, moves, edge)
        if why is not None and edge is not None:
            self._failed[edge.id] = why
        return why is None

    def _take_first(
        self, number: int, world: World, moves: Iterable[HeldMove], edge: BrokerEdge | None
    ) -> WhyNotHeld | None:
        """Take the first move that leads where the model foresees; return why the last one does not."""
        why = None
        for move in moves:
            after = reached(world, move, self.edges.model)
            if not isinstance(after, WhyNotHeld):
                self.arcs.append(Arc(number, self._found(after), move, edge))
                return None
            why = after
        return why

    def _state(self, world: World) -> PartitionState:
        return modelled_state(world, self.edges.model.bounds)

    def _found(self, world: World) -> int:
        number = self._numbers.setdefault(self.edges.model.key(self._state(world)), len(self.worlds))
        if number == len(self.worlds):
            self.worlds.append(world)
        return number


def reached(world: World, move: HeldMove, model: Brokers) -> World | WhyNotHeld:
    """Return the one world in which a move ends, the one that the model foresees, with every armed hold in use."""
    rests: tuple[RestPoint, ...] = (RestPoint(world),)
    try:
        for step in steps_of(move, world, HoldNames()):
            rests = rests_after(rests, step)
    except REFUSALS:
        return WhyNotHeld.REFUSED
    if len(rests) > 1:
        return WhyNotHeld.RACE
    after = rests[0].world
    is_foreseen = not move.actions or model.key(modelled_state(after, model.bounds)) == model.key(move.target)
    return after if is_foreseen and all(armed.caught for armed in after.gate.holds) else WhyNotHeld.ELSEWHERE
