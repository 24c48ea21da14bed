"""Which edges does a line's model have, and are they known by the same ids everywhere?"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from oracle.brokers.edges import EdgeGraph, state_text, text
from oracle.brokers.model import BrokerAction
from oracle.brokers.questions import SearchBounds
from oracle.events import BrokerDied
from oracle.log import EpochEnd
from oracle.rules.by_version import rules_for
from oracle.vocabulary import BrokerId, LeaderEpoch, MetadataMode, Offset, PointName
from tests.oracle.brokers.held import KRAFT, LINES, ZOOKEEPER, edge_along, edges
from tests.project.documents import ROOT

if TYPE_CHECKING:
    from oracle.brokers.edges import BrokerEdge

SENT, ANSWERED = "m0 is sent with acks=all", "the answer reaches broker 2"
REQUESTED = "the request of broker 2 reaches its leader"
SIZES = {"0.10.2.2": (310, 438, 759), "2.8.2": (299, 429, 746), "3.9.2": (310, 361, 765), "4.4.0": (324, 390, 802)}
OTHER_PROCESS = """
from oracle.brokers.edges import EdgeGraph
from oracle.brokers.questions import SearchBounds
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode
graph = EdgeGraph(rules_for("4.4.0", MetadataMode.KRAFT), SearchBounds(replicas=2, records=1, epochs=2))
print(*(edge.id for edge in graph.edges))
"""


def label(edge: BrokerEdge) -> tuple[str, PointName | None]:
    return edge.step, edge.point


@pytest.mark.parametrize(("version", "metadata"), LINES)
def test_a_line_has_so_many_states_within_and_at_its_bounds_and_so_many_edges(
    version: str, metadata: MetadataMode
) -> None:
    graph = edges(version, metadata)
    assert (graph.inner, len(graph.states), len(graph.edges)) == SIZES[version]


@pytest.mark.parametrize(("version", "metadata"), LINES)
def test_states_have_one_text_exactly_if_they_have_one_key(version: str, metadata: MetadataMode) -> None:
    graph = edges(version, metadata)
    assert len(set(map(state_text, graph.states))) == len(graph.states)
    assert [graph.number(state) for state in graph.states] == list(range(len(graph.states)))


def test_ids_are_the_same_in_every_process() -> None:
    command, environment = [sys.executable, "-c", OTHER_PROCESS], {"PYTHONHASHSEED": "12345", "PYTHONPATH": str(ROOT)}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
    assert told == [edge.id for edge in edges("4.4.0", KRAFT).edges]


def test_an_edge_has_one_id_in_releases_whose_states_are_equal() -> None:
    kill = "broker 2 is killed"
    assert edge_along(edges("3.9.2", KRAFT), kill).id == edge_along(edges("4.4.0", KRAFT), kill).id
    assert edge_along(edges("2.8.2"), kill, kill.replace("2", "1")).id != edge_along(edges("2.8.2"), kill).id


def test_edges_are_told_by_step_and_by_the_point_where_a_frame_passes() -> None:
    graph = edges("2.8.2")
    assert label(edge_along(graph, SENT)) == ("produce", None)
    assert label(edge_along(graph, SENT, ANSWERED)) == ("release", PointName.FETCH_RESPONSE)
    assert label(edge_along(graph, SENT, ANSWERED, REQUESTED)) == ("release", PointName.FETCH_REQUEST)
    assert label(edge_along(graph, "broker 2 is killed", "broker 2 starts")) == ("start", None)


def test_joins_and_power_failures_have_their_step_too() -> None:
    bounds = SearchBounds(replicas=2, records=1, epochs=1, power_failure=True, late_joins=True)
    graph = EdgeGraph(rules_for("3.9.2", KRAFT), bounds)
    failure = "broker 2 is killed, the disk of broker 2 loses what is at offset 0 and above"
    assert label(edge_along(graph, SENT, ANSWERED, failure)) == ("lose_tail", None)
    path = ("broker 2 is killed", "broker 2 starts", REQUESTED, "broker 2 joins the ISR")
    assert label(edge_along(graph, *path)) == ("release", PointName.ALTER_PARTITION_REQUEST)


def test_an_edge_names_the_rules_behind_what_it_changes() -> None:
    graph = edges("0.10.2.2")
    assert graph.rules_of(edge_along(graph, "broker 2 is killed")) == ("zookeeper-controller-empties-isr",)
    assert graph.rules_of(edge_along(graph, SENT, ANSWERED)) == ("follower-appends-what-it-fetched",)
    assert "truncate-to-high-watermark" in {rule for edge in graph.edges for rule in graph.rules_of(edge)}


def test_what_an_edge_changes_does_not_depend_on_another_way_to_its_target() -> None:
    """A state keeps what was cut on the way that was found first; a disk that lost its log may lead there as well."""
    graph = EdgeGraph(rules_for("0.10.2.2", ZOOKEEPER), SearchBounds(replicas=2, records=1, power_failure=True))
    named = {edge.step: set[str]() for edge in graph.edges}
    for edge in graph.edges:
        named[edge.step].update(graph.rules_of(edge))
    assert "truncate-to-high-watermark" in named["start"]
    assert "truncate-to-high-watermark" not in named["lose_tail"]


def test_nothing_is_searched_from_a_state_beyond_the_bounds() -> None:
    graph = edges("2.8.2")
    beyond = next(edge.target for edge in graph.edges if not graph.edges_from(edge.target))
    kill = BrokerAction((BrokerDied(BrokerId(1), graceful=False),))
    assert graph.edge(beyond, kill) is None
    assert not graph.model.is_within_bounds(graph.states[beyond])


def test_a_state_of_another_partition_is_none_of_the_graph() -> None:
    (state,) = EdgeGraph(rules_for("2.8.2", ZOOKEEPER), SearchBounds(replicas=3, epochs=0)).model.initial_states()
    assert edges("2.8.2").number(state) is None


def test_text_depends_on_a_value_alone() -> None:
    assert text(frozenset({"m1", "m0", "m2"})) == text(frozenset({"m2", "m0", "m1"})) == "{'m0','m1','m2'}"
    end = EpochEnd(LeaderEpoch(1), Offset(2))
    assert text((PointName.FETCH_REQUEST, end, None)) == "(fetch_request,EpochEnd(leader_epoch=1,end_offset=2),None)"
