"""Does a schedule get as short as it can, never longer, and does it stay one that can be run?"""

from __future__ import annotations

from dataclasses import replace

from conformance.hunting.legal_steps import END, retaken
from conformance.hunting.rules_at_work import predicted_or_none, told_apart
from conformance.hunting.shrinking import identity, shrunk, size_of
from oracle.predict import predict
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.brokers import Kill, Start
from oracle.steps.frames import AwaitHold, CutLink, Hold, ReleaseHold
from oracle.steps.produce import Produce
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import Acks, BrokerId, Expectation, HighWatermarkCheckpoint, Label, Offset, PointName
from tests.conformance.hunting.rule_sets import LONG, NEWEST, ONE, SWAPPED, TWO, schedule, sent

THREE = BrokerId(3)


def tells(smaller: Schedule) -> bool:
    other = predicted_or_none(smaller, SWAPPED)
    return other is not None and "high_watermark" in told_apart(predict(smaller, NEWEST), other)


def test_what_shows_a_finding_is_shortened_to_what_it_needs() -> None:
    smallest = shrunk(LONG, NEWEST, tells)
    assert tells(smallest)
    assert size_of(smallest) < size_of(LONG)
    assert [step.word for step in smallest.steps] in (["kill", "produce", "checkpoint"], ["kill", "produce"])


def test_what_nobody_confirms_stays_as_it_is() -> None:
    assert shrunk(LONG, NEWEST, lambda _: False) is LONG


def test_no_schedule_is_tried_twice_and_none_that_is_not_smaller() -> None:
    tried: list[Schedule] = []

    def note(smaller: Schedule) -> bool:
        tried.append(smaller)
        return False

    shrunk(LONG, NEWEST, note)
    assert len({identity(one) for one in tried}) == len(tried) > 5
    assert all(size_of(one) < size_of(LONG) for one in tried)
    assert all(predict(one, NEWEST).records is not None for one in tried)


def test_settings_records_offsets_and_replicas_become_plain() -> None:
    hold = Hold("h", PointName.FETCH_REQUEST, TWO, ONE, Offset(0))
    steps = (hold, Produce((Label("m0"), Label("m1")), Acks.LEADER, Expectation.ANY))
    fancy = replace(
        schedule(*steps, ReleaseHold("h"), replicas=(ONE, TWO, THREE)),
        settings=TopicSettings(2, unclean_leader_election=True),
        checkpointing=HighWatermarkCheckpoint.NEVER,
    )

    def holds(smaller: Schedule) -> bool:
        return any(isinstance(step, Hold) for step in smaller.steps)

    plain = shrunk(retaken(fancy, NEWEST), NEWEST, holds)
    assert (plain.settings, plain.checkpointing) == (TopicSettings(), HighWatermarkCheckpoint.PROMPT)
    assert plain.replicas == (ONE, TWO)
    assert [step for step in plain.steps if isinstance(step, Hold)] == [replace(hold, fetch_offset=None)]


def test_what_names_something_that_is_gone_falls_away() -> None:
    steps = (AwaitHold("h"), sent("m0"), ReleaseHold("h"), Start(TWO), Kill(TWO), sent("m1"))
    assert retaken(schedule(*steps, minimum=1), NEWEST).steps == (sent("m0"), Kill(TWO), sent("m1"), END)


def test_an_end_is_brought_back_and_measured_once() -> None:
    steps = (CutLink(TWO, ONE), Checkpoint("one"), Checkpoint("again"))
    words = [step.word for step in retaken(schedule(*steps, minimum=1), NEWEST).steps]
    assert words == ["cut", "checkpoint", "heal", "checkpoint"]
