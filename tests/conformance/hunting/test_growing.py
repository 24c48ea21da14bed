"""Is every schedule that grows one that the model predicts, the same wherever it grows, and none of them dull?"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from conformance.cluster_pool import cluster_kind
from conformance.hunting import growing
from conformance.hunting.growing import BLOCK, PROCESS_FAULTS, Grown, GrowthCount, NothingGrownError, grow, points_of
from conformance.hunting.legal_steps import LegalSteps
from conformance.hunting.proposals import WEIGHTS, produce
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.schedule_format import decode, encode
from oracle.steps.brokers import Kill, KillTogether, Start
from oracle.steps.frames import Hold, ReleaseHold
from oracle.steps.questions import EndOffsetOfEpoch
from oracle.steps.step import STEP_CLASSES, ScheduleError
from oracle.steps.topic import Alter
from oracle.vocabulary import BrokerId, Leadership, MetadataMode, PointName, Timing
from tests.conformance.hunting.rule_sets import NEWEST, ONE, TWO, schedule

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet

LINES = ("0.10.2.2", "1.1.1", "2.0.1", "2.8.2", "3.9.2/zookeeper", "3.9.2/kraft", "4.4.0/kraft")
NUMBERS = range(8)
TELLING = """
from conformance.hunting.growing import grow
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode
print([grow(rules_for("4.4.0", MetadataMode.KRAFT), "seed", n).schedule for n in range(4)])
"""


def rules_of(line: str) -> RuleSet:
    version, _, metadata = line.partition("/")
    return rules_for(version, MetadataMode(metadata or "zookeeper"))


@cache
def grown(line: str) -> tuple[tuple[Grown, ...], GrowthCount]:
    tally = GrowthCount()
    return tuple(grow(rules_of(line), line, number, tally) for number in NUMBERS), tally


@pytest.mark.parametrize("line", LINES)
def test_a_grown_schedule_survives_being_written_down(line: str) -> None:
    for one in grown(line)[0]:
        assert decode(encode(one.schedule)) == one.schedule
        assert predict(decode(encode(one.schedule)), rules_of(line)).as_json() == one.prediction.as_json()


@pytest.mark.parametrize("line", LINES)
def test_no_schedule_is_dull(line: str) -> None:
    schedules = [one.schedule for one in grown(line)[0]]
    assert statistics.median(len(schedule.steps) for schedule in schedules) >= 10
    assert all(any(isinstance(step, Hold) for step in schedule.steps) for schedule in schedules)
    assert all(any(isinstance(step, PROCESS_FAULTS) for step in schedule.steps) for schedule in schedules)
    assert all(schedule.labels() for schedule in schedules)


@pytest.mark.parametrize("line", LINES)
def test_no_schedule_assumes_how_a_race_ends(line: str) -> None:
    assert not any(one.prediction.assumed for one in grown(line)[0])


@pytest.mark.parametrize("line", LINES)
def test_few_proposals_are_refused_and_no_schedule_as_a_whole(line: str) -> None:
    _, tally = grown(line)
    assert sum(tally.refused.values()) < 0.2 * tally.proposed
    assert not [why for why in tally.dropped if why.startswith("refused as a whole")]


def test_one_seed_gives_the_same_schedules_in_any_process() -> None:
    told = [
        subprocess.run(
            [sys.executable, "-c", TELLING],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
    assert told[0] != TELLING


def test_steps_that_are_asked_for_are_in_every_schedule() -> None:
    rules = rules_of("4.4.0/kraft")
    for number in range(3):
        words = {step.word for step in grow(rules, "asked", number, patterns=("reassign", "paus*")).schedule.steps}
        assert words >= {"reassign", "pause"}


def test_another_seed_and_another_number_give_others() -> None:
    rules = rules_of("4.4.0/kraft")
    steps = {grow(rules, seed, number).schedule.steps for seed in ("a", "b") for number in (0, 1)}
    assert len(steps) == 4


def test_a_block_needs_one_kind_of_cluster() -> None:
    kinds = {tuple(cluster_kind(one.schedule).items()) for one in grown("4.4.0/kraft")[0][:BLOCK]}
    assert len(kinds) == 1


def words(lines: tuple[str, ...]) -> set[str]:
    return {step.word for line in lines for one in grown(line)[0] for step in one.schedule.steps}


def test_nearly_every_kind_of_step_is_taken_by_some_schedules() -> None:
    missing = set(STEP_CLASSES) - words(LINES)
    assert len(missing) <= 3, missing


def test_a_late_fetch_is_among_them() -> None:
    steps = [step for line in LINES for one in grown(line)[0] for step in one.schedule.steps]
    assert any(isinstance(step, ReleaseHold) and step.late for step in steps)


def test_what_is_never_proposed_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = {proposal: 0 if proposal is produce else weight for proposal, weight in WEIGHTS.items()}
    monkeypatch.setattr(growing, "WEIGHTS", weights)
    schedules = [grow(rules_of("4.4.0/kraft"), "7", number).schedule for number in range(4)]
    assert "produce" not in {step.word for schedule in schedules for step in schedule.steps[:1]}


def test_nothing_grows_where_everything_is_dull(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "DULL_BELOW", 1_000)
    tally = GrowthCount()
    with pytest.raises(NothingGrownError, match="schedule 3 of seed x: 200 were drawn and dropped"):
        grow(rules_of("4.4.0/kraft"), "x", 3, tally)
    assert tally.dropped["dull: it is short"] > 80


def test_a_schedule_that_the_model_refuses_as_a_whole_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ScheduleError("no")

    monkeypatch.setattr(growing, "predict", refuse)
    tally = GrowthCount()
    with pytest.raises(NothingGrownError):
        grow(rules_of("4.4.0/kraft"), "x", 3, tally)
    assert tally.dropped["refused as a whole: no"] > 20


def test_a_step_that_is_not_drawn_under_lag_is_asked_for_under_session() -> None:
    """`hunt --steps stop` ended with nothing in one block of ten."""
    seed = next(f"lag {n}" for n in range(50) if grow(rules_of("2.8.2"), f"lag {n}", 0).schedule.timing is Timing.LAG)
    asked = grow(rules_of("2.8.2"), seed, 0, patterns=("st?p",)).schedule
    assert asked.timing is Timing.SESSION
    assert "stop" in [step.word for step in asked.steps]


def test_lag_passes_as_soon_as_a_follower_is_silent() -> None:
    seed = next(f"lag {n}" for n in range(50) if grow(rules_of("2.8.2"), f"lag {n}", 0).schedule.timing is Timing.LAG)
    passed = 0
    for one in (grow(rules_of("2.8.2"), seed, number).schedule for number in range(BLOCK)):
        assert one.timing is Timing.LAG
        for step, following in pairwise(one.steps):
            if isinstance(step, Hold):
                break  # whom it stops is silent before it is paused
            assert step.word not in ("pause", "cut") or following.word == "await_lag"
        passed += sum(step.word == "await_lag" for step in one.steps)
    assert passed


def test_lag_passes_anew_where_a_second_hold_has_the_next_fetch() -> None:
    """Hunt on 4.4.0, seed 7, schedule 39: inconclusive, as the follower was silent for three seconds again."""
    frame = replace(schedule(replicas=(ONE, TWO, BrokerId(3))), steps=(), timing=Timing.LAG)
    taken = LegalSteps(NEWEST, frame, frame.replicas)
    for name in ("first", "second"):
        assert taken.take(Hold(name, PointName.FETCH_REQUEST, TWO, ONE)) is None
    assert taken.take(ReleaseHold("first")) is None
    assert [step.word for step in taken.steps] == ["hold", "await_lag", "hold", "release", "await_lag"]
    assert taken.take(ReleaseHold("second")) is None
    assert taken.steps[-1] == ReleaseHold("second")


def test_lag_passes_anew_where_a_late_fetch_brings_in_who_is_down() -> None:
    """Hunt on 2.0.1, seed 20261201, schedule 32: the leader removed the dead follower again, as lag time passed."""
    frame = replace(schedule(replicas=(ONE, TWO)), steps=(), timing=Timing.LAG)
    taken = LegalSteps(rules_of("2.0.1"), frame, frame.replicas)
    for step in (Hold("fetch", PointName.FETCH_REQUEST, TWO, ONE), Kill(TWO), ReleaseHold("fetch", late=True)):
        assert taken.take(step) is None
    assert [step.word for step in taken.steps] == ["hold", "await_lag", "kill", "release", "await_lag"]


@pytest.mark.parametrize(
    ("line", "has", "lacks"),
    [
        ("0.10.2.2", PointName.LEADER_AND_ISR, PointName.OFFSETS_FOR_LEADER_EPOCH_REQUEST),
        ("2.0.1", PointName.OFFSETS_FOR_LEADER_EPOCH_REQUEST, PointName.ALTER_PARTITION_REQUEST),
        ("4.4.0/kraft", PointName.CONTROLLER_FETCH_RESPONSE, PointName.LEADER_AND_ISR),
    ],
)
def test_only_points_of_the_release_are_held(line: str, has: PointName, lacks: PointName) -> None:
    points = points_of(rules_of(line))
    assert has in points
    assert lacks not in points


def test_nobody_asks_about_a_leadership_that_was_over_before_the_partition_came_to_rest() -> None:
    frame = schedule(minimum=2, replicas=(ONE, TWO, BrokerId(3)))
    taken = LegalSteps(NEWEST, replace(frame, steps=()), frame.replicas)
    fallen = (Alter(min_insync_replicas=1), Alter(min_insync_replicas=2), Kill(TWO))
    assert [taken.take(step) for step in fallen] == [None] * 3
    asked = EndOffsetOfEpoch(Leadership(0), ONE)
    assert taken.take(asked) is None

    both = (KillTogether((ONE, BrokerId(3))), Start(BrokerId(3)), Start(ONE))
    assert [taken.take(step) for step in both] == [None] * 3
    assert taken.take(EndOffsetOfEpoch(Leadership(2), BrokerId(3))) == (
        "it asks about a leadership that may not have been seen at rest"
    )
    assert taken.take(EndOffsetOfEpoch(Leadership(0), BrokerId(3))) is None
