"""Is a hold or a cut refused that cannot meet its frame for certain, and does a held frame go with its connection?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from oracle.predict import initial_world, predict, take
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Isolate, Kill, KillTogether, Pause, Rejoin, Resume, Start
from oracle.steps.frames import AwaitHold, Close, CutLink, DelayFrame, Drop, Heal, Hold, ReleaseHold
from oracle.steps.step import ScheduleError, Step
from oracle.steps.topic import Elect, Reassign
from oracle.steps.waits import AwaitIsr, AwaitLeader, Checkpoint
from oracle.vocabulary import Acks, ElectionKind, Expectation, MetadataMode, Offset, PointName, ReplicaRole, Timing
from tests.oracle.schedules import LOOKUP, ONE, THREE, TWO, hold, produce, schedule

if TYPE_CHECKING:
    from oracle.world import World

THREE_REPLICAS = (ONE, TWO, THREE)
PREFERRED = Elect(ElectionKind.PREFERRED)
UPDATE_METADATA = PointName.UPDATE_METADATA


def refusal(*steps: Step, version: str = "2.0.1") -> ScheduleError:
    rules = rules_for(version, MetadataMode.ZOOKEEPER)
    with pytest.raises(ScheduleError) as refused:
        predict(schedule(*steps, replicas=THREE_REPLICAS), rules)
    return refused.value


def world_after(version: str, *steps: Step) -> World:
    rules = rules_for(version, MetadataMode.ZOOKEEPER)
    world = initial_world(schedule(*steps, replicas=THREE_REPLICAS), rules, THREE_REPLICAS)
    for step in steps:
        world = take(world, step)
    return world


IN_VAIN: dict[str, tuple[tuple[Step, ...], str]] = {
    "an offset that never comes": ((hold("x", fetch_offset=5),), "broker 2 fetches at offset 1"),
    "a leader that never leads": ((hold("x", leader=THREE),), "the leader is 1"),
    "a broker that dies before": ((hold("x", fetch_offset=5), Kill(TWO)), "none comes before its connection ends"),
    "nothing decided": ((Hold("x", PointName.LEADER_AND_ISR, broker=TWO),), "nothing passes between broker 2 and"),
}


@pytest.mark.parametrize("case", IN_VAIN)
def test_a_hold_in_vain_is_refused_where_it_is_armed(case: str) -> None:
    steps, why = IN_VAIN[case]
    refused = refusal(produce("m0"), *steps)
    assert str(refused).startswith(f"hold 'x' never catches a frame: {why}")
    assert (refused.step, refused.field) == (1, "name")


def test_a_hold_that_was_let_go_is_not_in_vain() -> None:
    rules = rules_for("2.0.1", MetadataMode.ZOOKEEPER)
    predict(schedule(hold("x"), AwaitHold("x"), ReleaseHold("x"), hold("y"), Kill(TWO)), rules)


def test_a_cut_that_no_fetch_meets_is_refused_where_it_is_healed() -> None:
    refused = refusal(CutLink(TWO, THREE), produce("m0"), Heal(TWO, THREE))
    assert str(refused) == "broker 2 never fetches from broker 3 while that link is cut"
    assert refused.step == 2


@pytest.mark.parametrize("kept", [(), (Kill(ONE), AwaitLeader(TWO))])
def test_a_cut_that_a_fetch_meets_now_or_later_is_none_of_these(kept: tuple[Step, ...]) -> None:
    leader = TWO if kept else ONE
    steps = (CutLink(THREE, leader), *kept, Heal(THREE, leader), produce("m0"))
    predict(schedule(*steps, replicas=THREE_REPLICAS), rules_for("2.0.1", MetadataMode.ZOOKEEPER))


@pytest.mark.parametrize("step", [hold("x", LOOKUP, fetch_offset=1), DelayFrame(LOOKUP, TWO, ONE, 1, Offset(1))])
def test_a_lookup_has_no_fetch_offset(step: Step) -> None:
    refused = refusal(produce("m0"), step)
    assert str(refused).startswith(f"fetch_offset does not go with {LOOKUP.value}")
    assert (refused.step, refused.field) == (1, "fetch_offset")


COUNTED = hold("x", nth=3)


def test_a_counted_frame_is_awaited_where_it_comes() -> None:
    refused = refusal(COUNTED, produce("m0"), AwaitHold("x"))
    assert "an await_hold of it must follow there" in str(refused)
    assert (refused.step, refused.field) == (0, "nth")
    alone = produce("m0", acks=Acks.LEADER)
    steps = (COUNTED, Checkpoint("nothing changes"), AwaitHold("x"), alone, ReleaseHold("x"))
    predict(schedule(*steps, replicas=THREE_REPLICAS), rules_for("2.0.1", MetadataMode.ZOOKEEPER))


FOLLOWS_TWO = (Kill(ONE), AwaitLeader(TWO), Start(ONE), AwaitIsr(THREE_REPLICAS))
HELD = hold("late", follower=THREE, leader=TWO)


@pytest.mark.parametrize("end", [ReleaseHold("late"), Close("late"), Drop("late"), AwaitHold("late")])
@pytest.mark.parametrize("version", ["1.1.0", "2.0.0", "2.0.1", "3.9.2"])
def test_a_held_fetch_goes_with_the_connection_to_a_former_leader(version: str, end: Step) -> None:
    refused = refusal(*FOLLOWS_TWO, HELD, AwaitHold("late"), PREFERRED, end, version=version)
    assert "hold 'late' lost its frame when broker 3 took another leader and closed its connection to broker 2" in str(
        refused
    )
    assert refused.step == len(FOLLOWS_TWO) + 3


def test_a_follower_that_takes_the_lead_closes_it_too() -> None:
    held = hold("late", follower=ONE, leader=TWO)
    refused = refusal(*FOLLOWS_TWO, held, AwaitHold("late"), PREFERRED, ReleaseHold("late"))
    assert "when broker 1 took another leader" in str(refused)


def test_the_link_moves_again_when_the_former_leader_leads_once_more() -> None:
    again = (Kill(ONE), AwaitLeader(TWO), produce("m1"), Checkpoint("end"))
    walked = world_after("2.0.1", *FOLLOWS_TWO, HELD, AwaitHold("late"), PREFERRED, *again)
    assert walked.state.replica(THREE).log.log_end_offset == 1


@pytest.mark.parametrize("version", ["0.10.2.2", "0.11.0.3", "1.0.2"])
def test_up_to_1_0_the_broker_waits_for_the_answer_and_that_is_refused(version: str) -> None:
    refused = refusal(*FOLLOWS_TWO, HELD, AwaitHold("late"), PREFERRED, version=version)
    assert "broker 3 takes another leader while a hold has its fetch: up to Kafka 1.0 it waits" in str(refused)


def test_of_two_holds_for_one_answer_the_younger_waits_for_the_next() -> None:
    first, second = (hold(name, PointName.FETCH_RESPONSE, follower=THREE) for name in ("first", "second"))
    sent = produce("m0", expect=Expectation.ANY)
    gate = world_after("2.0.1", first, second, sent).gate
    assert [(armed.hold.name, armed.caught) for armed in gate.holds] == [("first", True), ("second", False)]
    gate = world_after("2.0.1", first, second, sent, ReleaseHold("first")).gate
    assert [(armed.hold.name, armed.caught) for armed in gate.holds] == [("second", True)]
    refused = refusal(*(replace(one, fetch_offset=Offset(0)) for one in (first, second)), sent)
    assert str(refused).startswith("hold 'second' never catches a frame")


def test_a_replica_that_is_deleted_keeps_its_connection() -> None:
    """StopReplica ends no fetcher thread: what is held can be let go."""
    held = hold("late", follower=THREE)
    world = world_after("2.8.2", held, AwaitHold("late"), Reassign((ONE, TWO)))
    assert world.state.replica(THREE).role is ReplicaRole.NONE
    assert not take(world, ReleaseHold("late")).gate.holds


@pytest.mark.parametrize("version", ["1.1.1", "2.8.2", "3.9.2"])
def test_a_leader_that_has_not_heard_of_its_election_turns_a_record_away(version: str) -> None:
    held = Hold("role", PointName.LEADER_AND_ISR, broker=TWO)
    turned_away = produce("m0", acks=Acks.LEADER, expect=Expectation.REFUSED, error="NOT_LEADER_OR_FOLLOWER")
    world = world_after(version, held, Kill(ONE), AwaitHold("role"), turned_away, ReleaseHold("role"))
    assert world.state.replica(TWO).log.log_end_offset == 0


LOG = Hold("log", PointName.CONTROLLER_FETCH_RESPONSE, broker=ONE)


@pytest.mark.parametrize(
    ("gone", "back"), [(Kill(TWO), Start(TWO)), (Pause(TWO), Resume(TWO)), (Isolate(TWO), Rejoin(TWO))]
)
def test_a_leader_that_does_not_hear_of_a_return_cannot_add_the_replica(gone: Step, back: Step) -> None:
    kraft = rules_for("4.3.1", MetadataMode.KRAFT)
    with pytest.raises(ScheduleError, match="has the metadata log of leader 1, for whom broker 2 stays fenced"):
        predict(schedule(gone, LOG, back), kraft)


@pytest.mark.parametrize(
    ("gone", "back"),
    [
        (Kill(TWO), Start(TWO)),
        (Pause(TWO), Resume(TWO)),
        (Isolate(TWO), Rejoin(TWO)),
        (KillTogether((TWO, THREE)), Start(TWO)),
    ],
)
def test_a_leader_that_does_not_hear_of_an_end_asks_for_the_replica_all_the_same(gone: Step, back: Step) -> None:
    """It knows by its metadata log alone who may join; where a member of the ISR ends it has a decision to hear."""
    kraft = rules_for("4.3.1", MetadataMode.KRAFT)
    frames = (Hold("wish", PointName.ALTER_PARTITION_REQUEST, broker=ONE), Start(TWO))
    with pytest.raises(ScheduleError, match="has the metadata log of leader 1, for whom broker 2 stays registered"):
        predict(schedule(Kill(TWO), *frames, LOG, gone, replicas=(ONE, TWO, THREE)), kraft)
    predict(schedule(LOG, gone, ReleaseHold("log"), back, replicas=(ONE, TWO, THREE)), kraft)
    lag = replace(schedule(Kill(TWO), LOG, ReleaseHold("log"), replicas=(ONE, TWO, THREE)), timing=Timing.LAG)
    predict(lag, kraft)


@pytest.mark.parametrize(("version", "is_refused"), [("2.6.3", True), ("2.7.2", False)])
def test_up_to_2_6_news_of_an_isr_comes_again_after_a_decision_has_told_it(version: str, *, is_refused: bool) -> None:
    """Hunts on 2.0.1 and 1.1.1, seed 20261201: a hold at update_metadata caught it, and a decision stood behind it."""
    rules, armed = rules_for(version, MetadataMode.ZOOKEEPER), Hold("metadata", UPDATE_METADATA, broker=ONE)
    joined = (Kill(TWO), Start(TWO))
    predict(schedule(*joined, armed, Kill(THREE), ReleaseHold("metadata"), replicas=(ONE, TWO, THREE)), rules)
    told = schedule(*joined, Kill(THREE), armed, Kill(TWO), ReleaseHold("metadata"), replicas=(ONE, TWO, THREE))
    if not is_refused:
        predict(told, rules)
        return
    with pytest.raises(ScheduleError, match="whether a hold at update_metadata of broker 1 catches that or what"):
        predict(told, rules)


@pytest.mark.parametrize(("version", "is_refused"), [("2.6.3", True), ("2.7.2", False)])
def test_a_replica_is_not_taken_from_a_broker_that_does_not_hear_of_it(version: str, *, is_refused: bool) -> None:
    """Hunt on 2.0.1, seed 20261202, schedule 30: the model had it join the ISR again."""
    rules = rules_for(version, MetadataMode.ZOOKEEPER)
    deaf = Hold("deaf", PointName.LEADER_AND_ISR_RESPONSE, broker=TWO)
    moved = schedule(deaf, Reassign((THREE, ONE)), ReleaseHold("deaf"), replicas=(ONE, TWO))
    if not is_refused:
        assert predict(moved, rules).moments[-1].isr == (ONE, THREE)
        return
    with pytest.raises(ScheduleError, match="keeps from broker 2 that it is no replica any more, and it fetches on"):
        predict(moved, rules)


@pytest.mark.parametrize("point", [UPDATE_METADATA, PointName.LEADER_AND_ISR_RESPONSE])
def test_how_many_decisions_tell_of_ends_at_once_is_not_predicted(point: PointName) -> None:
    """Hunt on 2.0.1, seed 20261201, schedule 84: one decision told of both ends, and was heard."""
    rules, armed = rules_for("2.0.1", MetadataMode.ZOOKEEPER), Hold("news", point, broker=TWO)
    at_once = KillTogether((ONE, THREE))
    with pytest.raises(ScheduleError, match="in one decision or in several is not predicted"):
        predict(schedule(armed, at_once, ReleaseHold("news"), replicas=(ONE, TWO, THREE)), rules)
    late = (hold("fetch"), Kill(TWO), ReleaseHold("fetch", late=True))
    with pytest.raises(ScheduleError, match="broker 2 is in the ISR and down"):
        predict(schedule(*late, at_once, replicas=(ONE, TWO, THREE)), rules)
    first = Hold("news", PointName.LEADER_AND_ISR, broker=TWO)
    predict(schedule(first, at_once, ReleaseHold("news"), replicas=(ONE, TWO, THREE)), rules)


RELEASES = ["1.1.1", "2.0.0", "2.8.2", "3.9.2"]
RETURNS = (Pause(ONE), AwaitLeader(TWO), Hold("metadata", UPDATE_METADATA, broker=ONE), Resume(ONE))


@pytest.mark.parametrize("version", RELEASES)
def test_a_broker_that_returns_is_sent_metadata_before_its_role(version: str) -> None:
    world = world_after(version, *RETURNS, AwaitHold("metadata"))
    assert world.state.replica(ONE).role is ReplicaRole.LEADER
    world = take(world, ReleaseHold("metadata"))
    assert world.state.replica(ONE).role is ReplicaRole.FOLLOWER


@pytest.mark.parametrize("version", RELEASES)
def test_the_others_are_sent_metadata_too_when_a_broker_returns(version: str) -> None:
    """Before the election that the return brings about: a witness keeps the role that it had."""
    gone = (Kill(THREE), Kill(TWO), Kill(ONE), Start(THREE))
    waits = Hold("metadata", UPDATE_METADATA, broker=THREE)
    world = world_after(version, *gone, waits, Start(ONE), AwaitHold("metadata"))
    assert world.state.controller.leader == ONE
    assert world.state.replica(THREE).leader is None


@pytest.mark.parametrize("version", RELEASES)
def test_metadata_follows_the_decision_that_it_tells(version: str) -> None:
    world = world_after(version, Hold("metadata", UPDATE_METADATA, broker=TWO), Kill(ONE), AwaitHold("metadata"))
    assert world.state.replica(TWO).role is ReplicaRole.LEADER


def test_metadata_waits_behind_a_request_that_is_not_answered() -> None:
    answer = Hold("answer", PointName.LEADER_AND_ISR_RESPONSE, broker=TWO)
    steps = (answer, Hold("metadata", UPDATE_METADATA, broker=TWO), Kill(ONE), AwaitHold("answer"))
    world = world_after("2.8.2", *steps)
    assert world.gate.met == {"answer"}
    assert take(world, ReleaseHold("answer")).gate.met == {"answer", "metadata"}
