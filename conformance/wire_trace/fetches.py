"""Which fetches did the followers make, on which connections, for all partitions, and what were they given?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from conformance.record.wire import EPOCH_LOOKUP, FETCH, FrameEntry, TracedFrame, frames_of
from conformance.wire_trace.partition import is_about, topic_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from conformance.record.directory import RunDirectory
    from conformance.wire_trace.partition import TopicOfInterest

Partition = tuple[str, int]
"""A topic and the index of one of its partitions."""

CLIENT_ID = re.compile(r"(?:broker-\d+-fetcher-(\d+)|ReplicaFetcherThread-(\d+)-\d+)")
"""How a fetcher names itself: by its thread's name on 0.10.2, by broker and fetcher from 0.11 on."""


@dataclass(frozen=True, slots=True)
class FollowerFetch:
    """One fetch of a follower.

    Attributes:
        follower: who fetches.
        leader: whom it asks.
        connection: the number of the connection.
        fetcher: which of the follower's fetchers to that leader it is; None if it names itself otherwise.
        arrived_ns: when the request reached the gate, monotonic.
        asked: the partitions, in the order of the request.
        given: how many records each partition gave that gave any; empty while no answer came.
        offsets: at which offset each partition is asked for, in the order of ``asked``.
    """

    follower: int
    leader: int
    connection: int
    fetcher: int | None
    arrived_ns: int
    asked: tuple[Partition, ...]
    given: tuple[tuple[Partition, int], ...] = ()
    offsets: tuple[int, ...] = ()

    def offset(self, partition: Partition) -> int:
        """Return the offset at which a partition is asked for that is."""
        return self.offsets[self.asked.index(partition)]


def fetches(run: RunDirectory, topic_ids: Mapping[str, str]) -> tuple[FollowerFetch, ...]:
    """Read the followers' fetches from a run's finished trace, in the order of their arrival.

    Args:
        run: the run.
        topic_ids: the name of each topic id that the gate had not learned in time.
    """
    followed = (frame for frame in frames_of(run) if _is_fetch(frame))
    return tuple(
        _fetch(request.source, request, answer, topic_ids)
        for request, answer in exchanges(followed)
        if request.source is not None
    )


def _is_fetch(frame: TracedFrame) -> bool:
    return frame.api == FETCH and frame.link == "replication" and frame.outcome != "held" and bool(frame.said)


def _fetch(
    follower: int, request: TracedFrame, answer: TracedFrame | None, topic_ids: Mapping[str, str]
) -> FollowerFetch:
    asked, given = request.said.entries, answer.said.entries if answer is not None else ()
    return FollowerFetch(
        follower,
        request.destination,
        request.connection,
        fetcher_of(request.client_id or ""),
        request.arrived_ns,
        tuple(_partition(entry, topic_ids) for entry in asked),
        tuple((_partition(e, topic_ids), _records(e)) for e in given if e.record_bytes > 0),
        tuple(entry.fetch_offset for entry in asked),
    )


def fetcher_of(client_id: str) -> int | None:
    """Return which fetcher a client id names; None if it names none."""
    named = CLIENT_ID.fullmatch(client_id)
    return None if named is None else int(named.group(1) or named.group(2))


def _partition(entry: FrameEntry, topic_ids: Mapping[str, str]) -> Partition:
    topic = entry.topic or topic_ids.get(entry.topic_id or "", "?")
    return topic, entry.partition


def _records(entry: FrameEntry) -> int:
    runs = entry.epochs
    return sum(
        run.last_offset - (run.last_offset if run.first_offset is None else run.first_offset) + 1 for run in runs
    )


def between(followed: Iterable[FollowerFetch], begin_ns: int, end_ns: int) -> Iterator[FollowerFetch]:
    """Return the fetches that arrived in a time."""
    return (fetch for fetch in followed if begin_ns <= fetch.arrived_ns < end_ns)


# Which answer belongs to which request? The two share the connection and a correlation id.


class RequestAndAnswer(NamedTuple):
    """A request and the answer to it; None if none came."""

    request: TracedFrame
    answer: TracedFrame | None


def exchanges(frames: Iterable[TracedFrame]) -> list[RequestAndAnswer]:
    """Return the requests among some frames with their answers, in the order of the requests."""
    requests, answers = [], {}
    for frame in frames:
        if frame.direction == "request":
            requests.append(frame)
        else:
            answers[frame.connection, frame.correlation_id] = frame
    return [
        RequestAndAnswer(request, answers.get((request.connection, request.correlation_id))) for request in requests
    ]


# What did a follower ask its leader about the run's partition, and what was it answered?


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
