"""Are possibilities few, also where nearly nothing fits? And is a partition left open, with its reason, that has many?

``recorded/soaked`` has one partition of a soak of 0.10.2.2 whose leaders were killed: its batches carry no epochs, so
that by the rules of 0.11 nothing tells where the epoch begins in which a leader appends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.rules.by_version import rules_for
from oracle.trace_check import TraceCheck, TraceSettings
from oracle.tracing.committed import final_log
from oracle.tracing.known_log import EpochLog, KnownLog
from oracle.tracing.observed import Acknowledged, BrokerEnded, BrokerStarted
from oracle.tracing.possibility import Possibility, fetching_at, truncated
from oracle.tracing.replica import POSSIBLE_MAX
from oracle.vocabulary import Acks, MetadataMode, Offset, RangeFate
from tests.oracle.tracing.recording import recording
from tests.oracle.tracing.story import PARTITION, Story, with_records
from tests.oracle.tracing.test_committed import log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.tracing.partition_replay import PartitionReplay

SOAKED = "soaked/0.10.2.2-zookeeper-leaders-killed"
FEW = 8


def replayed(version: str, metadata: str) -> Iterator[tuple[TraceCheck, PartitionReplay]]:
    """Yield the replay of the soaked partition by the rules of a release, after each event that is about it."""
    check = TraceCheck(rules_for(version, MetadataMode(metadata)), TraceSettings(2), enforced=())
    for event in recording(SOAKED).events:
        check.feed(event)
        for partition in check.partitions.values():
            yield check, partition


@pytest.mark.parametrize(
    ("version", "metadata"),
    [("0.10.2.2", "zookeeper"), ("0.11.0.3", "zookeeper"), ("2.0.1", "zookeeper"), ("4.4.0", "kraft")],
)
def test_possibilities_stay_few_by_the_rules_of_any_release(version: str, metadata: str) -> None:
    many = [len(one.possible) for _, partition in replayed(version, metadata) for one in partition.replicas]
    assert max(many) <= FEW
    *_, (check, _) = replayed(version, metadata)
    assert check.finish().left_open == {}


def test_without_what_one_covers_left_out_they_would_be_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Possibility, "covers", lambda _, __: False)
    *_, (check, partition) = replayed("0.11.0.3", "zookeeper")
    (why,) = check.finish().left_open.values()
    assert f"more than {POSSIBLE_MAX} possibilities of what the replica of broker 1 may be (frame " in why
    assert partition.replicas == ()


def test_a_log_covers_what_its_bounds_leave_room_for() -> None:
    wide = KnownLog(log((0, 0), (1, 4), end=5), log((0, 0), (1, 9), end=20))
    narrow = KnownLog(log((0, 0), (1, 6), end=8), log((0, 0), (1, 7), end=20))
    assert wide.covers(wide)
    assert wide.covers(narrow)
    assert not narrow.covers(wide)
    assert not wide.covers(KnownLog(narrow.low, log((0, 0), (1, 10), end=20)))
    assert not wide.covers(KnownLog(log((0, 0), end=8), log((0, 0), end=20)))
    assert not wide.covers(KnownLog(log((0, 0), (2, 6), end=8), log((0, 0), (2, 7), end=20)))
    bare = KnownLog(EpochLog(end=Offset(8), forgotten=Offset(3)), EpochLog(end=Offset(8), forgotten=Offset(3)))
    assert not KnownLog(log(end=8), log(end=8)).covers(bare)


def test_a_possibility_covers_none_that_differs_in_more_than_its_log() -> None:
    one = Possibility(log=KnownLog(log(end=0), log(end=9)))
    other = Possibility(log=KnownLog(log(end=2), log(end=9)))
    assert one.covers(other)
    assert not other.covers(one)
    assert not one.covers(Possibility(log=other.log, truncating=True))


def undecided() -> Story:
    """Tell of a follower that hears of more leaders than are followed, and says nothing."""
    story = with_records()
    for epoch in range(1, POSSIBLE_MAX + 2):
        story.heard(3, 1 + epoch % 2, epoch, (1, 2, 3))
    story.feed(Acknowledged, acks=Acks.LEADER, sent_at=story.at, leader=1, base_offset=3, last_offset=7)
    story.sent(3, 1, 3)
    return story


def test_a_partition_with_too_many_possibilities_is_left_open_with_its_reason() -> None:
    story = undecided()
    report = story.check.finish()
    assert report.violation is None
    assert report.left_open == {
        PARTITION: f"more than {POSSIBLE_MAX} possibilities of what the replica of broker 3 may be"
    }
    (replay,) = story.check.partitions.values()
    assert replay.replicas == ()
    final = final_log(replay)
    assert final.why_open == report.left_open[PARTITION]
    assert [(one.first, one.last, one.fate) for one in final.spans()] == [(0, 7, RangeFate.EITHER)]
    assert {one.fate for one in final.fates(frozenset({0}), Offset(0), Offset(2))} == {RangeFate.EITHER}  # type: ignore[arg-type]


def test_what_comes_after_is_noted_by_its_end_alone() -> None:
    story = undecided()
    story.led(1, 0, (1, 2, 3))
    story.feed(BrokerEnded, broker=2, clean=False)
    story.feed(BrokerStarted, broker=2)
    story.fetch(2, 1, 8, 8, (0, 8, 11))
    story.feed(Acknowledged, acks=Acks.LEADER, sent_at=story.at, leader=1)
    story.sent(3, 1, 99)
    (replay,) = story.check.partitions.values()
    assert replay.replicas == ()
    assert (replay.shown, story.violation) == (12, None)


def test_a_partition_of_which_nothing_was_seen_is_left_open_without_a_span() -> None:
    story = Story()
    story.heard(3, 1, 0, (1, 2, 3))
    for epoch in range(1, POSSIBLE_MAX + 2):
        story.heard(3, 1 + epoch % 2, epoch, (1, 2, 3))
    story.sent(3, 1, 0)
    (replay,) = story.check.partitions.values()
    assert replay.left_open is not None
    assert list(final_log(replay).spans()) == []


def ends_at(replica: Possibility, offset: int) -> set[KnownLog]:
    """Return what the log of a follower is that fetches from an offset."""
    return {one.log for one in fetching_at(replica, Offset(offset))}


def exactly(*epochs: tuple[int, int], end: int) -> KnownLog:
    return KnownLog(log(*epochs, end=end), log(*epochs, end=end))


def test_a_cut_that_nobody_saw_moves_no_beginning_of_an_epoch() -> None:
    whole = Possibility(log=exactly((0, 0), (2, 6), end=10))
    (cut,) = truncated(whole, Offset(0), Offset(10))
    assert cut.log.low.end == 0
    assert ends_at(cut, 8) == {exactly((0, 0), (2, 6), end=8)}
    assert ends_at(cut, 6) == {exactly((0, 0), end=6)}
    (again,) = truncated(cut, Offset(0), Offset(9))
    assert ends_at(again, 7) == {exactly((0, 0), (2, 6), end=7)}
    (seen,) = truncated(again, Offset(0), Offset(0))
    assert (seen.log, seen.uncut) == (exactly(end=0), None)


def test_a_log_that_is_another_one_by_now_is_not_what_was_cut() -> None:
    (cut,) = truncated(Possibility(log=exactly((0, 0), (2, 6), end=10)), Offset(0), Offset(10))
    assert cut.with_log(exactly((0, 0), end=3)).uncut is None
    assert ends_at(cut.with_log(exactly((0, 0), end=3)), 3) == {exactly((0, 0), end=3)}
