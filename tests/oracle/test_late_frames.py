"""When can a held fetch still reach its leader, and what does it do there? The stories tell the rest."""

from __future__ import annotations

import pytest

from conformance.commands.predicted_promise import story_lines
from oracle.predict import initial_world, predict, take
from oracle.predicting.explaining import explain
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Isolate, Kill, KillTogether, LoseTail, Pause, Rejoin, Resume, Start
from oracle.steps.frames import CutLink, Drop, Hold, ReleaseHold, late_holds
from oracle.steps.step import ScheduleError
from oracle.steps.topic import Reassign
from oracle.vocabulary import Expectation, MetadataMode, Offset, PointName
from oracle.world import ImpossibleEventError, World
from tests.oracle.schedules import ONE, THREE, TWO, hold, produce, schedule

LATE = ReleaseHold("fetch", late=True)
HELD = (hold("fetch", follower=TWO, fetch_offset=1), produce("m0", expect=Expectation.PENDING))


def after(*steps: object, kafka: str = "3.6.2", mode: MetadataMode = MetadataMode.KRAFT) -> World:
    rules = rules_for(kafka, mode)
    world = initial_world(schedule(replicas=(ONE, TWO, THREE)), rules, (ONE, TWO, THREE))
    for step in steps:
        world = take(world, step)  # type: ignore[arg-type]
    return world


def known_of_two(world: World) -> Offset | None:
    return world.state.replica(ONE).remote_log_end_offset(TWO)


def test_a_fetch_of_a_dead_broker_counts() -> None:
    world = after(*HELD, Kill(TWO))
    assert (known_of_two(world), known_of_two(take(world, LATE))) == (0, 1)


def test_a_late_fetch_that_nobody_waits_for_leaves_its_follower_alone() -> None:
    world = after(*HELD, Kill(TWO), LoseTail(TWO, Offset(0)), hold("new", follower=TWO), Start(TWO))
    assert take(world, LATE).state.replica(TWO) == world.state.replica(TWO)


@pytest.mark.parametrize(
    ("steps", "refusal"),
    [
        ((*HELD, LATE), "on a connection that is open"),
        ((*HELD, Kill(TWO), ReleaseHold("fetch")), "discharged when its connection ended"),
        ((*HELD, Kill(TWO), LATE, LATE), "was let go, or discharged"),
        ((*HELD, Kill(TWO), Kill(ONE), LATE), "discharged when its connection ended"),
        ((*HELD, KillTogether((ONE, TWO)), LATE), "discharged when its connection ended"),
        ((*HELD, KillTogether((TWO, ONE)), LATE), "discharged when its connection ended"),
        ((*HELD, CutLink(TWO, ONE), LATE), "discharged when its connection ended"),
        ((*HELD, Isolate(TWO), LATE), "discharged when its connection ended"),
        ((*HELD, Kill(TWO), Isolate(ONE), Rejoin(ONE), LATE), "discharged when its connection ended"),
        ((*HELD, Kill(TWO), CutLink(TWO, ONE), LATE), "discharged when its connection ended"),
        ((*HELD, Drop("fetch"), Kill(TWO), LATE), "discharged when its connection ended"),
        ((*HELD, Kill(TWO), Pause(ONE), LATE), "broker 1 is paused"),
    ],
)
def test_what_cannot_be_delivered_late_is_refused(steps: tuple[object, ...], refusal: str) -> None:
    with pytest.raises(ImpossibleEventError, match=refusal):
        after(*steps)


def test_other_late_fetches_stay_when_one_is_lost_or_delivered() -> None:
    of_three = hold("of 3", follower=THREE, fetch_offset=1)
    world = after(of_three, *HELD, Kill(TWO), Kill(THREE))
    assert [one.hold.name for one in world.gate.late] == ["fetch", "of 3"]
    assert [one.hold.name for one in take(world, CutLink(TWO, ONE)).gate.late] == ["of 3"]
    assert [one.arrival.is_of_earlier_start for one in take(take(world, LATE), Start(THREE)).gate.late] == [True]


def test_a_broker_that_leads_no_more_does_not_count_it() -> None:
    world = after(*HELD, Kill(TWO), Start(TWO), Pause(ONE), Resume(ONE))
    assert world.state.replica(ONE).leader == TWO
    assert take(world, LATE).state == world.state


def test_a_fetch_of_a_replica_that_is_not_assigned_any_more_counts_no_more() -> None:
    world = after(*HELD, Kill(TWO), Start(TWO), Reassign((ONE, THREE)))
    assert take(world, LATE).state == world.state


def test_only_a_fetch_is_delivered_late() -> None:
    answer = Hold("fetch", PointName.FETCH_RESPONSE, TWO, ONE)
    with pytest.raises(ScheduleError, match="only a held fetch_request is delivered late, not fetch_response") as error:
        predict(schedule(answer, LATE), rules_for("4.4.0", MetadataMode.KRAFT))
    assert (error.value.step, error.value.field) == (1, "late")


def test_it_reads_as_late() -> None:
    assert LATE.sentence() == "release the frame held by 'fetch', late: the connection that it came on has ended"
    assert ReleaseHold("fetch").sentence() == "release the frame held by 'fetch', unchanged"


def test_the_holds_that_are_delivered_late_are_named() -> None:
    assert late_holds((*HELD, LATE, ReleaseHold("another"))) == {"fetch"}


def test_the_chronicle_tells_what_a_late_fetch_moved() -> None:
    third = hold("of 3", follower=THREE, fetch_offset=0)
    new = hold("new", follower=TWO, fetch_offset=0)
    answer = hold("answer", PointName.FETCH_RESPONSE, follower=TWO, fetch_offset=0)
    there = (third, *HELD, Kill(TWO), LoseTail(TWO, Offset(0)), new, Start(TWO), answer, ReleaseHold("new"))
    steps = (*there, ReleaseHold("of 3"), LATE, Kill(ONE), Start(ONE))
    prediction = predict(schedule(*steps, replicas=(ONE, TWO, THREE)), rules_for("3.6.2", MetadataMode.KRAFT))
    story = "\n".join(story_lines(explain(prediction)))
    assert "high watermark of leader 1 rises to 1, as broker 2's fetch at offset 1 reaches leader 1 late" in story


def test_a_leader_that_ends_leaves_a_dead_replica_alone_in_the_isr() -> None:
    """A late fetch has brought it in; nobody is elected, and the former leader is no member any more."""
    joined = after(Kill(THREE), *HELD, Kill(TWO), LATE, kafka="0.10.2.2", mode=MetadataMode.ZOOKEEPER)
    assert joined.state.controller.isr == (ONE, TWO)
    left = take(joined, Kill(ONE)).state.controller
    assert (left.leader, left.isr) == (None, (TWO,))
    back = take(take(joined, Kill(ONE)), Start(ONE)).state.controller
    assert back.leader is None
