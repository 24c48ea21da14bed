"""A fetcher builds a request under its lock and sends it without: which of them may come late, and how often?"""

from __future__ import annotations

import pytest

from oracle.log import EpochEnd
from oracle.tracing.observed import BrokerEnded, BrokerStarted, FetchAnswered, FetchReceived, LookupSent
from tests.oracle.tracing.story import with_records


def test_a_request_that_was_made_before_the_last_decision_may_come_late_once() -> None:
    story = with_records("3.9.2", "zookeeper")
    story.led(1, 1, (1, 2, 3), 2)
    story.sent(2, 1, 3, epoch=0)
    assert not story.refused()
    story.sent(2, 1, 3, epoch=0)
    assert story.refused() == "24: broker 2 fetches of broker 1 in epoch 0"


def test_a_request_to_the_former_leader_may_come_after_the_first_to_the_new_one_once() -> None:
    story = with_records("2.8.2", "zookeeper")
    story.led(2, 1, (2, 3), 2, 3)
    first = story.sent(3, 2, 3, epoch=1, last_fetched_epoch=0)
    story.sent(3, 1, 3, epoch=0)
    assert not story.refused()
    story.feed(FetchReceived, key=first)
    story.answered(first, 3)
    story.sent(3, 2, 3, epoch=1, last_fetched_epoch=0)
    assert not story.refused()
    story.sent(3, 1, 3, epoch=0)
    assert story.refused() == "24: broker 3 fetches of broker 1 in epoch 0"


@pytest.mark.parametrize(("seconds", "is_allowed"), [(0.4, True), (0.6, False)])
def test_a_late_request_comes_no_later_than_a_stall_explains(seconds: float, is_allowed: bool) -> None:
    """Its time begins with the first request to the new leader, however many follow."""
    story = with_records("2.8.2", "zookeeper")
    story.led(2, 1, (2, 3), 2, 3)
    for _ in range(10):
        key = story.sent(3, 2, 3, epoch=1, last_fetched_epoch=0)
        story.feed(FetchReceived, key=key)
        story.answered(key, 3)
        story.wait(seconds / 10)
    story.sent(3, 1, 3, epoch=0)
    assert story.refused() == ("" if is_allowed else "24: broker 3 fetches of broker 1 in epoch 0")


def test_the_time_for_a_late_request_begins_anew_with_each_decision() -> None:
    story = with_records("2.8.2", "zookeeper")
    story.led(2, 1, (2, 3), 2, 3)
    story.sent(3, 2, 3, epoch=1, last_fetched_epoch=0)
    story.wait(1)
    story.led(1, 2, (2, 3), 1, 3)
    story.sent(3, 1, 3, epoch=2, last_fetched_epoch=0)
    story.sent(3, 2, 3, epoch=1, last_fetched_epoch=0)
    assert not story.refused()


def test_with_kraft_too_each_leader_has_a_fetcher_of_its_own() -> None:
    story = with_records()
    story.heard(3, 2, 1, (2, 3))
    story.sent(3, 2, 3, epoch=1, last_fetched_epoch=0)
    story.sent(3, 1, 3)
    assert not story.refused()
    story.sent(3, 1, 3)
    assert story.refused() == "24: broker 3 fetches of broker 1 in epoch 0"


def test_a_late_request_tells_the_end_that_its_follower_had() -> None:
    story = with_records()
    story.heard(3, 2, 1, (2, 3))
    story.sent(3, 2, 3, epoch=1, last_fetched_epoch=0)
    story.sent(3, 1, 2)
    assert story.refused() == "24: broker 3 fetches of broker 1 in epoch 0"


def test_a_lookup_that_was_made_before_the_last_decision_may_come_late() -> None:
    story = with_records("2.4.1", "zookeeper")
    story.led(2, 1, (2, 3), 3)
    story.led(2, 2, (2, 3), 3)
    key = story.key(3)
    version = story.speech.lookup[-1]
    story.feed(LookupSent, key=key, follower=3, leader=2, epoch=0, current_leader_epoch=1, api_version=version)
    assert not story.refused()


@pytest.mark.parametrize(
    ("kafka", "error", "is_allowed"), [("4.3.1", 6, True), ("4.3.1", 0, False), ("3.6.2", 0, True)]
)
def test_a_fetch_of_an_earlier_start_is_refused_where_it_no_longer_counts(
    kafka: str, error: int, *, is_allowed: bool
) -> None:
    """KAFKA-15221: it comes to its leader after its sender was killed and started again."""
    story = with_records(kafka, "kraft")
    key = story.sent(3, 1, 3)
    story.feed(BrokerEnded, broker=3, clean=False)
    story.feed(BrokerStarted, broker=3)
    story.feed(FetchReceived, key=key)
    story.feed(FetchAnswered, key=key, high_watermark=3, runs=(), error=error)
    assert story.refused() == ("" if is_allowed else "18: broker 1 answers broker 3 with error 0")


def test_a_leader_knows_no_start_of_who_is_down_and_looks_at_none_where_logs_diverge() -> None:
    """Two runs of a cover on 4.4.0 with late fetches: Replica.updateFetchStateOrThrow compares with who is unfenced."""
    for is_down, diverging, is_allowed in ((True, None, True), (False, EpochEnd(0, 2), True), (False, None, False)):
        story = with_records()
        key = story.sent(3, 1, 3)
        story.feed(BrokerEnded, broker=3, clean=False)
        story.feed(BrokerStarted, broker=3)
        if is_down:
            story.feed(BrokerEnded, broker=3, clean=False)
        story.feed(FetchReceived, key=key)
        story.feed(FetchAnswered, key=key, high_watermark=3, runs=(), error=0, diverging_epoch=diverging)
        assert ("answers broker 3 with error 0" not in story.refused()) is is_allowed


@pytest.mark.parametrize("is_received", [True, False])
def test_a_fetch_that_reaches_the_leader_before_its_decision_may_be_handled_after_it(*, is_received: bool) -> None:
    story = with_records()
    story.heard(2, 3, 1, (3,))
    key = story.sent(2, 3, 3, epoch=1, last_fetched_epoch=0)
    if is_received:
        story.feed(FetchReceived, key=key)
    story.heard(3, 3, 1, (3,))
    story.alter_isr(3, 1, (2, 3))
    assert story.refused() == ("" if is_received else "19: leader 3 adds broker 2 to the ISR")
