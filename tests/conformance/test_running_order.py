"""Do entries that can share a cluster come one after the other, without anything lost or turned round?"""

from __future__ import annotations

from itertools import groupby

from conformance.catalogue.scenario import Scenario
from conformance.registry import CATALOGUE, SCENARIOS
from conformance.session import in_running_order


def test_nothing_is_lost_and_nothing_comes_twice() -> None:
    assert sorted(entry.name for entry in in_running_order(CATALOGUE)) == sorted(entry.name for entry in CATALOGUE)


def test_each_timing_of_a_cluster_comes_once() -> None:
    ordered = [entry for entry in in_running_order(SCENARIOS) if isinstance(entry, Scenario)]
    clusters = [
        key
        for key, _ in groupby(
            (max(3, *e.schedule.brokers), e.schedule.timing, e.schedule.checkpointing, e.schedule.fetch_wait_max_ms)
            for e in ordered
        )
    ]
    given = [key for key, _ in groupby((s.schedule.timing, s.schedule.checkpointing) for s in SCENARIOS)]
    assert len(clusters) < len(given)


def test_entries_of_one_cluster_stay_in_the_order_given() -> None:
    alike = [s for s in SCENARIOS if s.name.startswith("EL-03/acks=1") and s.name.endswith("replicas=2")]
    assert list(in_running_order(alike)) == alike
    assert list(in_running_order(alike[::-1])) == alike[::-1]
