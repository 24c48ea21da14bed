"""Which edges of the model does a schedule visit? It is followed with the model, from rest to rest.

Brokers at rest are in a state of the explorer's model if that has a state with the same key: then everything that a
later event reads is equal, but the names of labels and brokers must be those of the model (m0, m1; 1, 2). What is
never a state of it: a broker that has not heard a decision, a paused broker, a cut link; a fetch that was caught from
an idle link; a record that was refused, as the model sends none; states that a race leaves open.

An edge is held on both sides if one checkpoint probes its source, the next one its target, and its action is all that
the model does between. The edges of what happened between two rests otherwise were passed on the wire only: in one of
the orders that lead there, if links race.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.brokers.edge_schedule import claims
from oracle.brokers.rests import REFUSALS, RestPoint, modelled_state, rests_after
from oracle.events import (
    BrokerDied,
    BrokerRemoved,
    BrokerReturned,
    JoinCommitted,
    JoinRefused,
    LateFetchReceived,
    LogTailLost,
    RecordSent,
    RequestReceived,
    ResponseReceived,
)
from oracle.predict import initial_world
from oracle.steps.step import ScheduleError
from oracle.steps.waits import Checkpoint
from oracle.world import Obstacles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.brokers.edges import BrokerEdge, EdgeGraph
    from oracle.brokers.rests import Happening
    from oracle.events import Event
    from oracle.schedule import Schedule

_CAUSES = (RecordSent, RequestReceived, ResponseReceived, BrokerDied, BrokerReturned, LogTailLost)
_JOINS = (JoinCommitted, JoinRefused)


class OtherPartitionError(ValueError):
    """The schedule's partition is not the one of the model: its states are others."""


class EdgeNotVisitedError(ValueError):
    """A schedule does not visit an edge that it is written for."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One time that a schedule takes an edge.

    Attributes:
        before: index of the step at whose end brokers rest in the source, -1 for the partition as created; of a
            passed edge the last such step.
        after: index of the step at whose end they rest in the target, or beyond it.
        is_held: both are checkpoints, and nothing else happens between.
    """

    edge: BrokerEdge
    before: int
    after: int
    is_held: bool


def visits(schedule: Schedule, graph: EdgeGraph) -> tuple[Visit, ...]:
    """Return the edges that a schedule visits, in the order of its steps.

    Raises:
        OtherPartitionError: its replicas or settings are not those of the model.
        ScheduleError: a step is refused, as ``predict`` would refuse it; names the step.
    """
    _check_partition(schedule, graph)
    rests: tuple[RestPoint, ...] = (RestPoint(initial_world(schedule, graph.model.rules, schedule.brokers)),)
    following = _Following(graph, rests[0])
    for index, step in enumerate(schedule.steps):
        try:
            rests = rests_after(rests, step)
        except REFUSALS as error:
            raise ScheduleError(f"{str(error).rstrip(',')} under the rules of {_line(graph)}", step=index) from error
        if len(rests) == 1:
            following.rest(index, rests[0], is_probed=isinstance(step, Checkpoint))
    return following.found()


def require_visits(schedule: Schedule, graph: EdgeGraph) -> tuple[Visit, ...]:
    """Return what a schedule visits if it holds every edge on both sides that it says it is written for.

    Raises:
        EdgeNotVisitedError: names the edges that it does not hold, or the step that is refused.
        OtherPartitionError: as ``visits``.
    """
    try:
        found = visits(schedule, graph)
    except ScheduleError as error:
        raise EdgeNotVisitedError(f"{schedule.id} is refused, write it anew: {error}") from error
    held = {visit.edge.id for visit in found if visit.is_held}
    missed = [claim for claim in claims(schedule) if claim not in held]
    if missed:
        message = (
            f"{schedule.id} is written for the edges {', '.join(missed)}, and under the rules of {_line(graph)} "
            f"it does not hold both sides of them: write it anew"
        )
        raise EdgeNotVisitedError(message)
    return found


def _line(graph: EdgeGraph) -> str:
    rules = graph.model.rules
    return f"Kafka {rules.version} ({rules.metadata.value})"


def _check_partition(schedule: Schedule, graph: EdgeGraph) -> None:
    model = graph.model.empty_schedule()
    for name in ("brokers", "settings", "timing", "checkpointing"):
        own, wanted = getattr(schedule, name), getattr(model, name)
        if own != wanted:
            raise OtherPartitionError(f"{schedule.id}: its {name} are {own}, those of the model {wanted}")


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A rest in a state of the model.

    Attributes:
        index: of the step that ended there.
        state: number of the state.
        past: how much had happened before.
    """

    index: int
    state: int
    past: int


class _Following:
    """The visits so far, and the rests from which the next ones start."""

    def __init__(self, graph: EdgeGraph, created: RestPoint) -> None:
        self._graph = graph
        bounds = graph.model.bounds
        late = (LateFetchReceived,) if bounds.late_fetches else ()
        self._causes = (*_CAUSES, *(_JOINS if bounds.late_joins else ()), *late)
        self._visits: list[Visit] = []
        self._passed: list[Visit] = []  # since the last checkpoint
        self._probed: _Anchor | None = None
        start = graph.number(created.world.state)
        assert start is not None, "the partition as created is a state of the model"
        self._last = _Anchor(-1, start, 0)

    def rest(self, index: int, rest: RestPoint, *, is_probed: bool) -> None:
        """Note what was visited since the last rest, unless this one is no state of the model."""
        state = self._graph.number(modelled_state(rest.world, self._graph.model.bounds))
        if state is None or rest.world.obstacles != Obstacles():
            return
        now = _Anchor(index, state, len(rest.past))
        held = self._taken(self._probed, now, rest) if is_probed else ()
        if self._probed is not None and len(held) == 1:
            self._passed = [Visit(held[0], self._probed.index, index, is_held=True)]
        else:
            passed = self._taken(self._last, now, rest)
            self._passed += [Visit(edge, self._last.index, index, is_held=False) for edge in passed]
        self._last = now
        if is_probed:
            self._visits += self._passed
            self._probed, self._passed = now, []

    def found(self) -> tuple[Visit, ...]:
        """Return every visit so far."""
        return (*self._visits, *self._passed)

    def _taken(self, since: _Anchor | None, now: _Anchor, rest: RestPoint) -> tuple[BrokerEdge, ...]:
        """Return the edges that lead from one rest to another; none if the model does not come there so.

        A frame that the model does not have on its link, such as an idle link's or one of an earlier epoch, is passed
        over if there is one edge: it goes from the source to the target all the same.
        """
        if since is None:
            return ()
        state, edges, others = since.state, [], 0
        for action in self._actions(rest.past[since.past :]):
            if self._is_another_frame(state, action[0]):
                others += 1
                continue
            edge = self._edge(state, tuple(happening.event for happening in action))
            if edge is None:
                return ()
            state = edge.target
            edges.append(edge)
        return tuple(edges) if state == now.state and (len(edges) == 1 or not others) else ()

    def _edge(self, state: int, action: tuple[Event | None, ...]) -> BrokerEdge | None:
        leaving = self._graph.edges_from(state)
        return next((edge for edge in leaving if _without_removal(edge.action.events) == action), None)

    def _is_another_frame(self, state: int, happening: Happening) -> bool:
        """Return whether a link has moved another frame than the one which it has in a state of the model."""
        match happening.event:
            case RequestReceived(follower) | ResponseReceived(follower):
                return self._graph.states[state].replica(follower).fetch != happening.frame
            case _:
                return False

    def _actions(self, past: Sequence[Happening]) -> Iterator[tuple[Happening, ...]]:
        """Yield the causes of what has happened; a broker's end and what its disk forgets then are one."""
        causes = [one for one in past if one.event is None or isinstance(one.event, self._causes)]
        while causes:
            followed = (isinstance(one.event, LogTailLost) for one in causes[1:2])
            size = 1 + (isinstance(causes[0].event, BrokerDied) and any(followed))
            yield tuple(causes[:size])
            causes = causes[size:]


def _without_removal(events: Sequence[Event]) -> tuple[Event, ...]:
    return tuple(event for event in events if not isinstance(event, BrokerRemoved))
