"""Does a timeline of faults do what it says to brokers under load, and is everything healed afterwards?"""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from conformance.record.soak_faults import CutBy, FaultKind, FaultTimeline, HeldFrame, PlannedFault
from conformance.record.timeline import Event, read_timeline
from conformance.soak import harming
from conformance.soak.breaking import Breaker
from conformance.soak.rest import at_rest
from fault_injection.cluster.backend import NodeDiedError
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.health import problems
from fault_injection.waiting import DeadlineExceededError, until
from fault_injection.wire.gate_events import STANDING
from tests.conformance.soak.soaked_topic import BROKERS, PARTITIONS, Load, Soaked, soaked
from tests.fault_injection.cluster.conftest import new_docker_backend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.record.directory import RunDirectory
    from conformance.record.timeline import TimelineMark

pytestmark = [pytest.mark.broker, pytest.mark.timeout(400)]
FORGETFUL = "0.10.2.2"
"""Before KIP-101: an acknowledged record can be lost where only clean elections happen."""
DOWN = (Event.BROKER_KILLED, Event.BROKER_STOPPED)
PAIRS = {
    Event.BROKER_STARTED: DOWN,
    Event.BROKER_RESUMED: (Event.BROKER_PAUSED,),
    Event.BROKER_REJOINED: (Event.BROKER_ISOLATED,),
    Event.LINK_HEALED: (Event.LINK_CUT,),
}
"""What takes back what."""
_K = FaultKind
SHORT = (
    PlannedFault(0.5, _K.KILL, 1.0, broker=2),
    PlannedFault(1.0, _K.FREEZE, 1.0, partition=3),
    PlannedFault(1.0, _K.HOLD, 0.5, partition=0, frame=HeldFrame.ANSWER),
    PlannedFault(1.0, _K.CUT, 1.0, follower=1, leader=3, by=CutBy.RESET),
    PlannedFault(1.0, _K.ELECTION),
)
OTHERS = (
    PlannedFault(0.5, _K.STOP, 1.0, broker=1),
    PlannedFault(1.0, _K.ISOLATE, 4.0, broker=3),
    PlannedFault(1.0, _K.FREEZE, 4.0, broker=1),
    PlannedFault(1.0, _K.CUT, 2.0, partition=7),
    PlannedFault(1.0, _K.HOLD, 2.0, partition=5),
    PlannedFault(1.0, _K.ELECTION),
    PlannedFault(1.0, _K.KILL_LEADERS, 1.0, partition=2),
    PlannedFault(1.0, _K.KILL_AHEAD, 0.5, partition=8),
    PlannedFault(1.0, _K.ROLL, 0.5),
)


CLUSTERS = [
    pytest.param((ProcessBackend, "4.4.0"), id="4.4.0"),
    pytest.param((ProcessBackend, FORGETFUL), id=FORGETFUL),
    pytest.param((new_docker_backend, "4.4.0"), id="docker-4.4.0", marks=pytest.mark.docker),
]


@pytest.fixture(scope="module", params=CLUSTERS)
def brokers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Soaked]:
    new_backend, version = request.param
    with soaked(version, new_backend, tmp_path_factory.mktemp("soaked")) as cluster:
        yield cluster


@contextmanager
def breaking(brokers: Soaked, name: str, *faults: PlannedFault) -> Iterator[tuple[Breaker, RunDirectory]]:
    """Carry out faults on the brokers while the block lasts; every broker is whole after it."""
    with brokers.recorded(name) as (run, recorder):
        timeline, topic = FaultTimeline(faults), (name, PARTITIONS)
        with Breaker(brokers.cluster, brokers.gate, timeline, topic, recorder, print) as breaker:
            yield breaker, run


def carried_out(
    brokers: Soaked, name: str, *faults: PlannedFault, acks: str = "all"
) -> tuple[list[TimelineMark], set[int]]:
    """Carry out all of some faults under load; return the marks, and the acknowledged records that are lost."""
    topic = brokers.topic(name)
    with Load(brokers, topic, acks) as load:
        with breaking(brokers, name, *faults) as (breaker, run):
            until(lambda: breaker.is_over, deadline_s=300, what="all faults to be done")
        load.stop()
    assert breaker.said == []
    assert breaker.done == breaker.begun == len(faults)
    assert load.acknowledged
    read = brokers.read(topic, at_rest(brokers.cluster, topic, PARTITIONS))
    marks = read_timeline(run)
    assert_whole(brokers, marks)
    assert numbered(marks, Event.FAULT_FIRED) == numbered(marks, Event.FAULT_ARMED)
    return marks, load.acknowledged - set(read)


def assert_whole(brokers: Soaked, marks: list[TimelineMark]) -> None:
    """Make sure that what was done is marked, in the order of time, and taken back, and that nothing stands."""
    assert [mark.t_ns for mark in marks] == sorted(mark.t_ns for mark in marks)
    standing: dict[tuple[Event, ...], set[tuple[str, int | None]]] = defaultdict(set)
    for mark in marks:
        for back, done in PAIRS.items():
            if mark.event in done:
                assert (mark.subject, mark.leader) not in standing[done]
                standing[done].add((mark.subject, mark.leader))
            if mark.event is back:
                standing[done].remove((mark.subject, mark.leader))
    assert not any(standing.values()), standing
    assert numbered(marks, Event.FAULT_HEALED) == numbered(marks, Event.FAULT_ARMED)
    assert not STANDING_HOLDS.intersection(brokers.gate.holds().values())
    assert brokers.gate.network.imposed() == {}
    assert not any(map(brokers.cluster.is_paused, BROKERS))


STANDING_HOLDS = frozenset(STANDING)


def numbered(marks: list[TimelineMark], event: Event) -> set[int | None]:
    return {mark.number for mark in marks if mark.event is event}


def times(marks: list[TimelineMark], event: Event) -> int:
    return sum(mark.event is event for mark in marks)


def test_faults_one_after_the_other_lose_nothing(brokers: Soaked) -> None:
    marks, lost = carried_out(brokers, "short", *SHORT)
    assert lost == set()
    assert times(marks, Event.BROKER_KILLED) == times(marks, Event.BROKER_PAUSED) == 1
    assert times(marks, Event.HOLD_CAUGHT) == times(marks, Event.HOLD_RELEASED) == 1
    assert times(marks, Event.LINK_CUT) == 2
    assert times(marks, Event.ELECTION_REQUESTED) == 1


def test_the_other_faults_lose_nothing_either(brokers: Soaked) -> None:
    marks, lost = carried_out(brokers, "others", *OTHERS)
    assert lost == set()
    assert times(marks, Event.BROKER_STOPPED) == 1 + len(BROKERS)
    assert times(marks, Event.BROKER_KILLED) == 3
    assert times(marks, Event.BROKER_STARTED) == 4 + len(BROKERS)
    assert times(marks, Event.BROKER_ISOLATED) == 1


def test_what_nobody_has_fetched_is_lost_with_acks_1(brokers: Soaked) -> None:
    _, lost = carried_out(brokers, "ahead", PlannedFault(1.0, _K.KILL_AHEAD, 1.0, partition=4), acks="1")
    assert lost


def test_who_dies_second_decides_on_old_releases(brokers: Soaked) -> None:
    marks, lost = carried_out(brokers, "second", PlannedFault(1.0, _K.SECOND_LEADER, 1.0, partition=4))
    assert times(marks, Event.BROKER_KILLED) == 2
    assert bool(lost) is (brokers.cluster.spec.release.version == FORGETFUL), sorted(lost)[:20]


@pytest.mark.parametrize(
    ("kind", "done"),
    [
        (_K.FREEZE, Event.BROKER_PAUSED),
        (_K.KILL, Event.BROKER_KILLED),
        (_K.CUT, Event.LINK_CUT),
        (_K.SECOND_LEADER, Event.BROKER_KILLED),
    ],
)
def test_whatever_ends_it_heals_what_stands(brokers: Soaked, kind: FaultKind, done: Event) -> None:
    name = f"ended-{kind}"
    brokers.topic(name)
    fault = PlannedFault(0.0, kind, 300.0, partition=1)

    def is_done(run: RunDirectory) -> bool:
        return times(read_timeline(run, may_be_cut=True), done) > 0

    def interrupted() -> None:
        with breaking(brokers, name, fault) as (_, run):
            runs.append(run)
            until(lambda: is_done(run), deadline_s=60, what=f"{done} on the timeline")
            raise KeyboardInterrupt

    runs: list[RunDirectory] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert_whole(brokers, read_timeline(runs[0]))
    until(lambda: problems(brokers.cluster) == (), deadline_s=60, what="healthy brokers")
    with breaking(brokers, name, fault) as (breaker, run):
        until(lambda: is_done(run), deadline_s=60, what=f"{done} on the timeline")
        breaker.stop()
        assert (breaker.done, breaker.begun, breaker.left_out) == (0, 1, ())
        assert "cut short by the end of the load" in breaker.said[-1]
        assert problems(brokers.cluster) == ()
    assert_whole(brokers, read_timeline(run))


def test_a_frame_that_never_comes_is_said_and_marked(brokers: Soaked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harming, "CAUGHT_S", 1.0)
    topic = brokers.topic("absent")
    of_itself = PlannedFault(0.0, _K.HOLD, 1.0, follower=1, leader=1)
    with breaking(brokers, topic, of_itself) as (breaker, run):
        until(lambda: breaker.is_over, deadline_s=60, what="it to be given up")
    never, instead = breaker.said
    assert "hold_frame never fired: it awaited fetch_request, source 1, destination 1" in never
    assert "hold of 0 s did not go as planned" in instead
    assert times(read_timeline(run), Event.EVIDENCE_MISSING) == 2


def test_a_broker_that_somebody_else_ends_ends_it(brokers: Soaked) -> None:
    topic, cluster = brokers.topic("foreign"), brokers.cluster

    def broken_from_outside() -> None:
        faults = PlannedFault(0.0, _K.FREEZE, 0.1, broker=1), PlannedFault(3.0, _K.FREEZE, 0.1, broker=1)
        with breaking(brokers, topic, *faults) as (breaker, _):
            until(lambda: breaker.done == 1, deadline_s=60, what="the first fault to be done")
            cluster.backend.kill(cluster.node(2))
            until(lambda: breaker.failure, deadline_s=60, what="it to be noticed")

    with pytest.raises(NodeDiedError, match="broker-2"):
        broken_from_outside()
    cluster.start_broker(2)
    assert at_rest(cluster, topic, PARTITIONS) == (0,) * PARTITIONS


def test_what_comes_while_replicas_stay_out_of_sync_is_left_out(
    brokers: Soaked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harming, "IN_SYNC_S", 3.0)
    topic, later = brokers.topic("stuck"), PlannedFault(8.0, _K.KILL, 1.0, broker=1)
    with breaking(brokers, topic, PlannedFault(0.0, _K.FREEZE, 0.1, broker=1), later) as (breaker, _):
        until(lambda: breaker.done == 1, deadline_s=60, what="the first fault to be done")
        brokers.cluster.pause(3)
        try:
            until(lambda: bool(breaker.said), deadline_s=60, what="the second to be left out")
        finally:
            brokers.cluster.resume(3)
    assert breaker.said[0].startswith("faults left out: 1; every replica to be in sync: not within 3 s")
    assert breaker.left_out == (later,)


def test_what_is_not_at_rest_is_named(brokers: Soaked) -> None:
    topic = brokers.topic("unrest")
    with pytest.raises(DeadlineExceededError, match=r"unrest to be at rest.*13 partitions"):
        at_rest(brokers.cluster, topic, PARTITIONS + 1, 1.0)
    brokers.cluster.pause(3)
    try:
        with pytest.raises(DeadlineExceededError, match=r"out of sync: 3|names leader"):
            at_rest(brokers.cluster, topic, PARTITIONS, 8.0)
    finally:
        brokers.cluster.resume(3)
    assert at_rest(brokers.cluster, topic, PARTITIONS, 60.0) == (0,) * PARTITIONS
