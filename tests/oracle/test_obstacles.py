"""What stands between living brokers: which field is to blame, what a paused one shows, and that all is healed."""

from __future__ import annotations

import pytest

from oracle.predict import predict
from oracle.predicting.wording import ChangeKind
from oracle.rules.by_version import rules_for
from oracle.schedule import Schedule, check_structure
from oracle.steps.brokers import Isolate, Kill, KillTogether, LoseTail, Pause, Rejoin, Resume, Start, Stop
from oracle.steps.frames import AwaitHold, CutLink, Heal, Hold, ReleaseHold
from oracle.steps.produce import Produce
from oracle.steps.step import ScheduleError, Step
from oracle.steps.topic import Alter, Elect, Reassign
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import (
    Acks,
    BrokerId,
    ElectionKind,
    Expectation,
    Fate,
    HighWatermarkCheckpoint,
    Label,
    MetadataMode,
    Offset,
    PointName,
    ProduceOutcome,
    Timing,
)
from tests.oracle.schedules import NINE, ONE, THREE, TWO, hold, produce, schedule

KRAFT = rules_for("4.3.1", MetadataMode.KRAFT)
ZOOKEEPER = rules_for("2.8.2", MetadataMode.ZOOKEEPER)
ALL = (ONE, TWO, THREE)

UNKNOWN: dict[str, tuple[Step, str]] = {
    "pause": (Pause(NINE), "broker"),
    "resume": (Resume(NINE), "broker"),
    "isolate": (Isolate(NINE), "broker"),
    "rejoin": (Rejoin(NINE), "broker"),
    "cut from": (CutLink(NINE, ONE), "from"),
    "cut to": (CutLink(ONE, NINE), "to"),
    "heal from": (Heal(NINE, ONE), "from"),
    "kill together": (KillTogether((ONE, NINE)), "brokers"),
    "kill one twice": (KillTogether((ONE, ONE)), "brokers"),
    "kill nobody": (KillTogether(()), "brokers"),
    "cut from a broker to itself": (CutLink(ONE, ONE), "to"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_a_step_about_brokers_that_are_not_there_is_refused(case: str) -> None:
    step, field = UNKNOWN[case]
    with pytest.raises(ScheduleError) as refused:
        check_structure(schedule(step))
    assert (refused.value.step, refused.value.field) == (0, field)


BLAMED: dict[str, tuple[tuple[Step, ...], str, str]] = {
    "pause of the dead": ((Kill(TWO), Pause(TWO)), "broker", "is not running"),
    "cut twice": ((CutLink(TWO, ONE), CutLink(TWO, ONE)), "from", "reaches broker 1 already"),
    "heal of what works": ((Heal(TWO, ONE),), "from", "is not cut"),
    "elect in vain": ((Elect(ElectionKind.PREFERRED),), "kind", "leads already"),
    "move while one is paused": ((Pause(TWO), Reassign((ONE, THREE))), "replicas", "paused: resume it"),
    "tail of the living": ((LoseTail(TWO, Offset(0)),), "broker", "runs"),
    "tail that is not there": ((Stop(TWO), LoseTail(TWO, Offset(0))), "offset", "nothing is lost"),
    "produce to the paused": (
        (Pause(TWO), Produce((Label("m0"),), Acks.LEADER, leader=TWO)),
        "leader",
        "answers nobody",
    ),
    "frame of the paused": (
        (hold("x", follower=TWO), Pause(TWO), hold("y", follower=TWO), AwaitHold("y")),
        "name",
        "another hold has caught",
    ),
    "no frame of the paused": ((Pause(TWO), hold("x"), AwaitHold("x")), "name", "one of these brokers is paused"),
    "a frame for the paused": ((hold("x"), Pause(ONE)), "broker", "which gives it up"),
    "end with a cut": ((CutLink(TWO, ONE),), "steps", "must end with every broker resumed"),
    "end paused": ((Pause(TWO),), "steps", "must end with every broker resumed"),
    "alter of nothing that a rule forbids": ((Alter(2), Isolate(TWO)), "steps", "must end with every broker"),
}


@pytest.mark.parametrize("case", BLAMED)
def test_the_field_to_blame_is_named(case: str) -> None:
    steps, field, message = BLAMED[case]
    with pytest.raises(ScheduleError, match=message) as refused:
        predict(schedule(*steps, replicas=ALL), KRAFT)
    assert (refused.value.step, refused.value.field) == (len(steps) - 1, field)


def test_an_isolated_leader_hears_of_new_settings_from_zookeeper_only() -> None:
    asked = schedule(Isolate(ONE), Alter(2), Rejoin(ONE), replicas=ALL, timing=Timing.LAG)
    assert predict(asked, ZOOKEEPER).moments
    with pytest.raises(ScheduleError, match="is isolated: let it rejoin before it is given new settings") as refused:
        predict(asked, KRAFT)
    assert (refused.value.step, refused.value.field) == (1, "min.insync.replicas")
    fenced = schedule(Isolate(ONE), Alter(2), Rejoin(ONE), replicas=ALL)
    assert predict(fenced, KRAFT).moments[1].leader == TWO


def test_a_leader_whose_metadata_log_is_held_hears_of_no_new_settings() -> None:
    """What it has heard before the hold it obeys; another broker's hold does not matter."""
    news = {broker: Hold("news", PointName.CONTROLLER_FETCH_RESPONSE, broker=broker) for broker in (ONE, TWO)}
    for steps in ((Alter(2), news[ONE]), (news[TWO], Alter(2))):
        assert predict(schedule(*steps, ReleaseHold("news"), replicas=ALL), KRAFT).moments
    with pytest.raises(ScheduleError, match="leader 1, which goes on by the old settings: let it go before") as refused:
        predict(schedule(news[ONE], Alter(2), ReleaseHold("news"), replicas=ALL), KRAFT)
    assert (refused.value.step, refused.value.field) == (1, "min.insync.replicas")


def test_a_leader_asks_for_no_follower_that_it_knows_to_be_fenced() -> None:
    """Partition.isReplicaIsrEligible, on 4.4.0 by a fetch that comes late."""
    late = (hold("fetch"), Kill(TWO), ReleaseHold("fetch", late=True))
    wish = Hold("wish", PointName.ALTER_PARTITION_REQUEST, broker=ONE)
    asked = schedule(*late[:2], wish, late[2], AwaitHold("wish"), ReleaseHold("wish"), replicas=(ONE, TWO))
    with pytest.raises(ScheduleError, match="'wish' never catches a frame"):
        predict(asked, rules_for("4.4.0", MetadataMode.KRAFT))


def test_a_frame_of_a_paused_broker_is_not_let_go() -> None:
    with pytest.raises(ScheduleError, match="resume it before a frame of its links") as refused:
        predict(schedule(hold("x"), Pause(TWO), ReleaseHold("x"), replicas=ALL), KRAFT)
    assert refused.value.field == "name"


@pytest.mark.parametrize(("checkpointing", "shown"), [("prompt", 1), ("never", 0)])
def test_a_paused_broker_shows_what_its_disk_has(checkpointing: str, shown: int) -> None:
    steps = (produce("m0"), Pause(TWO), Checkpoint("paused"), Resume(TWO), Checkpoint("resumed"))
    asked = schedule(*steps, replicas=ALL, checkpointing=HighWatermarkCheckpoint(checkpointing))
    paused, resumed = predict(asked, KRAFT).checkpoints
    assert (paused.replicas[TWO].high_watermark, paused.replicas[TWO].alive) == (shown, True)
    assert resumed.replicas[TWO].high_watermark == 1


@pytest.mark.parametrize(("rules", "isr"), [(KRAFT, (TWO, THREE)), (ZOOKEEPER, (ONE, TWO, THREE))])
def test_only_kraft_fences_who_is_isolated(rules: object, isr: tuple[BrokerId, ...]) -> None:
    prediction = predict(schedule(Isolate(ONE), Checkpoint("alone"), Rejoin(ONE), replicas=ALL), rules)  # type: ignore[arg-type]
    assert prediction.checkpoints[0].isr == isr


def test_without_a_leader_a_resumed_one_leads_again_and_has_lost_nothing() -> None:
    """The last member of the ISR is frozen: nobody leads until it goes on, and it keeps its uncommitted record."""
    left = (Kill(TWO), Kill(THREE), produce("m0", acks=Acks.LEADER), Pause(ONE), Checkpoint("none"), Resume(ONE))
    prediction = predict(schedule(*left, Start(TWO), Start(THREE), Checkpoint("all"), replicas=ALL, min_isr=2), KRAFT)
    assert [moment.leader for moment in prediction.checkpoints] == [None, ONE]
    assert prediction.records[0].fate is Fate.PRESENT


def test_a_broker_that_leads_again_at_its_return_must_have_answered_every_record() -> None:
    """In KRaft mode it may read before that it leads no more, and refuses the record, or it does not."""

    def left_alone(acks: Acks, expect: Expectation) -> Schedule:
        steps = (hold("held", fetch_offset=1), produce("m0", acks=acks, expect=expect), AwaitHold("held"))
        others = (Isolate(ONE), Kill(TWO), Checkpoint("nobody leads"), Rejoin(ONE), Checkpoint("end"))
        return schedule(*steps, *others, unclean=True)

    answered = left_alone(Acks.LEADER, Expectation.ACKNOWLEDGED)
    assert [one.leader for one in predict(answered, KRAFT).checkpoints] == [None, ONE]
    with pytest.raises(ScheduleError, match=r"broker 1 leads again when it is back, and has not answered m0 yet"):
        predict(left_alone(Acks.ALL, Expectation.PENDING), KRAFT)


def test_under_lag_a_paused_follower_keeps_a_record_from_being_committed() -> None:
    steps = (Pause(TWO), produce("m0", expect=Expectation.PENDING), Checkpoint("paused"), Resume(TWO))
    prediction = predict(schedule(*steps, replicas=ALL, timing=Timing.LAG), ZOOKEEPER)
    assert prediction.checkpoints[0].replicas[ONE].high_watermark == 0
    assert prediction.records[0].outcome is ProduceOutcome.ACKNOWLEDGED


def test_brokers_killed_together_are_noticed_in_any_order() -> None:
    """The last one to be noticed stays in the ISR."""
    steps = (Kill(THREE), KillTogether((ONE, TWO)), Checkpoint("none"), Start(ONE), Start(TWO), Checkpoint("end"))
    prediction = predict(schedule(*steps, replicas=ALL, unclean=True), ZOOKEEPER)
    assert {one.prediction.checkpoints[0].isr for one in prediction.alternatives} == {(ONE,), (TWO,)}
    assert any(
        "the controller notices that broker 1 is gone before" in one.text for one in prediction.alternatives[0].race
    )


def test_under_lag_nobody_notices_who_was_killed_together() -> None:
    steps = (KillTogether((TWO, THREE)), Checkpoint("end"))
    prediction = predict(schedule(*steps, replicas=ALL, timing=Timing.LAG), ZOOKEEPER)
    assert prediction.checkpoints[0].isr == ALL


def test_the_chronicle_tells_what_stood_in_the_way() -> None:
    steps = (CutLink(TWO, ONE), Heal(TWO, ONE), Pause(TWO), Resume(TWO), Isolate(THREE), Rejoin(THREE))
    prediction = predict(schedule(produce("m0"), *steps, replicas=ALL), KRAFT)
    told = [change.text for change in prediction.chronicle if change.kind is ChangeKind.PROCESS]
    assert told == [
        "no fetch of broker 2 reaches broker 1",
        "fetches of broker 2 reach broker 1 again",
        "broker 2 is paused: it neither fetches, serves nor hears",
        "broker 2 stands still no more",
        "broker 3 is cut off from every other node",
        "broker 3 reaches the other nodes again",
    ]
