"""What does a trace check make of brokers that come and go, and of decisions they hear? One short story each."""

from __future__ import annotations

import pytest

from oracle.rules.by_version import rules_for
from oracle.tracing.invariants import Invariant
from oracle.tracing.observed import (
    BrokerEnded,
    BrokerStarted,
    CheckpointLost,
    FetchAnswered,
    FetchDelivered,
    FetchReceived,
    IsrAnnounced,
    IsrAnswered,
    IsrDelivered,
    LeadershipApplied,
    LeadershipHeard,
    LookupReceived,
    ReplicaStopped,
    TailLost,
)
from oracle.tracing.replica import TracedReplica
from oracle.vocabulary import BrokerId, LeaderEpoch, MetadataMode
from tests.oracle.tracing.story import PARTITION, Story, with_records


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


@pytest.mark.parametrize("epoch", [0, 1])
@pytest.mark.parametrize(("replicas", "is_allowed"), [((1, 2), True), ((1, 2, 3), False)])
def test_a_broker_that_hears_that_it_has_no_replica_begins_anew(
    replicas: tuple[int, ...], epoch: int, *, is_allowed: bool
) -> None:
    """Hunt on 4.4.0, seed 7, schedule 38: a leader that a reassignment had removed was assigned again."""
    story = with_records()
    for told in (replicas, (1, 2, 3)):
        story.led(1, epoch, (1, 2), replicas=told)
    story.fetch(3, 1, 0, 3, (0, 0, 3), epoch=epoch, last_fetched_epoch=None)
    assert bool(story.refused()) is not is_allowed


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


def test_with_zookeeper_a_follower_goes_on_asking_its_former_leader_while_nobody_leads() -> None:
    story = with_records("0.10.2.2", "zookeeper")
    story.led(None, 1, (1,), 2)  # type: ignore[arg-type]
    for _ in range(3):
        story.sent(2, 1, 3)
        assert not story.refused()
    story.sent(2, 3, 3)
    assert story.refused() == "24: broker 2 fetches of broker 3"


def test_a_stopped_replica_may_be_unknown_to_its_broker() -> None:
    story = with_records()
    story.feed(ReplicaStopped, broker=1, is_deleted=False)
    story.fetch(3, 1, 3, -1, error=3)
    assert not story.refused()


def test_changes_of_the_isr_alone_do_not_add_up_to_more_that_a_replica_may_be() -> None:
    def told(epoch: int, replicas: tuple[int, ...] = (1, 2, 3)) -> LeadershipHeard:
        brokers = tuple(map(BrokerId, replicas))
        leader, leader_epoch = BrokerId(2), LeaderEpoch(epoch)
        return LeadershipHeard(
            at=1,
            partition=PARTITION,
            broker=BrokerId(1),
            leader=leader,
            leader_epoch=leader_epoch,
            isr=brokers,
            replicas=brokers,
        )

    replica = TracedReplica(BrokerId(1), rules_for("4.3.1", MetadataMode.KRAFT))
    for _ in range(50):
        replica.hear(told(0))
    assert len(replica.reachable()) == 2
    replica.keep(replica.reachable()[1:])
    for _ in range(50):
        replica.hear(told(0))
    assert len(replica.reachable()) == 1
    replica.hear(told(1))
    replica.hear(told(1, (2, 3)))
    assert len(replica.reachable()) == 3, "as before, in the next epoch, or without a replica"


@pytest.mark.parametrize(
    ("deleted_to", "clean", "told"), [(3, True, {-1}), (3, False, {-1, 0}), (2, True, {0}), (2, False, {0})]
)
@pytest.mark.parametrize("says", [-1, 0])
def test_a_follower_without_records_has_no_last_epoch_after_a_start(
    says: int, deleted_to: int, *, clean: bool, told: set[int]
) -> None:
    """Records are deleted up to the log's end, or one before it; the follower hears of it, ends and starts."""
    story = with_records()
    story.fetch(3, 1, 3, 3, log_start_offset=deleted_to)
    story.fetch(3, 1, 3, 3)
    story.feed(BrokerEnded, broker=3, clean=clean)
    story.feed(BrokerStarted, broker=3)
    story.led(1, 0, (1, 2), 3)
    story.sent(3, 1, 3, last_fetched_epoch=None if says < 0 else says, key=story.key(30))
    words = {
        -1: "24: broker 3 tells no epoch of its last record",
        0: "16: broker 3 tells 0 as the epoch of its last record",
    }
    assert story.refused() == ("" if says in told else words[says])


def test_a_leader_without_records_has_no_last_epoch_after_a_start() -> None:
    story = with_records()
    story.fetch(2, 1, 3, 3, log_start_offset=3)
    story.feed(BrokerEnded, broker=1, clean=True)
    story.feed(BrokerStarted, broker=1)
    story.led(2, 1, (1, 2, 3))
    story.sent(1, 2, 3, epoch=1, last_fetched_epoch=None, key=story.key(10))
    assert not story.refused()
