"""How is a question about fetch rounds measured? Each function makes one measure, from the frames of one link."""

from __future__ import annotations

from itertools import pairwise
from statistics import median_low
from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError
from conformance.notes import last_at, marks, measured_at
from conformance.record.timeline import Event
from conformance.stalls import NS_PER_MS
from conformance.wire_trace.fetches import fetch_rounds, reached_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from conformance.record.answers import Value
    from conformance.record.directory import RunDirectory
    from conformance.wire_trace.fetches import FetchRound

    Measure: TypeAlias = Callable[[RunDirectory], Value]


def last_offset_reported(checkpoint: str, follower: int, leader: int) -> Measure:
    """Measure the fetch offset that had reached the leader last when a checkpoint was measured."""

    def measure(run: RunDirectory) -> Value:
        rounds = fetch_rounds(run, follower=follower, leader=leader)
        reached = reached_between(rounds, 0, measured_at(run, checkpoint))
        if not reached:
            raise NotSeenError(f"no fetch of broker {follower} had reached broker {leader} at {checkpoint!r}")
        return reached[-1].fetch_offset

    return measure


def offset_caught(hold: str) -> Measure:
    """Measure the fetch offset in the frame that a hold caught."""

    def measure(run: RunDirectory) -> Value:
        return marks(run, Event.HOLD_CAUGHT, hold)[0].offset

    return measure


def requests_between(begin: str, end: str, follower: int, leader: int) -> Measure:
    """Measure the fetch offsets of the requests that reached the leader between two checkpoints."""

    def measure(run: RunDirectory) -> Value:
        rounds = fetch_rounds(run, follower=follower, leader=leader)
        times = measured_at(run, begin), measured_at(run, end)
        return [one.fetch_offset for one in reached_between(rounds, *times)]

    return measure


def records_delivered_before(checkpoint: str, leader: int, followers: Iterable[int], first: int) -> Measure:
    """Measure how many answers with records from an offset on had gone to any follower at a checkpoint."""

    def measure(run: RunDirectory) -> Value:
        end_ns = measured_at(run, checkpoint)
        rounds = [one for follower in followers for one in fetch_rounds(run, follower=follower, leader=leader)]
        return len([one for one in rounds if _delivered(one, end_ns) and (one.last_offset or -1) >= first])

    return measure


def _delivered(one: FetchRound, end_ns: int) -> bool:
    return one.delivered_ns is not None and one.delivered_ns < end_ns


def rounds_to_learn(offset: int, follower: int, leader: int) -> Measure:
    """Measure how many rounds there are from the answer with a record to the answer whose high watermark covers it."""

    def measure(run: RunDirectory) -> Value:
        rounds = _from_record(run, offset, follower, leader)
        for count, one in enumerate(rounds, start=1):
            if (one.high_watermark or 0) > offset:
                return count
        raise NotSeenError(f"no answer to broker {follower} carried a high watermark above {offset}")

    return measure


def high_watermark_with(offset: int, follower: int, leader: int) -> Measure:
    """Measure the high watermark in the answer that brings the record at an offset."""
    return lambda run: _from_record(run, offset, follower, leader)[0].high_watermark


def _from_record(run: RunDirectory, offset: int, follower: int, leader: int) -> list[FetchRound]:
    rounds = fetch_rounds(run, follower=follower, leader=leader)
    for index, one in enumerate(rounds):
        if one.last_offset is not None and one.fetch_offset <= offset <= one.last_offset:
            return rounds[index:]
    raise NotSeenError(f"no answer to broker {follower} carried the record at offset {offset}")


def median_answer_with(offsets: Iterable[int], follower: int, leader: int) -> Measure:
    """Measure the median time, in ms, that fetches at these offsets waited at the leader for their records."""

    def measure(run: RunDirectory) -> Value:
        return median_low(_waited_ms(_from_record(run, offset, follower, leader)[0]) for offset in offsets)

    return measure


def parked_before_sent(labels: Iterable[tuple[str, int]], follower: int, leader: int) -> Measure:
    """Measure how many records, each with its offset, were sent while a fetch at that offset waited at the leader.

    A producer may look for its leader for longer than that fetch waits: then a later one gets the record.
    """

    def measure(run: RunDirectory) -> Value:
        rounds = fetch_rounds(run, follower=follower, leader=leader)

        def was_parked(label: str, offset: int) -> bool:
            sent_ns = last_at(run, Event.RECORD_SENT, label)
            parked = (one for one in reached_between(rounds, 0, sent_ns) if one.fetch_offset == offset)
            return any(one.answered_ns is not None and sent_ns < one.answered_ns for one in parked)

        return sum(was_parked(label, offset) for label, offset in labels)

    return measure


def shortest_idle_wait(follower: int, leader: int) -> Measure:
    """Measure the shortest time, in ms, that a fetch with nothing to get was parked."""

    def measure(run: RunDirectory) -> Value:
        waits = [_waited_ms(one) for one in _idle(fetch_rounds(run, follower=follower, leader=leader))]
        if not waits:
            raise NotSeenError(f"no fetch of broker {follower} was answered without records and news")
        return min(waits)

    return measure


def _idle(rounds: list[FetchRound]) -> Iterator[FetchRound]:
    """Yield the answered rounds that brought neither records nor another high watermark than the one before them."""
    for before, one in pairwise(rounds):
        if one.error == 0 and one.last_offset is None and one.high_watermark == before.high_watermark:
            yield one


def _waited_ms(one: FetchRound) -> int:
    if one.reached_ns is None or one.answered_ns is None:
        raise NotSeenError(f"the fetch at {one.fetch_offset} was not answered")
    return (one.answered_ns - one.reached_ns) // NS_PER_MS
