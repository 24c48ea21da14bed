"""What does a trace check make of situations that no recorded run shows? One short story each."""

from __future__ import annotations

import pytest

from oracle.log import EpochEnd
from oracle.tracing.invariants import Invariant
from oracle.tracing.observed import (
    Acknowledged,
    BrokerEnded,
    BrokerStarted,
    CheckpointLost,
    FetchAnswered,
    FetchDelivered,
    FetchReceived,
    IsrAnnounced,
    IsrAnswered,
    IsrDelivered,
    IsrProposed,
    LeadershipApplied,
    LookupReceived,
    LookupSent,
    MinIsrSet,
    Refused,
    ReplicaMeasured,
    ReplicaStopped,
    TailLost,
)
from oracle.vocabulary import Acks
from tests.oracle.tracing.story import Story


def with_records(kafka: str = "4.3.1", metadata: str = "kraft", records: int = 3, **settings: int) -> Story:
    """Tell of a partition of brokers 1 to 3 that all have the first records, led by broker 1."""
    story = Story(kafka, metadata, **settings)
    story.led(1, 0, (1, 2, 3))
    epoch = 0 if story.speech.tells_epoch or story.speech.lookup else None
    for follower in (2, 3):
        if story.rules.truncation.asks_without_epochs:
            story.lookup(follower, 1, -1, EpochEnd(None, None))
        story.fetch(follower, 1, 0, 0, (epoch, 0, records - 1))
    story.fetch(2, 1, records, 0)
    story.fetch(3, 1, records, records)
    story.fetch(2, 1, records, records)
    story.fetch(3, 1, records, records)
    assert not story.refused()
    return story


def test_a_check_says_what_it_has_seen() -> None:
    story = with_records()
    report = story.check.finish()
    assert report.is_allowed
    assert report.partitions == 1
    assert report.events["FetchSent"] == 6
    assert report.held[Invariant.FETCH_OFFSET] > 0


def test_after_a_violation_nothing_is_replayed() -> None:
    story = with_records()
    story.fetch(2, 1, 7, 3)
    assert story.refused() == "16: broker 2 fetches from 7 of broker 1"
    events = sum(story.check.finish().events.values())
    story.fetch(2, 1, 9, 3)
    report = story.check.finish()
    assert report.violation is story.violation
    assert sum(report.events.values()) == events + 4
    assert not report.is_allowed


def test_a_violation_reads_as_a_sentence() -> None:
    story = with_records()
    story.sent(2, 1, 7, frame=42)
    assert str(story.violation) == (
        "broker 2 fetches from 7 of broker 1 (frame 42); allowed: from its log end offset, 3 "
        "[invariant 16, fetch offset; truncate-on-fetch]"
    )


def test_a_partition_that_was_there_before_is_not_followed() -> None:
    story = Story()
    story.heard(1, 1, 5, (1, 2))
    story.fetch(2, 1, 700, 900)
    report = story.check.finish()
    assert report.is_allowed
    assert report.partitions == 0
    assert len(report.not_followed) == 1


def test_requests_from_before_the_trace_are_passed_over() -> None:
    story = with_records()
    unknown = story.key()
    for kind in (FetchReceived, LookupReceived, FetchDelivered, IsrDelivered):
        story.feed(kind, key=unknown)
    story.feed(FetchAnswered, key=unknown, error=0, high_watermark=99)
    story.feed(IsrAnswered, key=unknown, error=0)
    assert not story.refused()


def test_requests_that_nobody_answers_are_forgotten() -> None:
    story = with_records()
    for _ in range(300):
        story.sent(2, 1, 3)
    assert not story.refused()


def test_a_deleted_partition_can_be_created_anew() -> None:
    story = with_records()
    story.feed(IsrAnnounced, leader=None, leader_epoch=0, isr=(1, 2, 3), replicas=(1, 2, 3), partition_epoch=0)
    story.fetch(2, 1, 3, -1, error=3)
    story.led(1, 0, (1, 2, 3))
    story.fetch(2, 1, 0, 0)
    assert not story.refused()


def test_a_replica_that_is_taken_away_begins_anew() -> None:
    story = with_records()
    story.feed(ReplicaStopped, broker=3, is_deleted=False)
    story.fetch(3, 1, 3, 3)
    story.feed(ReplicaStopped, broker=3, is_deleted=True)
    story.fetch(3, 1, 3, 3)
    story.led(1, 1, (1, 2, 3), 3)
    story.fetch(3, 1, 0, -1, error=75, epoch=1)
    assert not story.refused()


def test_who_is_down_hears_nothing() -> None:
    story = with_records()
    story.feed(BrokerEnded, broker=3, clean=False)
    story.heard(3, 2, 7, (2,))
    story.feed(BrokerStarted, broker=3)
    story.led(1, 0, (1, 2), 3)
    story.fetch(3, 1, 3, 3, key=story.key(30))
    assert not story.refused()


def test_a_broker_that_ends_before_it_has_a_replica() -> None:
    story = with_records()
    story.feed(BrokerEnded, broker=9, clean=True)
    story.feed(BrokerStarted, broker=9)
    assert not story.refused()


def test_requests_of_an_earlier_life_are_passed_over() -> None:
    story = with_records()
    story.feed(BrokerEnded, broker=3, clean=False)
    story.sent(3, 1, 99)
    assert not story.refused()


def test_a_lost_tail_moves_the_end() -> None:
    story = with_records()
    story.feed(BrokerEnded, broker=3, clean=False)
    story.feed(TailLost, broker=3, offset=1)
    story.feed(BrokerStarted, broker=3)
    story.led(1, 0, (1, 2), 3)
    story.sent(3, 1, 3, key=story.key(30))
    assert story.refused() == "16: broker 3 fetches from 3 of broker 1"


@pytest.mark.parametrize(("is_lost", "end"), [(False, 3), (True, 0)])
def test_a_lost_checkpoint_cuts_everything_where_the_high_watermark_decides(*, is_lost: bool, end: int) -> None:
    story = with_records("0.10.2.2", "zookeeper")
    story.feed(BrokerEnded, broker=3, clean=True)
    if is_lost:
        story.feed(CheckpointLost, broker=3)
    story.feed(BrokerStarted, broker=3)
    story.led(1, 0, (1, 2), 3)
    story.sent(3, 1, end, key=story.key(30))
    assert not story.refused()
    story.sent(3, 1, 2, key=story.key(30))
    assert story.refused()


def test_a_clean_end_keeps_the_high_watermark_exactly() -> None:
    story = with_records("0.10.2.2", "zookeeper")
    story.feed(BrokerEnded, broker=3, clean=True)
    story.feed(BrokerStarted, broker=3)
    story.led(1, 0, (1, 2), 3)
    story.sent(3, 1, 2, key=story.key(30))
    assert story.refused() == "16: broker 3 fetches from 2 of broker 1"


def test_a_decision_that_was_refused_is_never_applied() -> None:
    story = with_records("3.9.2", "zookeeper")
    first, second = story.key(100), story.key(100)
    story.heard(3, 2, 1, (2, 3), key=first)
    story.heard(3, 1, 2, (1, 3), key=second)
    story.feed(LeadershipApplied, broker=3, key=first, error=11)
    story.feed(LeadershipApplied, broker=3, key=story.key(), error=11)
    story.feed(LeadershipApplied, broker=3, key=story.key())
    story.sent(3, 2, 3, epoch=1, last_fetched_epoch=0)
    assert story.refused() == "24: broker 3 fetches of broker 2 in epoch 1"


def test_nobody_follows_while_nobody_leads() -> None:
    story = with_records()
    story.led(None, 1, (1,), 2)  # type: ignore[arg-type]
    story.sent(2, 1, 3, epoch=1, last_fetched_epoch=0)
    assert story.refused() == "24: broker 2 fetches of broker 1 in epoch 1"
    assert story.violation is not None
    assert story.violation.allowed == "nothing, as nobody leads"


def test_a_request_that_was_made_before_the_last_decision_may_come_late_once() -> None:
    story = with_records("3.9.2", "zookeeper")
    story.led(1, 1, (1, 2, 3), 2)
    story.sent(2, 1, 3, epoch=0)
    assert not story.refused()
    story.sent(2, 1, 3, epoch=0)
    assert story.refused() == "24: broker 2 fetches of broker 1 in epoch 0"


def test_a_lookup_that_was_made_before_the_last_decision_may_come_late() -> None:
    story = with_records("2.4.1", "zookeeper")
    story.led(2, 1, (2, 3), 3)
    story.led(2, 2, (2, 3), 3)
    key = story.key(3)
    version = story.speech.lookup[-1]
    story.feed(LookupSent, key=key, follower=3, leader=2, epoch=0, current_leader_epoch=1, api_version=version)
    assert not story.refused()


def test_a_leader_that_follows_clamps_its_high_watermark() -> None:
    story = with_records()
    story.led(2, 1, (2, 3), 1, 2, 3)
    story.sent(1, 2, 3, epoch=1, last_fetched_epoch=0, key=story.key(9))
    story.feed(ReplicaMeasured, broker=1, since=story.at, log_end_offset=3, high_watermark=3)
    assert not story.refused()
    story.feed(ReplicaMeasured, broker=1, since=story.at, log_end_offset=3, high_watermark=2)
    assert story.refused() == "21: broker 1 high watermark is 2"


def test_a_measurement_may_lack_a_number() -> None:
    story = with_records()
    for broker in (1, 2):
        story.feed(ReplicaMeasured, broker=broker, since=story.at)
    assert not story.refused()


def test_a_measurement_of_long_ago_is_compared_from_above_only() -> None:
    story = with_records()
    for offset in range(3, 80):
        for follower in (2, 3):
            story.fetch(follower, 1, offset, offset - 1 if offset > 3 else 3, (0, offset, offset))
    assert not story.refused()
    story.feed(ReplicaMeasured, broker=1, since=0, high_watermark=1)
    assert not story.refused()


@pytest.mark.parametrize(("offset", "log_start", "is_allowed"), [(3, 0, False), (3, 5, True)])
def test_out_of_range_takes_an_offset_out_of_the_range(offset: int, log_start: int, *, is_allowed: bool) -> None:
    story = with_records()
    story.fetch(2, 1, 3, 3, log_start_offset=log_start)
    story.fetch(2, 1, offset, -1, error=1)
    assert bool(story.refused()) is not is_allowed


@pytest.mark.parametrize("offset", [1, 5])
def test_who_is_out_of_range_cuts_or_begins_anew(offset: int) -> None:
    story = with_records()
    story.fetch(2, 1, 3, 3, log_start_offset=5)
    story.fetch(2, 1, 3, -1, error=1)
    story.sent(2, 1, offset, last_fetched_epoch=0 if offset < 3 else None)
    assert not story.refused()


def test_another_error_changes_nothing_at_the_follower() -> None:
    story = with_records()
    story.fetch(2, 1, 3, -1, error=56)
    story.fetch(2, 1, 3, 3)
    assert not story.refused()


def test_a_lookup_that_fails_is_asked_again() -> None:
    story = with_records("2.4.1", "zookeeper")
    story.led(2, 1, (2, 3))
    story.lookup(3, 2, 0, EpochEnd(None, None), error=56, current_leader_epoch=1)
    story.lookup(3, 2, 0, EpochEnd(0, 3), current_leader_epoch=1)
    story.fetch(3, 2, 3, 3, epoch=1)
    assert not story.refused()


def test_another_leader_than_the_asked_one_leads_now() -> None:
    story = with_records()
    key = story.sent(3, 1, 3)
    story.feed(FetchReceived, key=key)
    story.led(2, 1, (2, 3), 2, 3)
    story.answered(key, 3)
    story.sent(3, 2, 3, epoch=1, last_fetched_epoch=0)
    assert not story.refused()


@pytest.mark.parametrize(("kafka", "is_dropped"), [("3.9.0", False), ("3.9.2", True)])
def test_an_answer_from_an_earlier_epoch_is_dropped_where_the_release_does(kafka: str, *, is_dropped: bool) -> None:
    story = with_records(kafka)
    key = story.sent(3, 1, 3)
    story.feed(FetchReceived, key=key)
    story.led(1, 1, (1, 2, 3), 3)
    story.answered(key, 3, (0, 3, 3))
    story.sent(3, 1, 4, epoch=1, last_fetched_epoch=0)
    assert bool(story.refused()) is is_dropped


@pytest.mark.parametrize("kafka", ["2.1.0", "2.4.1"])
def test_a_lookup_from_an_earlier_epoch_is_dropped_where_the_release_does(kafka: str) -> None:
    story = with_records(kafka, "zookeeper")
    story.led(2, 1, (2, 3))
    key = story.key(3)
    version = story.speech.lookup[-1]
    story.feed(LookupSent, key=key, follower=3, leader=2, epoch=0, current_leader_epoch=1, api_version=version)
    story.feed(LookupReceived, key=key)
    story.led(2, 2, (2, 3), 3)
    story.lookup_answered(key, EpochEnd(0, 3))
    story.sent(3, 2, 3, epoch=2)
    assert bool(story.refused()) is (kafka == "2.4.1")


def test_a_diverging_fetch_is_not_recorded() -> None:
    story = with_records()
    story.heard(2, 2, 1, (2,))
    story.heard(3, 2, 1, (2,))
    story.feed(Acknowledged, acks=Acks.LEADER, sent_at=story.at, base_offset=3, last_offset=3)
    story.heard(1, 2, 1, (2,))
    story.fetch(1, 2, 5, 3, diverging_epoch=EpochEnd(0, 3), epoch=1, last_fetched_epoch=0, key=story.key(9))
    story.fetch(1, 2, 3, 3, (1, 3, 3), epoch=1, last_fetched_epoch=0, key=story.key(9))
    assert not story.refused()


def test_who_tells_no_epoch_cannot_diverge() -> None:
    story = with_records()
    story.led(1, 1, (1, 2, 3), 1, 2)
    story.fetch(2, 1, 3, 3, diverging_epoch=EpochEnd(0, 3), epoch=1, last_fetched_epoch=0)
    assert "17" in story.refused()
    other = Story("2.7.2", "zookeeper")
    other.led(1, 0, (1, 2))
    other.fetch(2, 1, 0, 0, diverging_epoch=EpochEnd(0, 0))
    assert other.violation is not None
    assert other.violation.allowed == "nothing, as the follower told no epoch"


def test_a_zombie_leader_does_not_serve_a_follower_of_the_next_epoch() -> None:
    story = with_records()
    story.led(2, 1, (2, 3), 3)
    story.fetch(3, 2, 3, -1, error=75, epoch=1, last_fetched_epoch=0)
    assert not story.refused()


def test_a_leader_serves_no_follower_of_another_epoch() -> None:
    story = with_records()
    story.led(1, 1, (1, 2, 3), 2)
    story.fetch(2, 1, 3, 3, epoch=1, last_fetched_epoch=0)
    assert "18" in story.refused()


def test_an_unassigned_follower_may_be_told_so() -> None:
    story = with_records()
    story.heard(4, 1, 0, (1, 2, 3), replicas=(1, 2, 3, 4))
    story.fetch(4, 1, 0, -1, error=75)
    assert not story.refused()


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
        ("4.4.0", 19, True, True),
    ],
)
def test_a_release_speaks_its_own_version(kafka: str, version: int, *, is_own: bool, is_allowed: bool) -> None:
    story = Story(kafka, has_own_protocol=is_own)
    story.led(1, 0, (1, 2, 3))
    story.sent(2, 1, 0, api_version=version)
    assert bool(story.refused()) is not is_allowed


@pytest.mark.parametrize("kafka", ["2.8.0", "4.3.1", "4.4.0"])
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
