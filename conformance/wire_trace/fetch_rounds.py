"""What did a follower ask its leader about the run's partition, and what was it answered?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.wire import EPOCH_LOOKUP, FETCH, FrameEntry, TracedFrame, frames_of
from conformance.wire_trace.fetches import exchanges
from conformance.wire_trace.partition import is_about, topic_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.record.directory import RunDirectory
    from conformance.wire_trace.partition import TopicOfInterest


@dataclass(frozen=True, slots=True)
class FetchRound:
    """A follower's fetch and the answer to it, as far as they came.

    Attributes:
        max_wait_ms: how long the follower lets the leader park it.
        sent_ns: when the request came to the gate.
        reached_ns: when it went on to the leader; None if it never did.
        answered_ns: when the answer came to the gate; None if none came.
        delivered_ns: when the answer went on to the follower; None if it never did.
        high_watermark: the one in the answer.
        last_offset: that of the last record in the answer; None without records.
        diverging_end: where the answer says that the follower's last epoch ends (KIP-595); None if it does not.
    """

    fetch_offset: int
    max_wait_ms: int
    sent_ns: int
    reached_ns: int | None
    answered_ns: int | None = None
    delivered_ns: int | None = None
    error: int | None = None
    high_watermark: int | None = None
    last_offset: int | None = None
    diverging_end: int | None = None


@dataclass(frozen=True, slots=True)
class EpochLookup:
    """An answered OffsetsForLeaderEpoch; -1 stands for no epoch and for an end that the leader cannot tell."""

    leader_epoch: int
    end_offset: int
    sent_ns: int


def fetch_rounds(run: RunDirectory, *, follower: int, leader: int) -> list[FetchRound]:
    """Return the fetches of the run's partition on one link, in the order in which they were sent."""
    return [
        _round(request, asked, answer, told) for request, asked, answer, told in _asked(run, FETCH, follower, leader)
    ]


def epoch_lookups(run: RunDirectory, *, follower: int, leader: int) -> list[EpochLookup]:
    """Return the lookups on one link that were answered without an error, in the order in which they were sent."""
    return [
        EpochLookup(asked.leader_epoch, told.end_offset, request.arrived_ns)
        for request, asked, _, told in _asked(run, EPOCH_LOOKUP, follower, leader)
        if told is not None and told.error == 0
    ]


def reached_between(rounds: Iterable[FetchRound], begin_ns: int, end_ns: int) -> list[FetchRound]:
    """Return the rounds whose request reached the leader within a time."""
    return [one for one in rounds if one.reached_ns is not None and begin_ns < one.reached_ns < end_ns]


def _asked(
    run: RunDirectory, api: str, follower: int, leader: int
) -> Iterator[tuple[TracedFrame, FrameEntry, TracedFrame | None, FrameEntry | None]]:
    """Yield (request, what it asks of the partition, answer, what that tells of it)."""
    frames = frames_of(run)
    topic = topic_of(run, frames)
    link = (frame for frame in frames if frame.api == api and frame.is_between(follower, leader))
    for request, answer in exchanges(link):
        asked = _entry(request, topic)
        if asked is not None:
            yield request, asked, answer, None if answer is None else _entry(answer, topic)


def _entry(frame: TracedFrame, topic: TopicOfInterest) -> FrameEntry | None:
    return next((entry for entry in frame.entries() if is_about(entry, topic)), None)


def _round(request: TracedFrame, asked: FrameEntry, answer: TracedFrame | None, told: FrameEntry | None) -> FetchRound:
    about = (asked.fetch_offset, request.said.max_wait_ms, request.arrived_ns, request.forwarded_ns)
    if answer is None or told is None:
        return FetchRound(*about)
    epochs, diverging = told.epochs, told.diverging_epoch
    return FetchRound(
        *about,
        answered_ns=answer.arrived_ns,
        delivered_ns=answer.forwarded_ns,
        error=told.error,
        high_watermark=told.high_watermark,
        last_offset=epochs[-1].last_offset if epochs else None,
        diverging_end=diverging.end_offset if diverging else None,
    )
