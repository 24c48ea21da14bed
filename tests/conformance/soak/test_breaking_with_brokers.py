"""Does a timeline of faults do what it says to brokers under load, and is everything healed afterwards?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.record.soak_faults import FaultKind, FaultTimeline, PlannedFault
from conformance.record.timeline import Event, read_timeline
from conformance.soak.breaking import Breaker
from conformance.soak.brokers import at_rest
from fault_injection.waiting import until
from tests.conformance.soak.soaked_topic import PARTITIONS, Load, Soaked, soaked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.record.timeline import TimelineMark

pytestmark = [pytest.mark.broker, pytest.mark.timeout(400)]
FORGETFUL = "0.10.2.2"


@pytest.fixture(scope="module", params=["4.4.0", FORGETFUL])
def version(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


@pytest.fixture(scope="module")
def brokers(version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Soaked]:
    with soaked(version, tmp_path_factory.mktemp("soaked")) as cluster:
        yield cluster


def carried_out(brokers: Soaked, name: str, *faults: PlannedFault) -> tuple[list[TimelineMark], set[int], Breaker]:
    """Carry out faults under load; return marks, acknowledged records that are lost, and who broke the brokers."""
    topic = brokers.topic(name)
    with brokers.recorded(name) as (run, recorder), Load(brokers, topic) as load:
        with Breaker(
            brokers.cluster, brokers.gate, FaultTimeline(faults), (topic, PARTITIONS), recorder, print
        ) as breaker:
            until(lambda: not breaker.left_out or breaker.failure, deadline_s=300, what="all faults to be done")
        load.stop()
        ends = at_rest(brokers.cluster, topic, PARTITIONS)
        lost = load.acknowledged - set(brokers.read(topic, ends))
    assert load.acknowledged
    return read_timeline(run), lost, breaker


def test_second_leader(brokers: Soaked, version: str) -> None:
    faults = [PlannedFault(1.0, FaultKind.SECOND_LEADER, 1.0, partition=4)]
    marks, lost, breaker = carried_out(brokers, "second-leader", *faults)
    assert breaker.said == []
    assert bool(lost) is (version == FORGETFUL), sorted(lost)[:20]
    print(len(lost), [f"{mark.event} {mark.text}" for mark in marks])
