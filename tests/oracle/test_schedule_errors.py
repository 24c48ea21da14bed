"""Is a wrong schedule refused with the step and the field that are wrong?"""

from __future__ import annotations

import pytest

from oracle.predict import NotOnReleaseError, predict
from oracle.rules.by_version import rules_for
from oracle.schedule import Schedule, check_structure
from oracle.steps.brokers import Kill, LoseCheckpoint, LoseTail, Start, Stop
from oracle.steps.frames import AwaitHold, Close, DelayFrame, Drop, ReleaseHold
from oracle.steps.produce import AwaitOutcome, Produce
from oracle.steps.step import ScheduleError, Step
from oracle.steps.topic import Alter, Reassign
from oracle.steps.waits import AwaitIsr, AwaitLag, AwaitLeader, Checkpoint
from oracle.vocabulary import Expectation, Label, MetadataMode, Offset, PointName
from tests.oracle.schedules import (
    LOOKUP,
    NINE,
    ONE,
    TWO,
    hold,
    produce,
    restarted_with_held_lookup,
    schedule,
)

KRAFT = rules_for("4.3.1", MetadataMode.KRAFT)
X = Label("x")
DELAY = DelayFrame(PointName.FETCH_REQUEST, TWO, ONE, 100)

WRONG_STEPS: dict[str, tuple[Step, str, str]] = {
    "label twice in a step": (produce("x", "x"), "records", "label 'x' is produced twice"),
    "label produced before": (produce("m0"), "records", "label 'm0' is produced twice"),
    "no label": (produce(), "records", "at least one label"),
    "no time": (Produce((X,), timeout_ms=0), "timeout_ms", "timeout_ms must be from 1 to 295000 .*, not 0"),
    "longer than a client waits": (
        Produce((X,), timeout_ms=295_001),
        "timeout_ms",
        "to 295000 .the client's socket times out after 300 s., not 295001",
    ),
    "outcome of nothing": (AwaitOutcome((X,)), "records", "does not have: x"),
    "outcome still pending": (AwaitOutcome((Label("m0"),), Expectation.PENDING), "expect", "cannot expect pending"),
    "hold twice": (hold("gap"), "name", "a hold named 'gap' exists already"),
    "hold named like a delay": (hold("delay 3"), "name", "a hold cannot be named 'delay 3'"),
    "follower unknown": (hold("x", follower=NINE), "follower", "does not have: 9"),
    "leader unknown": (hold("x", leader=NINE), "leader", "does not have: 9"),
    "link to itself": (hold("x", follower=ONE), "leader", "the same broker"),
    "nth from 0": (hold("x", nth=0), "nth", "nth must be at least 1"),
    "offset below 0": (hold("x", fetch_offset=-1), "fetch_offset", "fetch_offset must be at least 0"),
    "delay on an unknown link": (DelayFrame(PointName.FETCH_REQUEST, NINE, ONE, 1), "follower", "does not have: 9"),
    "delay backwards": (DelayFrame(PointName.FETCH_REQUEST, TWO, ONE, -1), "delay_ms", "at least 0"),
    "alter nothing": (Alter(), "min.insync.replicas", "name one"),
    "alter to no minimum": (Alter(0), "min.insync.replicas", "must be at least 1"),
    "move to nobody": (Reassign(()), "replicas", "must be distinct"),
    "move twice to a broker": (Reassign((ONE, TWO, ONE)), "replicas", "must be distinct"),
    "await an unknown hold": (AwaitHold("x"), "name", "does not have: x"),
    "release an unknown hold": (ReleaseHold("x"), "name", "does not have: x"),
    "drop an unknown hold": (Drop("x"), "name", "does not have: x"),
    "close an unknown hold": (Close("x"), "name", "does not have: x"),
    "kill an unknown broker": (Kill(NINE), "broker", "does not have: 9"),
    "stop an unknown broker": (Stop(NINE), "broker", "does not have: 9"),
    "start an unknown broker": (Start(NINE), "broker", "does not have: 9"),
    "await an unknown leader": (AwaitLeader(NINE), "leader", "does not have: 9"),
    "await an unknown ISR": (AwaitIsr((ONE, NINE)), "isr", "does not have: 9"),
    "lag of an unknown follower": (AwaitLag((NINE,)), "followers", "does not have: 9"),
    "lag with the other timing": (AwaitLag((TWO,)), "followers", "await_lag needs timing: lag"),
    "tail of an unknown broker": (LoseTail(NINE, Offset(0)), "broker", "does not have: 9"),
    "tail from below 0": (LoseTail(TWO, Offset(-1)), "offset", "offset must be at least 0"),
    "checkpoint of an unknown broker": (LoseCheckpoint(NINE), "broker", "does not have: 9"),
    "checkpoint twice": (Checkpoint("here"), "name", "repeated: here"),
}
BEFORE = (produce("m0"), hold("gap", nth=99), Checkpoint("here"))


@pytest.mark.parametrize("case", WRONG_STEPS)
def test_wrong_step_is_named(case: str) -> None:
    step, field, message = WRONG_STEPS[case]
    with pytest.raises(ScheduleError, match=message) as refused:
        check_structure(schedule(*BEFORE, step))
    assert (refused.value.step, refused.value.field) == (len(BEFORE), field)


def test_right_schedule_passes() -> None:
    check_structure(
        schedule(
            *BEFORE,
            DELAY,
            AwaitOutcome((Label("m0"),)),
            AwaitHold("gap"),
            Kill(TWO),
            AwaitIsr((ONE,)),
            AwaitLeader(None),
        )
    )


WRONG_WHOLES: dict[str, tuple[Schedule, str, str]] = {
    "no step": (schedule(), "steps", "at least one step"),
    "no replica": (schedule(*BEFORE, replicas=()), "replicas", "distinct broker ids"),
    "replica twice": (schedule(*BEFORE, replicas=(ONE, ONE)), "replicas", "distinct broker ids"),
    "no minimum": (schedule(*BEFORE, min_isr=0), "settings", "min.insync.replicas must be at least 1"),
}


@pytest.mark.parametrize("case", WRONG_WHOLES)
def test_wrong_whole_is_named(case: str) -> None:
    wrong, field, message = WRONG_WHOLES[case]
    with pytest.raises(ScheduleError, match=message) as refused:
        predict(wrong, KRAFT)
    assert (refused.value.step, refused.value.field) == (None, field)


def test_schedule_must_end_with_a_leader() -> None:
    with pytest.raises(ScheduleError, match="must end with a leader") as refused:
        predict(schedule(produce("m0"), Kill(TWO), Kill(ONE)), KRAFT)
    assert (refused.value.step, refused.value.field) == (2, "steps")


@pytest.mark.parametrize(
    ("version", "metadata"), [("0.10.2.2", "zookeeper"), ("2.8.2", "zookeeper"), ("3.9.2", "kraft"), ("4.3.1", "kraft")]
)
@pytest.mark.parametrize("point", [LOOKUP, PointName.OFFSETS_FOR_LEADER_EPOCH_RESPONSE])
def test_lookup_does_not_exist_everywhere(version: str, metadata: str, point: PointName) -> None:
    rules = rules_for(version, MetadataMode(metadata))
    for step in (hold("x", point), DelayFrame(point, TWO, ONE, 1)):
        with pytest.raises(NotOnReleaseError, match=f"Kafka {version} followers do not send") as refused:
            predict(schedule(produce("m0"), step), rules)
        assert (refused.value.step, refused.value.field) == (1, "point")


@pytest.mark.parametrize("version", ["0.11.0.3", "1.1.1", "2.0.1", "2.7.2"])
def test_lookup_exists_in_between(version: str) -> None:
    prediction = predict(restarted_with_held_lookup(), rules_for(version, MetadataMode.ZOOKEEPER))
    assert [record.label for record in prediction.records] == ["m0"]


@pytest.mark.parametrize("step", [Alter(1), Alter(None, unclean_leader_election=False)])
def test_one_setting_alone_can_be_altered(step: Alter) -> None:
    check_structure(schedule(*BEFORE, step))
