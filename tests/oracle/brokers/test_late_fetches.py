"""May a fetch reach its leader after its sender has died, in the explorer's model too, and can brokers be led there?"""

from __future__ import annotations

from functools import cache

import pytest

from oracle.brokers.edge_schedule import cover_schedules
from oracle.brokers.edges import RELEASE_LATE, EdgeGraph
from oracle.brokers.held_graph import HeldGraph
from oracle.brokers.path_to_schedule import to_steps
from oracle.brokers.questions import SearchBounds
from oracle.brokers.visited import require_visits
from oracle.events import LateFetchReceived
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill
from oracle.steps.frames import ReleaseHold
from oracle.vocabulary import BrokerId, MetadataMode, PointName

SENT, KILLED, STARTED = "m0 is sent with acks=all", "broker 2 is killed", "broker 2 starts"
ANSWERED = "the answer reaches broker 2"
LATE = "the last request of broker 2 before its end reaches its leader late"
LINES = [("0.10.2.2", "zookeeper"), ("3.6.2", "kraft"), ("4.4.0", "kraft")]


@cache
def held(version: str, metadata: str) -> HeldGraph:
    bounds = SearchBounds(replicas=2, records=1, epochs=1, late_fetches=True)
    return HeldGraph(EdgeGraph(rules_for(version, MetadataMode(metadata)), bounds))


def along(graph: EdgeGraph, *words: str) -> int:
    """Return the state at the end of a path."""
    state = 0
    for word in words:
        state = next(edge.target for edge in graph.edges_from(state) if str(edge.action) == word)
    return state


def words_from(graph: EdgeGraph, state: int) -> set[str]:
    return {str(edge.action) for edge in graph.edges_from(state)}


def test_a_fetch_on_its_way_outlives_its_sender_once() -> None:
    graph = held("4.4.0", "kraft").edges
    assert LATE not in words_from(graph, along(graph, SENT, ANSWERED))
    dead = along(graph, SENT, ANSWERED, KILLED)
    (edge,) = (one for one in graph.edges_from(dead) if str(one.action) == LATE)
    assert (edge.step, edge.point) == (RELEASE_LATE, PointName.FETCH_REQUEST)
    assert not graph.states[edge.target].late
    assert not any(state.late for state in EdgeGraph(graph.model.rules, SearchBounds(replicas=2, records=1)).states)


def test_a_fetch_that_its_leader_has_received_does_not() -> None:
    graph = held("4.4.0", "kraft").edges
    assert LATE not in words_from(graph, along(graph, SENT, KILLED)), "it stood with its answer"
    assert LATE not in words_from(graph, along(graph, KILLED)), "it was parked"


def test_it_goes_with_its_leader_and_is_of_an_earlier_start_once_its_sender_is_back() -> None:
    graph = held("4.4.0", "kraft").edges
    back = along(graph, SENT, ANSWERED, KILLED, STARTED)
    (late,) = graph.states[back].late
    assert (late.follower, late.is_of_earlier_start) == (2, True)
    assert not graph.states[along(graph, SENT, ANSWERED, KILLED, STARTED, "broker 1 is killed")].late
    assert KILLED not in words_from(graph, back), "one late fetch at a time"
    assert KILLED in words_from(graph, along(graph, SENT, ANSWERED, KILLED, STARTED, LATE))


def test_a_leader_that_counts_a_fetch_of_an_earlier_start_is_corrected_by_the_next_one() -> None:
    """Up to 3.6 (KAFKA-15221): the follower's parked fetch is answered, and its next one tells of this start."""
    path = (SENT, ANSWERED, KILLED, STARTED, "the request of broker 2 reaches its leader", ANSWERED)
    graph = held("3.6.2", "kraft").edges
    assert ANSWERED in words_from(graph, along(graph, *path, "the request of broker 2 reaches its leader", LATE))
    newer = held("4.4.0", "kraft").edges
    assert ANSWERED not in words_from(newer, along(newer, *path, "the request of broker 2 reaches its leader", LATE))


@pytest.mark.parametrize(("version", "metadata"), LINES)
def test_brokers_are_led_along_edges_with_a_late_fetch(version: str, metadata: str) -> None:
    graph = held(version, metadata)
    late = [edge.id for edge in graph.edges.edges if edge.step == RELEASE_LATE]
    possible = {edge for edge in late if edge not in graph.why_not}
    written = list(cover_schedules(graph, asked=late))
    found = {visit.edge.id for one in written for visit in require_visits(one.schedule, graph.edges) if visit.is_held}
    assert len(possible) > 10
    assert possible <= found


def test_a_path_of_the_explorer_becomes_steps() -> None:
    graph = held("4.4.0", "kraft").edges
    path, state = [], 0
    for word in (SENT, ANSWERED, KILLED, STARTED, LATE):
        edge = next(edge for edge in graph.edges_from(state) if str(edge.action) == word)
        path.append((edge.action, graph.states[edge.target]))
        state = edge.target
    assert isinstance(path[-1][0].cause, LateFetchReceived)
    steps = to_steps(path, graph.model.empty_schedule(), graph.model.rules)
    assert steps.index(Kill(BrokerId(2))) < steps.index(ReleaseHold("fetch of 2 from 1", late=True))
