"""Does every event and every frame read as what it is?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.events import (
    DecisionReceived,
    FetchCompleted,
    JoinAnswered,
    JoinCommitted,
    JoinRefused,
    RequestReceived,
    RequestSent,
    ResponseReceived,
    ShrinkCommitted,
)
from oracle.predict import initial_world, predict
from oracle.predicting.wording import ChangeKind, event_words
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill, Start
from oracle.steps.frames import AwaitHold
from oracle.steps.waits import AwaitLag, Checkpoint
from oracle.vocabulary import (
    Acks,
    Expectation,
    Fate,
    HighWatermarkCheckpoint,
    MetadataMode,
    PointName,
    ProduceOutcome,
    Timing,
)
from tests.oracle.schedules import LOOKUP, ONE, TWO, hold, produce, schedule

if TYPE_CHECKING:
    from oracle.events import Event
    from oracle.rules.rule_set import RuleSet
    from oracle.world import World

WORDS: list[tuple[Event | None, str]] = [
    (JoinCommitted(TWO), "the controller adds broker 2 to the ISR"),
    (JoinAnswered(TWO), "the leader hears that broker 2 is in the ISR"),
    (JoinRefused(TWO), "the controller refuses to add broker 2 to the ISR"),
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
    why = "on leader 1 above the high watermark 0, which waits for broker 2"
    assert (record.fate, record.decided_by) == (Fate.UNDETERMINED, why)
    assert record.outcome is ProduceOutcome.INDETERMINATE


def test_a_high_watermark_that_stands_still_names_the_rule() -> None:
    alone = schedule(Kill(TWO), produce("m0", acks=Acks.LEADER), min_isr=2)
    (old,), (new,) = (predict(alone, rules_for(version, MetadataMode.KRAFT)).records for version in ("3.6.2", "3.7.2"))
    assert old.fate is Fate.PRESENT
    assert new.decided_by == (
        "on leader 1 above the high watermark 0, "
        "which stands still with 1 of 2 replicas in sync (high-watermark-needs-min-isr)"
    )


def test_a_high_watermark_that_nobody_raises_names_nobody() -> None:
    """KAFKA-13091: after a shrink that the controller commits nothing looks at the high watermark again."""
    lagging = schedule(
        hold("silent", follower=TWO, fetch_offset=0),
        AwaitHold("silent"),
        produce("m0", acks=Acks.LEADER),
        AwaitLag((TWO,)),
        timing=Timing.LAG,
    )
    (stuck,), (raised,) = (predict(lagging, rules_for(v, MetadataMode.ZOOKEEPER)).records for v in ("2.8.2", "3.9.2"))
    assert stuck.decided_by == "on leader 1 above the high watermark 0"
    assert raised.fate is Fate.PRESENT


@pytest.mark.parametrize(
    ("version", "rule"), [("2.0.1", "silent-replica-leaves-isr"), ("2.8.2", "only-lagging-replica-leaves-isr")]
)
def test_a_shrink_for_lag_names_its_rule(version: str, rule: str) -> None:
    lagging = schedule(
        hold("silent", follower=TWO, fetch_offset=0),
        AwaitHold("silent"),
        produce("m0", acks=Acks.LEADER),
        AwaitLag((TWO,)),
        timing=Timing.LAG,
    )
    chronicle = predict(lagging, rules_for(version, MetadataMode.ZOOKEEPER)).chronicle
    (shrink,) = [change for change in chronicle if change.kind is ChangeKind.ISR]
    assert shrink.sentence() == f"the ISR is {{1}}: broker 2 left [{rule}]"
