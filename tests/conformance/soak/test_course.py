"""Is the course of a soak what its events say, and small however many there are?"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from conformance.record.directory import RunDirectory, as_text
from conformance.record.soak_course import BUCKETS_MAX, STATES_MAX, LedState, SoakCourse, read_course
from conformance.soak.course import Course, fewer
from conformance.soak.predicting import predict_soak
from oracle.tracing.observed import (
    Acknowledged,
    Event,
    FetchAnswered,
    FetchSent,
    IsrAnnounced,
    LeadershipHeard,
    ObservedEpochRun,
    RequestKey,
    TopicPartition,
)
from oracle.vocabulary import Acks, BrokerId, LeaderEpoch, Offset
from tests.conformance.soak.soaks import soak

if TYPE_CHECKING:
    from pathlib import Path

S = 1_000_000_000
CONNECTION = {1: 10, 2: 20, 3: 30}
"""On which a broker answers its followers."""


def _place(number: int = 0) -> TopicPartition:
    return TopicPartition("soak", number)


def _state(at_s: float, leader: int | None, epoch: int, isr: tuple[int, ...], number: int = 0) -> IsrAnnounced:
    return IsrAnnounced(
        at=int(at_s * S),
        partition=_place(number),
        leader=None if leader is None else BrokerId(leader),
        leader_epoch=LeaderEpoch(epoch),
        isr=tuple(map(BrokerId, isr)),
        replicas=(BrokerId(1), BrokerId(2), BrokerId(3)),
    )


def _asked(at_s: float, leader: int, offset: int) -> FetchSent:
    key = RequestKey(CONNECTION[leader], 1)
    return FetchSent(
        at=int(at_s * S), partition=_place(), key=key, follower=BrokerId(3), leader=BrokerId(leader),
        fetch_offset=Offset(offset), api_version=4,
    )  # fmt: skip


def _given(at_s: float, leader: int, last: int, watermark: int) -> FetchAnswered:
    runs = (ObservedEpochRun(LeaderEpoch(0), Offset(0), Offset(last)),)
    key = RequestKey(CONNECTION[leader], 1)
    return FetchAnswered(
        at=int(at_s * S), partition=_place(), key=key, error=0, high_watermark=Offset(watermark), runs=runs
    )


def _acknowledged(at_s: float, leader: int, first: int, last: int) -> Acknowledged:
    ends = {"base_offset": Offset(first), "last_offset": Offset(last)}
    return Acknowledged(at=int(at_s * S), partition=_place(), acks=Acks.LEADER, leader=BrokerId(leader), **ends)


def _course(*events: Event, lasts_s: float = 2.0, partitions: int = 1) -> SoakCourse:
    course = Course(soak(partitions=partitions, ended_ns=int(lasts_s * S) - 1))
    for event in events:
        course.feed(event)
    return course.course()


def test_what_is_sent_and_acknowledged_is_in_the_bucket_of_its_time() -> None:
    course = Course(soak(partitions=1, ended_ns=S))
    course.sent(7, 0)
    course.sent(5, S // 2)
    course.feed(_acknowledged(0.6, 1, 0, 4))
    told = course.course()

    assert told.sent[:4] == (7, 0, 5, 0)
    assert told.acknowledged[:4] == (0, 0, 5, 0)
    assert told.bucket_s == 0.25


def test_a_lag_is_the_log_beyond_the_watermark_and_stands_until_it_is_gone() -> None:
    told = _course(_state(0, 1, 0, (1, 2, 3)), _asked(0.05, 1, 10), _given(0.1, 1, 99, 10), _given(1.0, 1, 99, 100))

    assert told.lag[:5] == (90, 90, 90, 90, 90), "in the bucket in which it ends it is still the greatest"
    assert told.lag[5:] == (0, 0, 0)


def test_what_an_old_leader_says_is_no_lag() -> None:
    told = _course(
        _state(0, 1, 0, (1, 2, 3)), _asked(0, 1, 0), _given(0.1, 1, 9, 10), _state(0.3, 2, 1, (1, 2, 3)),
        _acknowledged(0.4, 2, 10, 999), _asked(0.5, 2, 1000), _given(0.6, 2, 999, 1000), _given(0.7, 1, 9, 3),
        _asked(0.8, 1, 10),
    )  # fmt: skip

    assert told.lag == (0,) * 8, "nor does a new leader lag by its whole log before it has told its high watermark"


def test_a_partition_is_out_of_sync_without_a_replica_or_a_leader_and_late_news_changes_nothing() -> None:
    told = _course(
        _state(0, 1, 0, (1, 2, 3)), _state(0, 2, 0, (1, 2, 3), 1), _state(0.3, 1, 0, (1, 2)),
        _state(0.6, None, 1, (1,), 1), _state(1.1, 1, 1, (1, 2, 3)), _state(1.2, 1, 0, (1,)), partitions=2,
    )  # fmt: skip

    assert told.out_of_sync == (0, 1, 2, 2, 2, 1, 1, 1)
    assert [one.isr for one in told.partitions[0].states] == [(1, 2, 3), (1, 2), (1, 2, 3)]


def test_a_soak_of_a_day_has_no_more_buckets_than_a_picture() -> None:
    course = Course(soak(partitions=1, ended_ns=86_400 * S))
    for second in range(0, 86_400, 60):
        course.sent(1_000, second * S)
    told = course.course()

    assert BUCKETS_MAX // 2 <= len(told.sent) <= BUCKETS_MAX
    assert sum(told.sent) == 1_440_000
    assert told.seconds == pytest.approx(86_400, rel=0.01)


def test_a_flapping_leader_of_many_partitions_leaves_a_small_file() -> None:
    changes = (
        _state(at, 1 + at % 3, at, (1, 2, 3)[: 1 + at % 3], number) for at in range(900) for number in range(200)
    )
    told = _course(*changes, lasts_s=900, partitions=200)

    assert sum(len(one.states) for one in told.partitions) <= STATES_MAX
    assert sum(one.states for one in told.partitions[0].states) == 900
    assert len(as_text(told)) < 10**6


def test_states_that_are_one_have_the_isr_that_held_in_all_of_them() -> None:
    numbers = count()
    states = [LedState(0.1 * next(numbers), 1, 0, isr) for isr in ((1, 2, 3), (1, 3), (1, 2, 3))]

    assert fewer(states, 3) == states
    assert fewer(states, 1) == [LedState(0.0, 1, 0, (1, 3), states=3)]


def test_who_leads_is_also_heard_from_the_controllers_word_to_a_broker() -> None:
    heard = LeadershipHeard(
        at=S, partition=_place(), broker=BrokerId(2), leader=BrokerId(2), leader_epoch=LeaderEpoch(4),
        isr=(BrokerId(3), BrokerId(2)), replicas=(BrokerId(1), BrokerId(2), BrokerId(3)), partition_epoch=9,
    )  # fmt: skip

    assert _course(heard).partitions[0].states == (LedState(1.0, 2, 4, (2, 3)),)


def test_predicting_writes_the_course_though_there_is_no_trace(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    frozen = predict_soak(run, soak(ended_ns=S))

    assert frozen.why_not is not None
    told = read_course(run)
    assert told is not None
    assert (told.seconds, sum(told.sent), len(told.partitions)) == (1.25, 0, 3)
