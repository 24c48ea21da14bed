"""What does a leader do when the lag time passes? And what does a schedule assume about it?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from oracle.events import BrokerDied, BrokerRemoved, LagPassed, RecordSent, ShrinkCommitted
from oracle.predict import initial_world, predict
from oracle.replication.remote import RemoteReplica
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill, Start, Stop
from oracle.steps.step import ScheduleError, Step
from oracle.steps.waits import AwaitIsr, AwaitLag, AwaitLeader, Checkpoint
from oracle.transitions import Refusal, Transition, step
from oracle.vocabulary import Acks, Expectation, Label, MetadataMode, Offset, Timing
from tests.oracle.schedules import ONE, THREE, TWO, hold, produce, schedule

if TYPE_CHECKING:
    from oracle.world import World

ASKING = rules_for("3.9.2", MetadataMode.ZOOKEEPER)
WRITING = rules_for("1.1.1", MetadataMode.ZOOKEEPER)
LAG = Timing.LAG


def at_rest(version: str = "3.9.2") -> World:
    """Three replicas, broker 1 leads; both followers' fetches are parked."""
    rules = rules_for(version, MetadataMode.ZOOKEEPER)
    return initial_world(schedule(produce("m0"), replicas=(ONE, TWO, THREE), timing=LAG), rules, (ONE, TWO, THREE))


def behind(version: str = "3.9.2") -> World:
    """Return the same; the leader has a record that its followers have not fetched yet."""
    return at_rest(version).apply(RecordSent(Label("m0"), Acks.LEADER))


def test_a_leader_that_asks_counts_the_old_isr_until_the_controller_agrees() -> None:
    asked = behind().apply(LagPassed((TWO, THREE)))
    leader = asked.state.serving_leader()
    assert leader is not None
    assert (leader.leaving, leader.maximal_isr(), leader.high_watermark) == ({TWO, THREE}, {ONE, TWO, THREE}, 0)
    assert sorted(asked.state.controller.isr) == [ONE, TWO, THREE]
    agreed = asked.apply(ShrinkCommitted())
    assert agreed.state.controller.isr == (ONE,)
    assert agreed.state.replica(ONE).high_watermark == 1


def test_a_leader_that_writes_the_isr_itself_is_done_at_once() -> None:
    written = behind("1.1.1").apply(LagPassed((TWO,)))
    assert sorted(written.state.controller.isr) == [ONE, THREE]
    assert written.state.controller.leader_epoch == 0


def test_a_leader_looks_at_its_isr_only_between_requests() -> None:
    asked = behind().apply(LagPassed((TWO,)))
    again = asked.apply(LagPassed((THREE,)))
    assert again.state.replica(ONE).leaving == {TWO}
    assert not again.state.replica(ONE).remote(THREE).is_caught_up


def test_a_leader_that_has_not_heard_the_latest_decision_cannot_change_the_isr() -> None:
    writing = behind("1.1.1").apply(BrokerRemoved(THREE))
    assert writing.state.replica(ONE).undelivered
    assert sorted(writing.apply(LagPassed((TWO,))).state.controller.isr) == [ONE, TWO]
    asking = behind().apply(LagPassed((TWO,))).apply(BrokerRemoved(THREE))
    refused = step(asking.state, ShrinkCommitted(), ASKING)
    assert refused == Refusal(ShrinkCommitted(), "leader 1 has not heard the controller's latest decision")


def test_a_replica_outside_the_isr_only_loses_its_notes() -> None:
    left = behind("1.1.1").apply(LagPassed((TWO,)))
    assert left.apply(LagPassed((TWO,))) == left


def test_a_follower_that_lagged_does_not_count_its_last_fetch() -> None:
    remote = RemoteReplica(TWO).fetched(Offset(1), Offset(2)).lagged().fetched(Offset(2), Offset(3))
    assert not remote.is_caught_up
    assert RemoteReplica(TWO).fetched(Offset(1), Offset(2)).fetched(Offset(2), Offset(3)).is_caught_up


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (LagPassed((ONE,)), "no leader looks whether these replicas lag"),
        (ShrinkCommitted(), "no leader has asked to remove a replica"),
    ],
)
def test_what_no_leader_does_is_refused(event: LagPassed | ShrinkCommitted, reason: str) -> None:
    state = at_rest().state
    assert step(state, event, ASKING) == Refusal(event, reason)
    dead = step(state, BrokerDied(ONE, graceful=False), ASKING)
    assert isinstance(dead, Transition)
    assert isinstance(step(dead.state, event, ASKING), Refusal)


def test_a_controllers_removal_ends_a_request_to_shrink() -> None:
    """In KRaft from 3.6 the leader hears of it in the same epoch."""
    kraft = rules_for("3.9.2", MetadataMode.KRAFT)
    world = initial_world(schedule(produce("m0"), replicas=(ONE, TWO, THREE)), kraft, (ONE, TWO, THREE))
    asked = world.apply(RecordSent(Label("m0"), Acks.LEADER)).apply(LagPassed((TWO,))).apply(BrokerRemoved(THREE))
    assert asked.settle().state.replica(ONE).leaving == frozenset()


SILENT = (produce("m0"), hold("late"))
REFUSED: dict[str, tuple[tuple[Step, ...], str, str]] = {
    "a follower that fetches": ((*SILENT, AwaitLag((THREE,))), "followers", r"that lag are \[2\], not \[3\]"),
    "nobody": ((*SILENT, AwaitLag(())), "followers", r"that lag are \[2\], not \[\]"),
    "without a leader": ((Kill(ONE), AwaitLag((ONE, TWO, THREE))), "followers", "no leader looks whether"),
    "start after a kill": ((Kill(TWO), Start(TWO)), "broker", "broker 2 was killed under timing: lag and is still"),
    "start of who runs": ((Start(TWO),), "broker", "broker 2 runs already"),
    "another leader": ((Kill(ONE), AwaitLeader(TWO)), "leader", "the leader is 1, not 2"),
    "the ISR before the lag": ((Kill(TWO), AwaitIsr((ONE, THREE))), "isr", r"the ISR is \[1, 2, 3\]"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_timing_does_not_bring_about_is_refused(case: str) -> None:
    steps, field, message = REFUSED[case]
    with pytest.raises(ScheduleError, match=message) as refused:
        predict(schedule(*steps, replicas=(ONE, TWO, THREE), timing=LAG), ASKING)
    assert (refused.value.step, refused.value.field) == (len(steps) - 1, field)


def test_a_graceful_stop_is_noticed_by_the_controller_all_the_same() -> None:
    steps = (Stop(TWO), AwaitIsr((ONE, THREE)), Start(TWO), AwaitIsr((ONE, TWO, THREE)), Checkpoint("end"))
    prediction = predict(schedule(*steps, replicas=(ONE, TWO, THREE), timing=LAG), ASKING)
    assert prediction.checkpoints[0].isr == (1, 2, 3)


def test_the_timing_decides_what_a_kill_is() -> None:
    steps = (Kill(TWO), produce("m0", expect=Expectation.ANY), Checkpoint("end"))
    by_timing = {timing: predict(schedule(*steps, timing=timing), WRITING).checkpoints[0].isr for timing in Timing}
    assert by_timing == {Timing.SESSION: (1,), Timing.LAG: (1, 2)}


def test_a_follower_whose_fetcher_stopped_is_silent() -> None:
    world = at_rest("0.10.2.2")
    stuck = world.state.with_replica(replace(world.state.replica(THREE), stuck=True, fetch=None))
    after = replace(world, state=stuck).apply(RecordSent(Label("m0"), Acks.LEADER)).settle()
    assert sorted(after.apply(LagPassed((THREE,))).state.controller.isr) == [ONE, TWO]
