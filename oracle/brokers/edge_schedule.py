"""Which schedules take real brokers along edges of the model, with both ends of each edge held and probed?

A schedule follows a path of the graph of held brokers: a checkpoint, one move, a checkpoint, and so on. The checkpoint
after a move that holds an edge on both sides names the edge by its id; so a written schedule says what it is for, and
``visited.require_visits`` can look whether it still does that. Awaits, outcomes and an end at rest are added as to any
schedule of the explorer (``shrinking.with_awaits``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from oracle.brokers.held_moves import steps_of
from oracle.brokers.path_cover import PathFinder, cover
from oracle.brokers.path_to_schedule import HoldNames
from oracle.brokers.shrinking import with_awaits
from oracle.predicting.step_effects import take
from oracle.steps.produce import Produce
from oracle.steps.waits import Checkpoint

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from oracle.brokers.held_graph import Arc, HeldGraph
    from oracle.schedule import Schedule
    from oracle.steps.step import Step

MOVES_MAX: Final = 14
"""Moves of a written schedule at most, unless its edge is farther away."""
PRODUCE_TIMEOUT_MS: Final = 120_000
"""How long a producer waits, while brokers are held between two of its record's half steps."""
_CLAIM = re.compile(r"[0-9]+\. edge ([0-9a-f]+): .+")


@dataclass(frozen=True, slots=True)
class CoverSchedule:
    """A schedule, and what it is written for.

    Attributes:
        edges: ids of the edges that it holds on both sides, in the order of its steps.
    """

    schedule: Schedule
    edges: tuple[str, ...]


def cover_schedules(
    graph: HeldGraph,
    done: Collection[str] = (),
    moves_max: int = MOVES_MAX,
    asked: Collection[str] | None = None,
) -> Iterator[CoverSchedule]:
    """Yield schedules that together hold every edge that can be held, but those that are done.

    Args:
        graph: where held brokers of a release can be led.
        done: ids of edges that need no visit any more.
        moves_max: moves of a schedule at most, unless its edge is farther away.
        asked: ids of the edges that are to be held; None for all.
    """
    arcs = graph.arcs_by_edge().items()
    wanted = [number for edge, number in arcs if edge not in done and (asked is None or edge in asked)]
    for path in cover(_ends(graph), wanted, 0, moves_max):
        yield _written(graph, [graph.arcs[number] for number in path])


def shortest_schedule(graph: HeldGraph, edge: str) -> CoverSchedule | None:
    """Return a schedule of fewest moves that ends with an edge; None if no schedule holds it (``graph.why_not``)."""
    number = graph.arcs_by_edge().get(edge)
    if number is None:
        return None
    arc = graph.arcs[number]
    way = PathFinder(_ends(graph)).ways(0)[arc.source]
    return _written(graph, [*(graph.arcs[before] for before in way), arc])


def claims(schedule: Schedule) -> tuple[str, ...]:
    """Return the ids of the edges that a schedule says it visits, in the order of its checkpoints."""
    names = (step.name for step in schedule.steps if isinstance(step, Checkpoint))
    return tuple(claim[1] for name in names if (claim := _CLAIM.fullmatch(name)) is not None)


def _ends(graph: HeldGraph) -> list[tuple[int, int]]:
    return [(arc.source, arc.target) for arc in graph.arcs]


def _written(graph: HeldGraph, arcs: Sequence[Arc]) -> CoverSchedule:
    """Return the schedule of a path that ends with an edge."""
    model = graph.edges.model
    edges = [arc.edge for arc in arcs if arc.edge is not None]
    partition = replace(
        model.empty_schedule(),
        id=f"coverage/{model.rules.version}-{model.rules.metadata.value}/{edges[-1].id}",
        requirement=f"Brokers go half step by half step where the model does, up to: {edges[-1].action}.",
    )
    steps = with_awaits(tuple(_steps(graph, arcs)), partition, model.rules, may_send=False)
    return CoverSchedule(replace(partition, steps=steps), tuple(edge.id for edge in edges))


def _steps(graph: HeldGraph, arcs: Sequence[Arc]) -> Iterator[Step]:
    """Yield the steps of every move, and a checkpoint before the first and after each."""
    world, names = graph.worlds[0], HoldNames()
    yield Checkpoint("0. as created")
    for number, arc in enumerate(arcs, 1):
        for step in steps_of(arc.move, world, names):
            world = take(world, step)
            yield replace(step, timeout_ms=PRODUCE_TIMEOUT_MS) if isinstance(step, Produce) else step
        yield Checkpoint(_name(number, arc))


def _name(number: int, arc: Arc) -> str:
    """Return what a checkpoint shows; ``claims`` reads it."""
    return f"{number}. {arc.move}" if arc.edge is None else f"{number}. edge {arc.edge.id}: {arc.move}"
