"""Does every event and every frame read as what it is?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.chronicle import ChangeKind
from oracle.events import (
    DecisionReceived,
    FetchCompleted,
    JoinCommitted,
    RequestReceived,
    RequestSent,
    ResponseReceived,
    ShrinkCommitted,
)
from oracle.predict import initial_world, predict
from oracle.rules.by_version import rules_for
from oracle.steps import AwaitHold, Checkpoint, Kill, Start
from oracle.vocabulary import Expectation, Fate, HighWatermarkCheckpoint, MetadataMode, PointName
from oracle.wording import event_words
from tests.oracle.schedules import LOOKUP, ONE, TWO, hold, produce, schedule

if TYPE_CHECKING:
    from oracle.events import Event
    from oracle.rules.rule_set import RuleSet
    from oracle.world import World

WORDS: list[tuple[Event | None, str]] = [
    (JoinCommitted(TWO), "the controller adds broker 2 to the ISR"),
    (ShrinkCommitted(), "the controller removes the lagging replicas from the ISR"),
    (DecisionReceived(TWO), "broker 2 hears the controller's decision"),
    (RequestSent(TWO), "broker 2 sends its next request"),
    (RequestReceived(TWO), "broker 2's fetch at offset 0 reaches leader 1"),
    (FetchCompleted(TWO), "leader 1 answers broker 2's parked fetch at offset 0"),
    (ResponseReceived(TWO), "broker 2 has the answer to its fetch at offset 0"),
    (None, "the partition comes to rest"),
]


@pytest.fixture
def rules() -> RuleSet:
    return rules_for("2.1.1", MetadataMode.ZOOKEEPER)


@pytest.fixture
def world(rules: RuleSet) -> World:
    empty = schedule(produce("m0"))
    return initial_world(empty, rules, empty.replicas)


@pytest.mark.parametrize(("event", "words"), WORDS, ids=lambda value: type(value).__name__)
def test_an_event_reads_as_what_it_is(world: World, event: Event | None, words: str) -> None:
    assert event_words(event, world) == words


@pytest.mark.parametrize(
    ("point", "caught"),
    [
        (LOOKUP, "broker 2's lookup of epoch 0 before leader 1 sees it"),
        (
            PointName.OFFSETS_FOR_LEADER_EPOCH_RESPONSE,
            "the answer to broker 2's lookup of epoch 0 before the broker sees it",
        ),
    ],
)
def test_a_held_lookup_reads_as_one(rules: RuleSet, point: PointName, caught: str) -> None:
    held = schedule(produce("m0"), Kill(TWO), hold("lookup", point), Start(TWO), AwaitHold("lookup"))
    (change,) = [c for c in predict(held, rules).chronicle if c.kind is ChangeKind.HELD]
    assert change.text == f"hold 'lookup' catches {caught}"


def test_a_high_watermark_that_the_file_does_not_know_falls(rules: RuleSet) -> None:
    never = schedule(produce("m0"), Kill(TWO), Checkpoint("end"), checkpointing=HighWatermarkCheckpoint.NEVER)
    fallen = [c.text for c in predict(never, rules).chronicle if c.broker == TWO][-1]
    assert fallen == "high watermark of broker 2 falls from 1 to 0: restored from its checkpoint file"


def test_a_high_watermark_falls_with_the_log_that_is_cut(rules: RuleSet) -> None:
    cut = schedule(produce("m0"), Kill(TWO), produce("m1"), Kill(ONE), Start(TWO), Start(ONE), unclean=True)
    fallen = [c.text for c in predict(cut, rules).chronicle if c.broker == ONE and "falls" in c.text]
    assert fallen == ["high watermark of broker 1 falls from 2 to 1: its log ends at 1"]


def test_a_record_above_the_high_watermark_is_undetermined(rules: RuleSet) -> None:
    pending = schedule(hold("fetch", fetch_offset=1), produce("m0", expect=Expectation.PENDING))
    (record,) = predict(pending, rules).records
    assert (record.fate, record.decided_by) == (Fate.UNDETERMINED, "on leader 1 above the high watermark 0")
