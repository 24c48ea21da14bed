"""Which graphs do the tests of coverage look at? Of four lines, each found once a process."""

from __future__ import annotations

from functools import cache

from oracle.brokers.edge_schedule import CoverSchedule, cover_schedules
from oracle.brokers.edges import BrokerEdge, EdgeGraph
from oracle.brokers.held_graph import HeldGraph
from oracle.brokers.questions import SearchBounds
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT
LINES = (("0.10.2.2", ZOOKEEPER), ("2.8.2", ZOOKEEPER), ("3.9.2", KRAFT), ("4.4.0", KRAFT))
SMALL = SearchBounds(replicas=2, records=1, epochs=2)


@cache
def edges(version: str, metadata: MetadataMode = ZOOKEEPER, bounds: SearchBounds = SMALL) -> EdgeGraph:
    return EdgeGraph(rules_for(version, metadata), bounds)


@cache
def held(version: str, metadata: MetadataMode = ZOOKEEPER, bounds: SearchBounds = SMALL) -> HeldGraph:
    return HeldGraph(edges(version, metadata, bounds))


@cache
def written(version: str, metadata: MetadataMode = ZOOKEEPER) -> tuple[CoverSchedule, ...]:
    return tuple(cover_schedules(held(version, metadata)))


def edge_along(graph: EdgeGraph, *words: str) -> BrokerEdge:
    """Return the last edge of a path from the partition as created, given in words."""
    at, found = 0, None
    for step in words:
        possible = {str(edge.action): edge for edge in graph.edges_from(at)}
        assert step in possible, f"{step} is not among {list(possible)}"
        found = possible[step]
        at = found.target
    assert found is not None
    return found
