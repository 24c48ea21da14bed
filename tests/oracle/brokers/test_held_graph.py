"""Where can brokers be led that are held, how by steps, and why not everywhere?"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from oracle.brokers.held_graph import HeldGraph, WhyNotHeld, reached
from oracle.brokers.held_moves import HeldMove, catches, moves_beyond, moves_of, steps_of
from oracle.brokers.model import BrokerAction
from oracle.brokers.path_to_schedule import HoldNames
from oracle.brokers.questions import SearchBounds
from oracle.events import BrokerReturned
from oracle.steps.brokers import Kill, Start
from oracle.steps.frames import Hold, ReleaseHold
from oracle.steps.produce import Produce
from oracle.vocabulary import Acks, BrokerId, Expectation, Label, Offset, PointName
from oracle.world import World
from tests.oracle.brokers.held import KRAFT, LINES, edge_along, held

if TYPE_CHECKING:
    from oracle.brokers.edges import BrokerEdge
    from oracle.steps.step import Step
    from oracle.vocabulary import MetadataMode

ONE, TWO, THREE = map(BrokerId, (1, 2, 3))
SENT, ANSWERED = "m0 is sent with acks=all", "the answer reaches broker 2"
REQUESTED = "the request of broker 2 reaches its leader"
BACK = ("broker 2 is killed", "broker 2 starts")
UNHELD = {"0.10.2.2": 28, "2.8.2": 28, "3.9.2": 20, "4.4.0": 20}


def world_of(graph: HeldGraph, number: int) -> World:
    """Return the world of held brokers that is in a state of the model."""
    return next(world for world in graph.worlds if graph.edges.number(world.state) == number)


def move_of(graph: HeldGraph, edge: BrokerEdge) -> HeldMove:
    return graph.arcs[graph.arcs_by_edge()[edge.id]].move


def steps_along(graph: HeldGraph, *path: str) -> tuple[Step, ...]:
    """Return the steps of the last edge of a path."""
    edge = edge_along(graph.edges, *path)
    return steps_of(move_of(graph, edge), world_of(graph, edge.source), HoldNames())


def test_a_starting_follower_is_held_at_its_first_request() -> None:
    first = Hold("fetch of 2 from 1", PointName.FETCH_REQUEST, TWO, ONE, Offset(0))
    assert steps_along(held("2.8.2"), *BACK) == (first, Start(TWO))


def test_a_request_goes_on_into_the_hold_of_its_answer() -> None:
    graph, path = held("2.8.2"), (*BACK, SENT)
    answer = Hold("answer to 2 from 1", PointName.FETCH_RESPONSE, TWO, ONE, Offset(0))
    steps = steps_along(graph, *path, REQUESTED)
    assert steps[0] == answer
    assert isinstance(steps[1], ReleaseHold)
    following = Hold("fetch of 2 from 1", PointName.FETCH_REQUEST, TWO, ONE, Offset(1))
    assert steps_along(graph, *path, REQUESTED, ANSWERED)[0] == following


def test_a_request_that_the_leader_parks_goes_into_no_hold() -> None:
    (only,) = steps_along(held("2.8.2"), *BACK, REQUESTED)
    assert isinstance(only, ReleaseHold)


def test_steps_beside_a_held_link_need_no_hold() -> None:
    produce = Produce((Label("m0"),), Acks.ALL, Expectation.ANY)
    assert steps_along(held("2.8.2"), *BACK, SENT) == (produce,)
    assert steps_along(held("2.8.2"), *BACK, "broker 1 is killed") == (Kill(ONE),)


def test_a_leader_that_starts_hears_last_where_its_follower_may_ask_it_too_early() -> None:
    graph = held("2.8.2")
    arc = next(arc for arc in graph.arcs if arc.edge is not None and arc.move.until_after)
    decision, start, ahead, release = steps_of(arc.move, graph.worlds[arc.source], HoldNames())
    assert decision == Hold("decision for 2", PointName.LEADER_AND_ISR, broker=TWO)
    assert (start, release) == (Start(TWO), ReleaseHold("decision for 2"))
    assert isinstance(ahead, Hold)
    model = graph.edges.model
    at_once, _ = moves_of(graph.worlds[arc.source], arc.move.actions[0], model)
    assert reached(graph.worlds[arc.source], at_once, model) is WhyNotHeld.RACE


def test_in_kraft_mode_brokers_need_no_hold_at_the_controller() -> None:
    graph = held("4.4.0", KRAFT)
    assert not any(arc.move.until_after for arc in graph.arcs)
    (only,) = moves_of(graph.worlds[0], edge_along(graph.edges, "broker 2 is killed").action, graph.edges.model)
    assert str(only) == "broker 2 is killed"


def test_the_controllers_answer_to_a_late_join_is_held() -> None:
    bounds = SearchBounds(replicas=2, records=1, epochs=1, late_joins=True)
    graph = held("3.9.2", KRAFT, bounds)
    wish = Hold("wish of 1", PointName.ALTER_PARTITION_REQUEST, broker=ONE)
    steps = steps_along(graph, *BACK, REQUESTED)
    assert steps[0] == wish
    (release,) = steps_along(graph, *BACK, REQUESTED, "broker 2 joins the ISR")
    assert isinstance(release, ReleaseHold)
    assert release.name.startswith("wish of 1")


def test_what_an_append_has_answered_is_not_held_but_the_request_after_it_is() -> None:
    graph = held("2.8.2")
    model, created = graph.edges.model, graph.worlds[0]
    sent = edge_along(graph.edges, SENT)
    assert graph.why_not[sent.id] is WhyNotHeld.PARKED_ANSWER
    assert graph.why_not[edge_along(graph.edges, SENT, ANSWERED).id] is WhyNotHeld.NEVER_THERE
    (plain,) = moves_of(created, sent.action, model)
    assert reached(created, plain, model) is WhyNotHeld.ELSEWHERE
    (beyond,) = moves_beyond(created, sent.action, model)
    assert str(beyond) == f"{SENT}, {ANSWERED}"
    assert steps_of(beyond, created, HoldNames())[0] == Hold(
        "fetch of 2 from 1", PointName.FETCH_REQUEST, TWO, ONE, Offset(1)
    )
    assert moves_beyond(created, edge_along(graph.edges, "broker 2 is killed").action, model) == ()


def test_an_idle_link_is_caught_and_leads_where_the_model_has_no_state() -> None:
    graph = held("2.8.2")
    (catch,) = catches(graph.worlds[0])
    assert str(catch) == "the next fetch of broker 2 is caught"
    caught = reached(graph.worlds[0], catch, graph.edges.model)
    assert isinstance(caught, World)
    assert graph.edges.number(caught.state) is None
    assert not list(catches(caught))


def test_a_move_that_no_rule_allows_is_refused() -> None:
    graph = held("2.8.2")
    created = graph.worlds[0]
    start = HeldMove((BrokerAction((BrokerReturned(TWO, clean=True),)),), created.state, ())
    assert reached(created, start, graph.edges.model) is WhyNotHeld.REFUSED


def test_a_move_that_ends_in_another_state_or_arms_in_vain_leads_elsewhere() -> None:
    graph = held("2.8.2")
    sent = edge_along(graph.edges, *BACK, SENT)
    world, move = world_of(graph, sent.source), move_of(graph, sent)
    assert isinstance(reached(world, move, graph.edges.model), World)
    in_vain = replace(move, ahead=(Hold("", PointName.FETCH_RESPONSE, TWO, ONE),))
    assert reached(world, in_vain, graph.edges.model) is WhyNotHeld.ELSEWHERE
    other = replace(move, target=graph.edges.states[0])
    assert reached(world, other, graph.edges.model) is WhyNotHeld.ELSEWHERE


@pytest.mark.parametrize(("version", "metadata"), LINES)
def test_all_but_a_few_edges_are_held_on_both_sides(version: str, metadata: MetadataMode) -> None:
    graph = held(version, metadata)
    assert len(graph.arcs_by_edge()) + len(graph.why_not) == len(graph.edges.edges)
    assert len(graph.why_not) == UNHELD[version]


@pytest.mark.parametrize(("version", "metadata"), LINES)
def test_what_is_not_held_has_a_parked_fetch_answered_or_lies_right_behind(
    version: str, metadata: MetadataMode
) -> None:
    graph = held(version, metadata)
    unheld = [edge for edge in graph.edges.edges if edge.id in graph.why_not]
    answering = [edge for edge in unheld if graph.why_not[edge.id] is WhyNotHeld.PARKED_ANSWER]
    behind = {edge.target for edge in answering}
    assert {edge.step for edge in answering} == {"produce"}
    assert all(edge.source in behind for edge in unheld if edge not in answering)
    assert Counter(graph.why_not.values())[WhyNotHeld.NEVER_THERE] == 3 * len(answering)


@pytest.mark.parametrize(("version", "metadata"), LINES)
def test_an_edge_that_is_held_leads_where_the_model_foresees(version: str, metadata: MetadataMode) -> None:
    graph = held(version, metadata)
    for arc in graph.arcs:
        if arc.edge is not None:
            ends = tuple(graph.edges.number(graph.worlds[number].state) for number in (arc.source, arc.target))
            assert ends == (arc.edge.source, arc.edge.target)


def test_an_idle_follower_of_three_has_its_fetch_of_the_old_epoch_refused_and_the_next_one_held() -> None:
    bounds = SearchBounds(replicas=3, records=0, epochs=1)
    graph = held("2.8.2", bounds=bounds)
    assert not graph.why_not
    at = {"point": PointName.FETCH_REQUEST, "follower": THREE, "leader": ONE, "fetch_offset": Offset(0)}
    old, new = Hold("fetch of 3 from 1", **at), Hold("fetch of 3 from 1, 2", **at)
    assert steps_along(graph, "broker 2 is killed") == (old, Kill(TWO), new, ReleaseHold(old.name))


def test_where_leaders_fence_no_fetch_an_idle_follower_of_three_is_not_held_in_the_new_epoch() -> None:
    graph = held("0.10.2.2", bounds=SearchBounds(replicas=3, records=0, epochs=1))
    assert WhyNotHeld.ELSEWHERE in graph.why_not.values()
