"""Is a cluster's release recognised by what its brokers speak, and told with how sure that is?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.audit.release_seen import known_lines, release_seen
from conformance.line import line_named
from fault_injection.releases import RELEASES
from tests.conformance.audit.made_clusters import good, spoken

if TYPE_CHECKING:
    from conformance.audit.cluster import ClusterSeen


def test_every_line_is_kept() -> None:
    lines = {f"{release.version}/{mode.value}" for release in RELEASES for mode in release.metadata_modes}
    assert set(known_lines()) == lines


@pytest.mark.parametrize("line", known_lines())
def test_a_line_is_recognised_alone(line: str) -> None:
    seen = release_seen(good(line))
    assert seen.alike == (line,)
    assert seen.line is not None
    assert seen.line.text == line


def newer() -> ClusterSeen:
    """A release after all that are known: a request more."""
    cluster = good()
    speaks = spoken("4.4.0/kraft")
    more = replace(speaks, requests={**speaks.requests, 999: (0, 0)})
    return replace(cluster, brokers=tuple(replace(one, speaks=more) for one in cluster.brokers))


def test_what_no_line_speaks_is_taken_for_the_newest_that_speaks_no_more() -> None:
    assert release_seen(newer()).alike == ("4.4.0/kraft",)


@pytest.mark.parametrize("named", ["4.4.0/kraft", "4.4/kraft"])
def test_a_release_that_is_named_is_believed(named: str) -> None:
    assert release_seen(good(), line_named(named)).words == "Kafka 4.4.0/kraft, as named"


def test_a_patch_that_is_named_speaks_as_its_line_does() -> None:
    assert release_seen(good("3.9.2/kraft"), line_named("3.9.0/kraft")).words == "Kafka 3.9.0/kraft, as named"


@pytest.mark.parametrize(("runs", "named"), [("4.4.0/kraft", "3.9.2/kraft"), ("3.9.2/zookeeper", "3.9.2/kraft")])
def test_a_release_that_is_named_and_speaks_otherwise_is_doubted(runs: str, named: str) -> None:
    seen = release_seen(good(runs), line_named(named))
    assert seen.words.startswith(f"Kafka {named}, as named, but its brokers speak like {runs}:")


def test_a_fork_may_be_named_as_any_release_that_speaks_no_more() -> None:
    assert release_seen(newer(), line_named("4.3.1/kraft")).words == "Kafka 4.3.1/kraft, as named"
    assert release_seen(newer(), line_named("3.9.2/zookeeper")).otherwise == ("4.4.0/kraft",)


def test_brokers_of_several_releases_may_be_named_as_one_of_them() -> None:
    cluster = good()
    older = replace(cluster.brokers[2], speaks=spoken("4.2.2/kraft"))
    mixed = replace(cluster, brokers=(*cluster.brokers[:2], older))
    assert release_seen(mixed, line_named("4.2.2/kraft")).otherwise == ()
    assert release_seen(mixed, line_named("4.3.1/kraft")).otherwise == ("4.4.0/kraft", "4.2.2/kraft")


def test_brokers_that_differ_are_taken_for_the_oldest() -> None:
    cluster = good()
    older = replace(cluster.brokers[2], speaks=spoken("4.2.2/kraft"))
    seen = release_seen(replace(cluster, brokers=(*cluster.brokers[:2], older)))
    assert seen.words == "brokers of several releases, the oldest like Kafka 4.2.2/kraft"
