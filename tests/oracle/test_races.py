"""Is a race named instead of guessed, with every outcome it can have?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from oracle import world as world_module
from oracle.asking import StepAnswer
from oracle.guarantees import PromiseVerdict
from oracle.predict import initial_world, predict
from oracle.predicting import branches
from oracle.predicting.interleavings import TooManyStatesError, explore
from oracle.predicting.races import merged
from oracle.predicting.step_effects import strokes
from oracle.prediction import Decision
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill, Start
from oracle.steps.frames import AwaitHold, ReleaseHold
from oracle.steps.step import ScheduleError
from oracle.steps.waits import AwaitIsr, Checkpoint
from oracle.vocabulary import BrokerId, Fate, MetadataMode, Offset, PointName, ProduceOutcome
from oracle.world import ImpossibleEventError
from tests.oracle.open_races import (
    answer_before_or_after_the_second_fetch,
    lost_or_kept,
    two_followers_report_to_a_new_leader,
)
from tests.oracle.schedules import ONE, THREE, TWO, hold, produce, schedule

if TYPE_CHECKING:
    from oracle.prediction import Alternative, Moment, Prediction
    from oracle.schedule import Schedule

ZOOKEEPER = MetadataMode.ZOOKEEPER
ANSWERED_FIRST = (
    "step 2 (produce m0): leader 1 answers broker 2's parked fetch at offset 1 "
    "before broker 3's fetch at offset 1 reaches leader 1"
)
SECOND_FETCH_FIRST = (
    "step 2 (produce m0): broker 3's fetch at offset 1 reaches leader 1 "
    "before leader 1 answers broker 2's parked fetch at offset 1"
)


A, B = (Decision(0, "a"),), (Decision(0, "b"),)


def texts(one: Alternative) -> tuple[str, ...]:
    return tuple(decision.text for decision in one.race)


def predicted(of: Schedule, version: str = "0.10.2.2") -> Prediction:
    return predict(of, rules_for(version, ZOOKEEPER))


def test_both_ends_of_a_race_are_listed_with_the_moves_that_lead_there() -> None:
    prediction = predicted(lost_or_kept())
    ends = {
        texts(one): [(r.label, r.fate, r.offset) for r in one.prediction.records] for one in prediction.alternatives
    }
    assert ends == {
        (ANSWERED_FIRST,): [("m0", Fate.LOST, None), ("m1", Fate.PRESENT, 0)],
        (SECOND_FETCH_FIRST,): [("m0", Fate.PRESENT, 0), ("m1", Fate.PRESENT, 1)],
    }


def test_what_differs_is_named_and_its_records_are_undetermined() -> None:
    prediction = predicted(lost_or_kept())
    assert prediction.races == (
        "broker 2 has m0: high watermark of broker 2 is 0 or 1",
        "end: log end offset of broker 2 is 1 or 2",
        "end: high watermark of broker 2 is 1 or 2",
        "log of broker 2 is m1 or m0 m1",
        "leader's high watermark at the end is 1 or 2",
        "record m0 is lost, acknowledged or present at offset 0, acknowledged",
        "record m1 is present at offset 0, acknowledged or present at offset 1, acknowledged",
    )
    assert {(r.fate, r.offset) for r in prediction.records} == {(Fate.UNDETERMINED, None)}
    assert [r.promise.verdict for r in prediction.records] == [PromiseVerdict.BROKEN, PromiseVerdict.KEPT]
    assert prediction.records[0].decided_by == (
        "open: lost, acknowledged or present at offset 0, acknowledged, as the race goes"
    )


def test_a_later_rule_leaves_only_the_number_open() -> None:
    prediction = predicted(lost_or_kept(), "2.8.2")
    assert prediction.races == ("broker 2 has m0: high watermark of broker 2 is 0 or 1",)
    assert {record.fate for record in prediction.records} == {Fate.PRESENT}
    assert len(prediction.alternatives) == 2


@pytest.mark.parametrize(("version", "is_open"), [("1.1.0", True), ("1.1.1", False)])
def test_a_race_that_a_release_closed(version: str, *, is_open: bool) -> None:
    prediction = predicted(two_followers_report_to_a_new_leader(), version)
    assert bool(prediction.races) is is_open
    assert len(prediction.alternatives) == (2 if is_open else 0)
    assert {record.fate for record in prediction.records} == {Fate.PRESENT}


def test_an_await_keeps_the_outcomes_that_satisfy_it_and_names_the_race() -> None:
    awaited = answer_before_or_after_the_second_fetch(
        Kill(TWO), hold("cut", follower=TWO, fetch_offset=0), Start(TWO), AwaitHold("cut"), Checkpoint("end")
    )
    prediction = predicted(awaited)
    assert prediction.alternatives == ()
    assert prediction.races == ()
    (assumption,) = prediction.assumed
    assert assumption.step == 10
    assert assumption.text.startswith("step 11 (await_hold cut) assumes 1 of 2 outcomes: else hold 'cut' never catches")
    assert assumption.text.endswith(f"if {SECOND_FETCH_FIRST}")
    assert prediction.moments[6].replicas[TWO].high_watermark == 0
    assert prediction.as_json()["assumed"] == [{"step": 10, "text": assumption.text}]


def test_an_await_that_no_outcome_satisfies_is_refused() -> None:
    impossible = answer_before_or_after_the_second_fetch(AwaitIsr((ONE,)))
    with pytest.raises(ScheduleError, match=r"the ISR is \[1, 2, 3\], not \[1\], in none of the 2 outcomes") as refused:
        predicted(impossible)
    assert refused.value.step == 7


def test_a_step_that_only_some_outcomes_allow_is_refused() -> None:
    hopeful = answer_before_or_after_the_second_fetch(
        Kill(TWO), hold("cut", follower=TWO, fetch_offset=0), Start(TWO), ReleaseHold("cut")
    )
    with pytest.raises(ScheduleError, match=r"caught nothing to let go, if step 2 .*; await it before") as refused:
        predicted(hopeful)
    assert refused.value.step == 10


def test_ways_that_meet_again_share_what_decided_for_both() -> None:
    """The answer's content no longer matters once it is thrown away with its broker."""
    prediction = predicted(
        schedule(*lost_or_kept().steps[:2], Kill(TWO), Start(TWO), Checkpoint("end"), replicas=(ONE, TWO, THREE))
    )
    assert prediction.alternatives == ()


def test_a_race_that_no_longer_matters_decides_for_nothing_later() -> None:
    steps = (
        *(*lost_or_kept().steps[:2], Kill(TWO), Start(TWO)),
        hold("again", PointName.FETCH_RESPONSE, follower=TWO, fetch_offset=2),
        produce("m9"),
        *(AwaitHold("again"), hold("then", follower=TWO), ReleaseHold("again"), AwaitHold("then"), Checkpoint("end")),
    )
    prediction = predicted(schedule(*steps, replicas=(ONE, TWO, THREE)))
    races = [decision for one in prediction.alternatives for decision in one.race]
    assert len(races) == len(prediction.alternatives) == 2
    assert all(decision.text.startswith("step 6 (produce m9): ") for decision in races)
    assert {decision.step for decision in races} == {5}


def test_too_many_outcomes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branches, "WAYS_MAX", 1)
    with pytest.raises(ScheduleError, match="2 outcomes are open, more than 1") as refused:
        predicted(lost_or_kept())
    assert refused.value.step == 1


def test_too_many_interleavings_are_refused() -> None:
    five = schedule(produce("m0"), replicas=tuple(BrokerId(broker) for broker in range(1, 6)))
    rules = rules_for("4.3.1", MetadataMode.KRAFT)
    world = initial_world(five, rules, five.replicas)
    (send,) = strokes(five.steps[0])
    with pytest.raises(TooManyStatesError, match="more than 20 states"):
        explore(send(world), states_max=20)
    with pytest.raises(ScheduleError, match="hold some links, or take fewer replicas"):
        predict(five, rules, states_max=20)


def test_a_controller_that_never_comes_to_rest_is_impossible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world_module, "controller_moves", lambda world: ((None, world),))
    alone = schedule(produce("m0"))
    with pytest.raises(ImpossibleEventError, match="never come to rest"):
        initial_world(alone, rules_for("4.3.1", MetadataMode.KRAFT), alone.replicas)


@pytest.fixture
def one_end() -> Prediction:
    return predict(schedule(produce("m0"), Checkpoint("end")), rules_for("4.3.1", MetadataMode.KRAFT))


def test_equal_ends_are_no_race(one_end: Prediction) -> None:
    assert merged([(A, one_end), (B, one_end)]) == one_end


@pytest.mark.parametrize(
    "difference",
    [{"fate": Fate.LOST}, {"offset": 7}, {"outcome": ProduceOutcome.INDETERMINATE}, {"error": "REQUEST_TIMED_OUT"}],
)
def test_record_whose_end_differs_is_undetermined(one_end: Prediction, difference: dict[str, object]) -> None:
    (record,) = one_end.records
    another = replace(one_end, records=(replace(record, **difference),))  # type: ignore[arg-type]
    (undetermined,) = merged([(A, one_end), (B, another)]).records
    assert (undetermined.fate, undetermined.offset) == (Fate.UNDETERMINED, None)


def test_logs_that_differ_are_named(one_end: Prediction) -> None:
    another = replace(one_end, logs={**one_end.logs, TWO: ()})
    assert merged([(A, one_end), (B, another)]).races == ("log of broker 2 is m0 or empty",)


def test_an_end_that_only_its_high_watermark_tells_apart_is_named(one_end: Prediction) -> None:
    last = one_end.moments[-1]
    lower = {**last.replicas, ONE: replace(last.replicas[ONE], high_watermark=Offset(0))}
    another = replace(one_end, moments=(*one_end.moments[:-1], replace(last, replicas=lower)))
    assert merged([(A, one_end), (B, another)]).races == ("leader's high watermark at the end is 1 or 0",)


def test_the_machine_format_has_every_outcome() -> None:
    document = predicted(lost_or_kept()).as_json()
    assert document["format"] == 2
    assert [one["race"] for one in document["alternatives"]] == [[ANSWERED_FIRST], [SECOND_FETCH_FIRST]]
    assert [one["raced_steps"] for one in document["alternatives"]] == [[1], [1]]
    for one in document["alternatives"]:
        assert list(one) == ["race", "raced_steps", "checkpoints", "records", "logs", "diverged", "steps"]


def test_a_replica_that_only_one_end_has_is_named(one_end: Prediction) -> None:
    """A reassignment that one way ends and another does not leaves other replicas."""

    def without(moment: Moment) -> Moment:
        return replace(moment, replicas={ONE: moment.replicas[ONE]}, remote_log_end_offsets={})

    another = replace(
        one_end, moments=(*map(without, one_end.moments),), checkpoints=(*map(without, one_end.checkpoints),)
    )
    another = replace(another, logs={ONE: one_end.logs[ONE]})
    named = (
        "end: log end offset of broker 2 is {}",
        "end: high watermark of broker 2 is {}",
        "end: remote log end offset of broker 2 is {}",
        "log of broker 2 is {}",
    )
    none = "none, as it has no replica"
    numbers = ("1", "1", "1", "m0")
    for ways, either in (((one_end, another), "{0} or {1}"), ((another, one_end), "{1} or {0}")):
        told = tuple(line.format(either.format(number, none)) for line, number in zip(named, numbers, strict=True))
        assert merged([((Decision(0, str(index)),), way) for index, way in enumerate(ways)]).races == told


def test_an_answer_that_only_one_end_tells_is_named(one_end: Prediction) -> None:
    told = replace(one_end, answers=(StepAnswer(0, "latest offset", (("offset", 1),)),))
    refused = replace(one_end, answers=(StepAnswer(0, "latest offset", (("error", "NOT_LEADER_OR_FOLLOWER"),)),))
    assert merged([(A, told), (B, refused)]).races == (
        "step 1 (latest offset): offset is 1 or not told",
        "step 1 (latest offset): error is not told or NOT_LEADER_OR_FOLLOWER",
    )


def test_what_a_race_leaves_open_for_some_steps_only_is_marked_there() -> None:
    """Broker 2's answer tells that m0 is committed or it does not, and the next answer does in either case."""
    passing = schedule(
        hold("answer", PointName.FETCH_RESPONSE, follower=TWO, fetch_offset=1),
        produce("m0"),
        hold("next", follower=TWO),
        hold("and its answer", PointName.FETCH_RESPONSE, follower=TWO),
        ReleaseHold("answer"),
        ReleaseHold("next"),
        ReleaseHold("and its answer"),
        Checkpoint("end"),
        replicas=(ONE, TWO, THREE),
    )
    prediction = predicted(passing, "2.8.2")
    assert prediction.alternatives == ()
    assert [moment.step for moment in prediction.moments if moment.is_open] == [4, 5]
    assert [moment["step"] for moment in prediction.as_json()["steps"] if moment.get("is_open")] == [4, 5]


def test_ends_that_are_one_have_open_what_they_passed_otherwise(one_end: Prediction) -> None:
    first, *others = one_end.moments
    another = replace(one_end, moments=(replace(first, name=None, isr=()), *others))
    (passed, *rest) = merged([(A, one_end), (B, another)]).moments
    assert passed == replace(first, is_open=True)
    assert rest == others
