"""Is a cluster's release recognised by what its brokers speak, and told with how sure that is?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.audit.release_seen import known_lines, release_seen
from conformance.line import line_named
from fault_injection.releases import RELEASES
from tests.conformance.audit.test_checks import good, spoken

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


def test_a_release_that_is_named_is_believed() -> None:
    seen = release_seen(good(), line_named("3.9.2/kraft"))
    assert seen.words == "Kafka 3.9.2/kraft, as named"


def test_brokers_that_differ_are_taken_for_the_oldest() -> None:
    cluster = good()
    older = replace(cluster.brokers[2], speaks=spoken("4.2.2/kraft"))
    seen = release_seen(replace(cluster, brokers=(*cluster.brokers[:2], older)))
    assert seen.words == "brokers of several releases, the oldest like Kafka 4.2.2/kraft"
