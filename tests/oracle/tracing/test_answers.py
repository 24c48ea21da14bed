"""What does a trace check make of answers and measurements? One short story each."""

from __future__ import annotations

import pytest

from oracle.log import EpochEnd
from oracle.tracing.observed import (
    Acknowledged,
    FetchReceived,
    LookupReceived,
    LookupSent,
    ReplicaMeasured,
)
from oracle.vocabulary import Acks
from tests.oracle.tracing.story import Story, with_records


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


@pytest.mark.parametrize(
    ("version", "has_others", "is_allowed"),
    [("0.10.2.2", True, True), ("0.11.0.3", True, True), ("0.10.2.2", False, False), ("1.0.2", True, False)],
)
def test_up_to_0_11_one_partition_of_an_unknown_replica_fails_the_whole_fetch(
    version: str, *, has_others: bool, is_allowed: bool
) -> None:
    story = with_records(version, "zookeeper")
    story.fetch(2, 1, 3, -1, error=-1, has_others=has_others)
    assert bool(story.refused()) is not is_allowed


@pytest.mark.parametrize(("known", "is_allowed"), [((1, 2), True), ((1, 2, 3), False)])
def test_who_was_a_stranger_when_its_fetch_came_may_be_refused(known: tuple[int, ...], *, is_allowed: bool) -> None:
    """Hunt on 4.4.0, seed 7, schedule 32: the leader heard of the new replica between its fetch and the answer."""
    story = Story()
    story.led(1, 0, (1, 2), 1, 2, replicas=known)
    story.led(1, 0, (1, 2), 3, replicas=(1, 2, 3))
    key = story.sent(3, 1, 0)
    story.feed(FetchReceived, key=key)
    story.led(1, 0, (1, 2), 1, replicas=(1, 2, 3))
    story.answered(key, -1, error=75)
    assert bool(story.refused()) is not is_allowed


def test_a_leader_may_not_have_applied_yet_who_is_assigned() -> None:
    """Between a decision's delivery and its application a new replica is refused, and a removed one is not yet."""
    new = Story()
    new.led(1, 0, (1, 2), 1, 2, replicas=(1, 2))
    new.heard(1, 1, 0, (1, 2), replicas=(1, 2, 3))
    new.led(1, 0, (1, 2), 3, replicas=(1, 2, 3))
    key = new.sent(3, 1, 0)
    new.feed(FetchReceived, key=key)
    new.answered(key, -1, error=75)
    assert not new.refused()
    removed = with_records()
    removed.heard(1, 1, 0, (1, 2), replicas=(1, 2))
    removed.fetch(3, 1, 3, 3)
    key = removed.sent(3, 1, 3)
    removed.feed(FetchReceived, key=key)
    removed.answered(key, -1, error=75)
    assert not removed.refused()


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
