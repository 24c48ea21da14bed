"""Does a leader whose followers are puppets tell them, and move its numbers, as the model of its release does?"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from fault_injection.puppets.client import LATEST_TIMESTAMP, ListedOffset
from oracle.vocabulary import Acks, LeaderEpoch, Offset
from tests.integration.puppets.model import entries_of
from tests.integration.puppets.stage import Stage

if TYPE_CHECKING:
    from fault_injection.puppets.leader import LeaderPuppet

pytestmark = [pytest.mark.broker, pytest.mark.timeout(120)]

OFFSET_NOT_AVAILABLE = 78
REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS = 7, 19


def test_the_high_watermark_is_the_lowest_end_offset_of_the_in_sync_replicas(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2, 3))
    stage.append("a", "b", "c")
    for follower, offset in ((2, 0), (3, 0), (2, 2), (3, 1), (3, 2), (2, 3)):
        stage.fetch(follower, offset, 5)
    stage.fetch(3, 3, 5)  # may not wait: the answer has the old high watermark
    stage.fetch(3, 3, 5, parks=True)  # read again when its time is over: the answer has the new one


def test_a_replica_joins_the_in_sync_replicas_when_it_has_caught_up(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2))
    stage.append("a", "b")
    stage.fetch(2, 1, 5)
    stage.fetch(3, 0, 5)
    stage.fetch(3, 1, 5)
    stage.lead(6, isr=(1, 2))  # the epoch starts at 2, the high watermark is 1
    stage.fetch(3, 1, 6)
    stage.fetch(3, 2, 6)


def test_a_follower_in_another_epoch_is_fenced(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2, 3))
    stage.append("a", "b")
    for epoch in (4, 6, 5):
        stage.fetch(2, 2, epoch)
        stage.fetch(3, 1, epoch)
        if stage.has_release(2, 1):
            told = stage.followers[2].end_of_epoch(stage.topic, 5, current_leader_epoch=epoch)
            assert (told.error == 0) is stage.rules.serves_epoch(LeaderEpoch(epoch), LeaderEpoch(5))


def test_a_leader_tells_where_epochs_end(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2, 3))
    stage.append("a", "b")
    stage.lead(7, isr=(1, 2, 3))
    stage.append("c")
    if not stage.has_release(0, 11):
        return
    for epoch in (3, 5, 6, 7, 8):
        expected = stage.rules.truncation.end_offset_for(stage.model.replica.log, LeaderEpoch(epoch))
        told = stage.followers[2].end_of_epoch(stage.topic, epoch)
        assert (told.error, told.end_offset) == (0, -1 if expected.end_offset is None else expected.end_offset)
        if expected.leader_epoch is not None:
            assert told.leader_epoch == expected.leader_epoch


def test_a_fetch_of_a_diverging_log_is_told_where(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2))
    stage.append("a", "b")
    stage.lead(7, isr=(1, 2))
    stage.append("c")
    for offset, last_epoch in ((3, 6), (3, 5), (2, 5), (4, 7), (3, 7)):
        stage.fetch(2, offset, 7, last_epoch=last_epoch)


def test_a_new_leader_tells_the_latest_offset_as_its_release_does(
    stage: Stage, leaders: dict[int, LeaderPuppet]
) -> None:
    stage.follow(leaders[2], 5, entries_of((5, "abc")), high_watermark=1)
    stage.lead(6, isr=(1, 3))
    starts_at = Offset(stage.model.log_end_offset)
    for fetch_offset in (1, 3):
        stage.fetch(3, fetch_offset, 6)
        high_watermark = stage.model.numbers[1]
        tells = stage.rules.tells_latest_offset(Offset(high_watermark), starts_at)
        told = stage.run.client.list_offset(stage.topic, LATEST_TIMESTAMP)
        assert told == (ListedOffset(0, high_watermark) if tells else ListedOffset(OFFSET_NOT_AVAILABLE, -1))


def test_with_too_few_in_sync_replicas_a_leader_refuses_or_does_not_commit(stage: Stage) -> None:
    with closing(Stage(stage.run, "below-minimum", stage.rules, min_insync_replicas=2)) as below:
        below.lead(5, isr=(1,))
        below.append("a")  # acks=1: visible up to 3.6, from 3.7 the high watermark stands still (KAFKA-15583)
        assert below.model.append("x", Acks.ALL) == "NOT_ENOUGH_REPLICAS"
        assert stage.run.client.append(below.topic, b"x", acks=-1)[0] == NOT_ENOUGH_REPLICAS
        below.agree()
        below.fetch(2, 1, 5)
        below.append("b")


def test_a_produce_that_no_follower_fetches_times_out_and_stays(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2))
    error, _ = stage.run.client.append(stage.topic, b"a", acks=-1, timeout_ms=50)

    assert error == REQUEST_TIMED_OUT
    assert stage.model.append("a", Acks.ALL) is None
    stage.agree()
    stage.fetch(2, 1, 5)
