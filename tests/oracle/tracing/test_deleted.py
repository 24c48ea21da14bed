"""What is known of a leader epoch cache once records were deleted? Asked of the replay, and of a log between bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.log import NO_EPOCH, UNDEFINED, EpochEnd, EpochEntry
from oracle.tracing.known_log import UNBOUNDED, EpochLog, KnownLog
from oracle.tracing.observed import BrokerEnded, BrokerStarted, DeletionRequested, ObservedEpochRun
from oracle.vocabulary import LeaderEpoch, Offset
from tests.oracle.tracing.story import with_records

if TYPE_CHECKING:
    from tests.oracle.tracing.story import Story

ZERO, ONE, TWO = map(LeaderEpoch, range(3))
ENDS = EpochEnd(ZERO, Offset(3))


def second_leader(version: str) -> Story:
    """Tell of broker 2, which leads in epoch 1 from offset 3 on, while broker 1 is down."""
    story = with_records(version, "zookeeper")
    story.led(2, 1, (2, 3))
    story.lookup(3, 2, 0, ENDS)
    story.fetch(3, 2, 3, 3, (1, 3, 3), epoch=1)
    return story


@pytest.mark.parametrize("deleted_to", [0, 1, 3])
@pytest.mark.parametrize("says", [UNDEFINED, ENDS])
@pytest.mark.parametrize("version", ["2.0.0", "2.0.1"])
def test_up_to_2_0_0_an_epoch_whose_records_are_deleted_is_unknown(
    version: str, says: EpochEnd, deleted_to: int
) -> None:
    story = second_leader(version)
    story.fetch(3, 2, 4, 4, epoch=1, log_start_offset=deleted_to)
    story.led(2, 1, (2, 3), 1)
    story.lookup(1, 2, 0, says)
    is_unknown = version == "2.0.0" and deleted_to == 3
    assert bool(story.refused()) is ((says == UNDEFINED) is not is_unknown)


def _killed_leader_that_cuts_its_epoch(*, deletes: int, tells: int | None) -> Story:
    """Tell of broker 2, killed as leader of epoch 1 from offset 3 on: its epoch is cut when it follows again."""
    story = with_records("2.8.2", "zookeeper")
    story.led(2, 1, (2, 3))
    story.fetch(3, 2, 3, 3, (1, 3, 3), epoch=1, last_fetched_epoch=0)
    story.feed(DeletionRequested, offset=deletes)
    story.led(2, 1, (2, 3), 1)
    story.feed(BrokerEnded, broker=2, clean=False)
    story.led(1, 2, (1,), 1, 3)
    story.feed(BrokerStarted, broker=2)
    story.led(1, 2, (1,), 2)
    story.fetch(2, 1, 4, 3, epoch=2, last_fetched_epoch=1, diverging_epoch=ENDS, key=story.key(9))
    story.sent(2, 1, 3, epoch=2, last_fetched_epoch=tells, key=story.key(9))
    return story


def test_a_leader_that_was_asked_to_delete_records_may_have_no_other_epoch_left() -> None:
    assert not _killed_leader_that_cuts_its_epoch(deletes=3, tells=None).refused()
    assert not _killed_leader_that_cuts_its_epoch(deletes=3, tells=0).refused(), "the deletion may not be on its disk"
    refused = _killed_leader_that_cuts_its_epoch(deletes=2, tells=None).refused()
    assert refused == "24: broker 2 tells no epoch of its last record", "a record of epoch 0 is left"


def log(end: int, *epochs: tuple[LeaderEpoch, int]) -> EpochLog:
    return EpochLog(epochs=tuple(EpochEntry(epoch, Offset(start)) for epoch, start in epochs), end=Offset(end))


def starts(known: KnownLog) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    low, high = ([(entry.leader_epoch, entry.start_offset) for entry in one.epochs] for one in (known.low, known.high))
    return low, high


def test_a_log_without_epochs_begins_later_all_the_same() -> None:
    (begun,) = KnownLog(log(2), log(4)).starting_at(Offset(3))
    assert (begun.low.end, begun.high.end, starts(begun)) == (3, 4, ([], []))
    assert begun.starting_at(Offset(3)) == (begun,)


def test_an_epoch_that_begins_after_the_log_stays_where_it_is() -> None:
    (begun,) = KnownLog(log(9, (ONE, 5)), log(9, (ONE, 6))).starting_at(Offset(2))
    assert starts(begun) == ([(1, 5)], [(1, 6)])


def test_each_epoch_in_which_the_log_may_begin_is_possible() -> None:
    known = KnownLog(log(9, (ZERO, 0), (ONE, 2), (TWO, 3)), log(UNBOUNDED, (ZERO, 0), (ONE, 5), (TWO, 7)))
    assert [starts(begun) for begun in known.starting_at(Offset(3))] == [
        ([(0, 3), (1, 4), (2, 4)], [(0, 3), (1, 5), (2, 7)]),
        ([(1, 3), (2, 4)], [(1, 3), (2, 7)]),
        ([(2, 3)], [(2, 3)]),
    ]


@pytest.mark.parametrize(
    ("epoch", "first", "last", "may"),
    [(ZERO, 0, 2, True), (ZERO, 2, 3, False), (ONE, 2, 4, True), (ONE, 3, 4, True), (TWO, 2, 5, False)],
)
def test_records_before_the_start_may_be_of_any_earlier_epoch(
    epoch: LeaderEpoch, first: int, last: int, *, may: bool
) -> None:
    bounds = log(9, (ZERO, 0), (ONE, 2), (TWO, 5))
    (begun,) = KnownLog(bounds, bounds).starting_at(Offset(3))
    run = ObservedEpochRun(epoch, Offset(first), Offset(last))
    assert begun.may_hold(run) is may
    if may:
        assert begun.holding(run) == begun


def test_a_cut_below_the_start_forgets_that_it_was_forgotten() -> None:
    (begun,) = KnownLog(log(5, (ONE, 2)), log(5, (ONE, 2))).starting_at(Offset(3))
    (cut,) = begun.cut_to(Offset(1))
    assert (cut.low.forgotten, cut.low.latest_epoch) == (1, NO_EPOCH)


def test_a_killed_broker_with_an_empty_cache_may_read_the_epoch_of_deleted_records_again() -> None:
    (read,) = KnownLog(log(2), log(4)).with_epoch_read_again(ONE)
    assert (read.low.end, read.high.end, starts(read)) == (2, 4, ([(1, 0)], [(1, 3)]))
    assert not KnownLog(log(2, (ZERO, 0)), log(4, (ZERO, 1))).with_epoch_read_again(ONE)
    assert not KnownLog(log(0), log(0)).with_epoch_read_again(ONE)
    assert not KnownLog(log(2), log(4)).with_epoch_read_again(NO_EPOCH)
