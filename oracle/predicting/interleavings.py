"""Where can replication come to rest? Every order in which unheld links can move, merged by state.

Between two rest points followers' requests travel on links of their own, brokers hear the controller's
decisions each in its own time, and no rule says which comes first. ``explore`` takes half-steps
(``world.half_step``) and the controller's events in every order and keeps the states it has not met.
Two reductions keep that small; neither hides an end. Both wait until every decision has been heard.

1. A half-step that only its own follower can see is taken at once and alone: sending a request, handling
   an answer, having a lookup answered. Whatever the others do meanwhile neither enables, disables nor
   changes it (a leader's log does not change any more), so every order with it later ends where one
   with it now ends: such a step is a persistent set (Godefroid 1996).
2. A parked fetch is not answered if the follower's whole round would end where it began: the leader learns
   from it nothing that the fetch did not tell when it was parked.

A state from which nothing moves is at rest. The tests compare the ends with those of a search without
either reduction. Not explored: a leader hears that its wish for an ISR change was granted at the moment
when it is, unless a hold keeps the answer, and its wishes are granted in the order of their brokers.

Sources: AbstractFetcherThread (one request per link), DelayedFetch; architecture, "Contract of a step" 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from oracle.events import (
    FetchCompleted,
    RequestReceived,
    RequestSent,
    ResponseReceived,
)
from oracle.replication.electing import awaiting
from oracle.state import FetchAnswer, FetchKind, FetchStage
from oracle.world import controller_moves, half_step, unnoticed

if TYPE_CHECKING:
    from oracle.events import Event
    from oracle.gate import ModelledGate
    from oracle.state import FetchInFlight, PartitionState
    from oracle.vocabulary import BrokerId
    from oracle.world import World

    Identity = tuple[PartitionState, ModelledGate]

STATES_MAX = 50_000
ROUND_HALF_STEPS = 8
"""More half-steps than any fetch round has, with a lookup before it."""


class TooManyStatesError(Exception):
    """The links can interleave in more ways than are explored."""


@dataclass(frozen=True, slots=True)
class Move:
    """One half-step from a state to another; no event where the model's clock or checkpointing moved it."""

    event: Event | None
    before: World
    after: World


@dataclass(slots=True)
class InterleavingGraph:
    """The states between two rest points, in the order they were met; the first is where it begins.

    Attributes:
        edges: of each state the events that lead on, with the number of the state they lead to.
        came_from: of each state but the first, the edge on a shortest way to it.
        ends: numbers of the states at rest.
    """

    worlds: list[World] = field(default_factory=list)
    edges: list[list[tuple[Event | None, int]]] = field(default_factory=list)
    came_from: dict[int, tuple[int, Event | None]] = field(default_factory=dict)
    ends: list[int] = field(default_factory=list)

    def way_to(self, number: int) -> tuple[int, ...]:
        """Return the numbers of the states on a shortest way from the first state to another, both included."""
        way = [number]
        while way[-1] in self.came_from:
            way.append(self.came_from[way[-1]][0])
        return tuple(reversed(way))

    def moves_to(self, number: int) -> tuple[Move, ...]:
        """Return the moves on that way."""
        way = self.way_to(number)
        return tuple(
            Move(self.came_from[there][1], self.worlds[here], self.worlds[there]) for here, there in pairwise(way)
        )


def explore(world: World, states_max: int = STATES_MAX) -> InterleavingGraph:
    """Explore every order in which the links can move until nothing moves any more.

    Raises:
        TooManyStatesError: after ``states_max`` states.
    """
    graph = InterleavingGraph([world], [[]])
    known = {identity(world): 0}
    number = 0
    while number < len(graph.worlds):
        for event, after in _moves(graph.worlds[number]):
            reached = known.setdefault(identity(after), len(graph.worlds))
            graph.edges[number].append((event, reached))
            if reached == len(graph.worlds):
                graph.worlds.append(after)
                graph.edges.append([])
                graph.came_from[reached] = (number, event)
        if not graph.edges[number]:
            graph.ends.append(number)
        if len(graph.worlds) > states_max:
            raise TooManyStatesError(f"more than {states_max} states between two rest points")
        number += 1
    return graph


def identity(world: World) -> Identity:
    """Return what makes a state another one: neither the order of joins nor that of cuts on several brokers."""
    state = world.state
    controller = replace(state.controller, isr=tuple(sorted(state.controller.isr)))
    cuts = tuple(sorted(state.history_truncations))
    return replace(state, controller=controller, history_truncations=cuts), world.gate


def _moves(world: World) -> list[tuple[Event | None, World]]:
    """Return the moves to take from a state: one that only its follower sees, or all there are."""
    is_calm = _is_calm(world)
    moves: list[tuple[Event | None, World]] = []
    for follower in world.order:
        fetch = world.state.replica(follower).fetch
        after = half_step(world, follower)
        if after is world or (is_calm and _may_be_idle(fetch) and _is_idle(world, follower)):
            continue
        event = _event(follower, fetch)
        if is_calm and _is_seen_by_its_follower_only(fetch):
            return [(event, after)]
        moves.append((event, after))
    moves.extend(controller_moves(world))
    return moves or _at_rest(world)


def _is_calm(world: World) -> bool:
    """Return whether every broker has heard every decision that no hold keeps back, and none is to come.

    Then both reductions hold.
    """
    leader = world.state.serving_leader()
    is_shrinking = leader is not None and leader.leaving
    heard = (world.blocks_decisions(broker) for broker in awaiting(world.state))
    return not is_shrinking and not unnoticed(world) and all(heard)


def _event(follower: BrokerId, fetch: FetchInFlight | None) -> Event:
    if fetch is None:
        return RequestSent(follower)
    if fetch.stage is FetchStage.REQUESTED:
        return RequestReceived(follower)
    return FetchCompleted(follower) if fetch.stage is FetchStage.PARKED else ResponseReceived(follower)


def _is_seen_by_its_follower_only(fetch: FetchInFlight | None) -> bool:
    """Return whether the next half-step neither reads what other links change nor changes what they read.

    An answer that the offset is out of range makes the follower ask for the leader's end.
    """
    if fetch is None:
        return True
    if fetch.stage is FetchStage.ANSWERED:
        return not (isinstance(fetch.answer, FetchAnswer) and fetch.answer.out_of_range)
    return fetch.stage is FetchStage.REQUESTED and fetch.kind is FetchKind.EPOCH_LOOKUP


def _may_be_idle(fetch: FetchInFlight | None) -> bool:
    return fetch is None or fetch.stage is FetchStage.PARKED


def _is_idle(world: World, follower: BrokerId) -> bool:
    """Return whether this follower's next round, taken alone, ends where it began."""
    after = world
    for _ in range(ROUND_HALF_STEPS):
        after = half_step(after, follower)
        if after == world:
            return True
    return False


def _at_rest(world: World) -> list[tuple[Event | None, World]]:
    """Return what happens at rest, such as writing the checkpoint files; nothing once that is done."""
    settled = world.settle()
    return [] if settled == world else [(None, settled)]
