"""What does a trace check make of changes of the ISR, of producers and of releases? One short story each."""

from __future__ import annotations

import pytest

from oracle.log import EpochEnd
from oracle.tracing.observed import (
    Acknowledged,
    BrokerEnded,
    BrokerStarted,
    FetchReceived,
    IsrAnswered,
    IsrDelivered,
    IsrProposed,
    LeadershipApplied,
    MinIsrSet,
    Refused,
)
from oracle.vocabulary import Acks
from tests.oracle.tracing.story import Story, with_records


def test_a_refused_wish_is_given_up() -> None:
    story = with_records(lag_time_max_ms=1_000)
    story.wait(2)
    story.alter_isr(1, 0, (1, 2), error=107)
    story.alter_isr(1, 0, (1, 2))
    assert not story.refused()


def test_an_answer_about_another_epoch_settles_nothing() -> None:
    story = with_records(lag_time_max_ms=1_000)
    story.wait(2)
    key = story.key(50)
    version = story.speech.alter_partition[-1]
    story.feed(IsrProposed, key=key, leader=1, leader_epoch=0, isr=(1,), partition_epoch=0, api_version=version)
    story.feed(IsrAnswered, key=key, error=0, leader=2, leader_epoch=1, isr=(2,))
    story.feed(IsrDelivered, key=key)
    assert not story.refused()


def test_a_wish_of_a_broker_that_does_not_lead_is_passed_over() -> None:
    story = with_records()
    story.alter_isr(3, 0, (3,))
    story.alter_isr(3, 0, (3,), error=41)
    assert not story.refused()


def test_acks_without_an_offset_are_compared_with_the_isr_only() -> None:
    story = with_records(min_insync_replicas=2)
    story.feed(Acknowledged, acks=Acks.ALL)
    assert not story.refused()
    story.feed(MinIsrSet, min_insync_replicas=9)
    story.feed(Acknowledged, acks=Acks.ALL)
    assert not story.refused()


def test_acks_1_without_a_time_move_no_high_watermark() -> None:
    story = with_records()
    story.feed(Acknowledged, acks=Acks.LEADER, base_offset=3, last_offset=3)
    story.fetch(2, 1, 3, 3, (0, 3, 3))
    assert not story.refused()


def test_who_leads_only_after_the_records_were_sent_did_not_acknowledge_them() -> None:
    story = with_records()
    sent_at = story.at
    story.feed(BrokerEnded, broker=1, clean=False)
    story.led(2, 1, (2, 3), 2, 3)
    story.feed(Acknowledged, acks=Acks.ALL, sent_at=sent_at, base_offset=90, last_offset=90)
    assert not story.refused()


def test_another_error_of_a_producer_says_nothing() -> None:
    story = with_records()
    story.feed(Refused, acks=Acks.ALL, error="NOT_LEADER_OR_FOLLOWER")
    assert not story.refused()


@pytest.mark.parametrize(
    ("sent_early", "refused"), [(True, ""), (False, "15: a record is refused with NOT_ENOUGH_REPLICAS")]
)
def test_a_refusal_that_is_told_late_is_held_against_the_time_since_the_record_was_sent(
    *, sent_early: bool, refused: str
) -> None:
    story = with_records(min_insync_replicas=2)
    early = story.at
    story.led(1, 1, (1,), 1)
    story.led(1, 2, (1, 2, 3), 1)
    story.wait(1)
    sent_at = early if sent_early else story.at
    story.feed(Refused, acks=Acks.ALL, error="NOT_ENOUGH_REPLICAS", sent_at=sent_at)
    assert story.refused() == refused


@pytest.mark.parametrize("is_gone", [True, False])
@pytest.mark.parametrize(("kafka", "metadata"), [("4.3.1", "kraft"), ("2.8.2", "zookeeper")])
def test_a_refusal_of_a_leader_that_leads_no_more_is_not_held_against_its_successor(
    kafka: str, metadata: str, *, is_gone: bool
) -> None:
    story = with_records(kafka, metadata, min_insync_replicas=2)
    sent_at = story.at
    story.led(1, 1, (1,), 1)
    story.led(1, 2, (1, 2, 3), 1)
    if is_gone:
        story.feed(BrokerEnded, broker=1, clean=False)
    story.led(2, 3, (2, 3), 2, 3)
    elected_at = story.at
    story.wait(1)
    story.feed(Refused, acks=Acks.ALL, error="NOT_ENOUGH_REPLICAS_AFTER_APPEND", sent_at=sent_at)
    assert not story.refused()
    if is_gone:
        story.feed(Refused, acks=Acks.ALL, error="NOT_ENOUGH_REPLICAS_AFTER_APPEND", sent_at=elected_at)
        assert story.refused() == "15: a record is refused with NOT_ENOUGH_REPLICAS_AFTER_APPEND"


@pytest.mark.parametrize("shown", ["nothing", "an older success", "a success", "another wish"])
def test_an_answer_of_the_controller_counts_when_the_leader_shows_that_it_has_taken_it(shown: str) -> None:
    story = with_records("4.3.1", "kraft", min_insync_replicas=2)
    story.led(1, 1, (1,), 1, 2, 3)
    older = story.at
    story.fetch(2, 1, 3, 3, (0, 3, 3), epoch=1, last_fetched_epoch=0)
    story.alter_isr(1, 1, (1, 2))
    story.wait(1)
    sent_at = story.at
    if shown.endswith("success"):
        sent = older if shown == "an older success" else sent_at
        story.feed(Acknowledged, acks=Acks.ALL, leader=1, sent_at=sent, base_offset=2, last_offset=2)
    elif shown == "another wish":
        story.alter_isr(1, 1, (1, 2))
    assert not story.refused()
    story.wait(1)
    story.feed(Refused, acks=Acks.ALL, error="NOT_ENOUGH_REPLICAS", sent_at=story.at)
    is_taken = shown in {"a success", "another wish"}
    assert story.refused() == ("15: a record is refused with NOT_ENOUGH_REPLICAS" if is_taken else "")


def test_a_larger_isr_counts_when_its_leader_has_applied_it() -> None:
    story = with_records("2.8.2", "zookeeper", min_insync_replicas=2)
    story.led(1, 1, (1,), 1)
    key = story.key(100)
    story.heard(1, 1, 2, (1, 2, 3), key=key)
    sent_at = story.at
    story.feed(LeadershipApplied, broker=1, key=key)
    story.feed(Refused, acks=Acks.ALL, error="NOT_ENOUGH_REPLICAS", sent_at=sent_at)
    assert not story.refused()


def test_two_brokers_may_refuse_for_want_of_replicas() -> None:
    story = with_records(min_insync_replicas=2)
    story.heard(2, 2, 1, (2,))
    story.feed(Refused, acks=Acks.ALL, error="NOT_ENOUGH_REPLICAS")
    assert not story.refused()


def test_an_answer_of_a_leader_that_follows_by_now_is_taken_as_it_is() -> None:
    story = with_records()
    key = story.sent(3, 1, 3)
    story.feed(FetchReceived, key=key)
    story.led(2, 1, (2, 3), 1)
    story.answered(key, 3, (0, 3, 3))
    story.sent(3, 1, 4)
    assert not story.refused()


def test_an_epoch_without_records_is_gone_after_a_restart() -> None:
    story = Story()
    story.led(1, 0, (1, 2, 3))
    story.led(2, 1, (1, 2, 3))
    story.sent(1, 2, 0, epoch=1, last_fetched_epoch=0)
    story.feed(BrokerEnded, broker=1, clean=False)
    story.feed(BrokerStarted, broker=1)
    story.led(2, 1, (2, 3), 1)
    story.sent(1, 2, 0, epoch=1, key=story.key(9))
    assert not story.refused()


def test_records_show_where_the_epoch_of_a_re_elected_leader_starts() -> None:
    story = with_records()
    story.led(1, 1, (1, 2))
    story.fetch(2, 1, 3, 3, (0, 3, 4), (1, 5, 5), epoch=1, last_fetched_epoch=0)
    story.fetch(3, 1, 3, 3, (0, 3, 3), (1, 4, 5), epoch=1, last_fetched_epoch=0)
    assert story.refused() == "17: broker 1 sends records 4 to 5 of epoch 1"


def test_who_has_lagged_for_long_does_not_hold_the_high_watermark_back() -> None:
    story = with_records(lag_time_max_ms=1_000)
    story.wait(2)
    for follower in (2, 3):
        story.fetch(follower, 1, 3, 3)
    story.wait(2)
    story.fetch(2, 1, 3, 3)
    story.alter_isr(1, 0, (1, 2))
    story.wait(1)
    story.fetch(2, 1, 3, 3)
    story.alter_isr(1, 0, (1,))
    assert "20" in story.refused()


def test_a_leader_alone_commits_what_it_acknowledges() -> None:
    story = with_records(lag_time_max_ms=1_000)
    story.wait(2)
    story.alter_isr(1, 0, (1,))
    story.wait(2)
    story.feed(Acknowledged, acks=Acks.LEADER, sent_at=story.at, base_offset=3, last_offset=3)
    story.fetch(2, 1, 3, 3, (0, 3, 3))
    assert story.refused() == "14: leader 1 tells the high watermark 3"


def test_a_decision_that_is_told_twice_begins_no_epoch_again() -> None:
    story = with_records(lag_time_max_ms=1_000)
    story.wait(2)
    story.alter_isr(1, 0, (1, 2))
    story.led(1, 0, (1, 2, 3), 1)
    story.fetch(2, 1, 3, 3)
    assert not story.refused()


@pytest.mark.parametrize(
    ("kafka", "watermark", "is_allowed"),
    [("1.1.1", 3, True), ("1.1.0", 3, False), ("1.1.0", 4, True), ("1.1.1", 4, False)],
)
def test_an_immediate_answer_carries_the_high_watermark_of_before_or_after_its_fetch(
    kafka: str, watermark: int, *, is_allowed: bool
) -> None:
    story = with_records(kafka, "zookeeper")
    story.feed(Acknowledged, acks=Acks.LEADER, sent_at=story.at, base_offset=3, last_offset=5)
    for follower in (2, 3):
        story.fetch(follower, 1, 3, 3, (0, 3, 3))
    story.fetch(2, 1, 4, 3, (0, 4, 4))
    story.fetch(3, 1, 4, watermark, (0, 4, 4))
    assert bool(story.refused()) is not is_allowed


def test_a_fetch_may_reach_its_leader_before_the_decision_does() -> None:
    story = with_records()
    for broker in (1, 3):
        story.heard(broker, 2, 1, (2, 3))
    key = story.sent(3, 2, 3, epoch=1, last_fetched_epoch=0)
    story.feed(FetchReceived, key=key)
    story.heard(2, 2, 1, (2, 3))
    story.answered(key, 3, (1, 3, 3))
    story.fetch(3, 2, 4, 4, epoch=1)
    story.feed(Acknowledged, acks=Acks.ALL, sent_at=story.at, base_offset=3, last_offset=3)
    assert not story.refused()


def test_who_is_assigned_again_begins_with_an_empty_log() -> None:
    story = with_records()
    story.heard(3, 1, 1, (1, 2), replicas=(1, 2))
    story.heard(3, 1, 2, (1, 2), replicas=(1, 2, 3))
    story.sent(3, 1, 0, epoch=2)
    assert not story.refused()
    story.sent(3, 1, 3, epoch=2)
    assert story.refused()


@pytest.mark.parametrize(
    ("kafka", "version", "is_own", "is_allowed"),
    [
        ("4.3.1", 18, True, True),
        ("4.3.1", 17, True, False),
        ("4.3.1", 17, False, True),
        ("4.3.1", 19, False, False),
        ("4.4.0", 18, True, True),
        ("4.4.0", 19, True, False),
        ("4.5.0", 19, True, True),
    ],
)
def test_a_release_speaks_its_own_version(kafka: str, version: int, *, is_own: bool, is_allowed: bool) -> None:
    story = Story(kafka, has_own_protocol=is_own)
    story.led(1, 0, (1, 2, 3))
    story.sent(2, 1, 0, api_version=version)
    assert bool(story.refused()) is not is_allowed


@pytest.mark.parametrize("kafka", ["2.8.0", "4.4.0", "4.5.0"])
def test_no_follower_looks_epochs_up_where_fetches_carry_them(kafka: str) -> None:
    story = Story(kafka, "kraft" if kafka > "3" else "zookeeper")
    story.led(1, 0, (1, 2, 3))
    story.lookup(2, 1, 0, EpochEnd(0, 0), api_version=4, current_leader_epoch=0)
    assert story.refused() == "24: broker 2 sends OffsetsForLeaderEpoch version 4"
    assert story.violation is not None
    assert story.violation.allowed == "no such request in this release"


def test_an_answer_that_is_older_than_what_the_leader_has_heard_settles_nothing() -> None:
    story = with_records(lag_time_max_ms=1_000)
    story.wait(2)
    key = story.key(50)
    version = story.speech.alter_partition[-1]
    story.feed(IsrProposed, key=key, leader=1, leader_epoch=0, isr=(1, 2), partition_epoch=0, api_version=version)
    story.feed(IsrAnswered, key=key, error=0, leader=1, leader_epoch=0, isr=(1, 2), partition_epoch=1)
    story.heard(1, 1, 0, (1,), partition_epoch=2)
    story.feed(IsrDelivered, key=key)
    story.feed(Acknowledged, acks=Acks.ALL, sent_at=story.at, base_offset=3, last_offset=3)
    assert not story.refused()


def test_an_acknowledged_record_may_be_of_an_epoch_that_nobody_has_seen_applied() -> None:
    story = with_records("3.4.1")
    story.heard(1, 1, 1, (1, 2))
    story.feed(Acknowledged, acks=Acks.LEADER, sent_at=story.at, base_offset=3, last_offset=3)
    story.heard(2, 1, 1, (1, 2))
    story.fetch(2, 1, 3, 3, (1, 3, 3), epoch=1, last_fetched_epoch=0)
    assert not story.refused()
