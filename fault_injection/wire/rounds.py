"""Which fetch rounds did the followers make, as the gate saw them?

A round is one FETCH of one follower for one partition together with its answer, both let through. The last
fetch offset let through is what the leader knows as the follower's log end offset; no probe shows that
number, so it is derived here. A leader counts a fetch that it has read: one that it answers with an error was not
counted, and what was known before it stands. Its answer shows that as soon as it comes, whether it goes on or is held.
Whether a leader counts one that it answers with a diverging epoch, releases differ (KAFKA-13141) and no frame shows:
both numbers are told.

Source: ReplicaManager.updateFollowerFetchState, from 3.3 on Partition.fetchRecords.
"""

from collections import deque
from dataclasses import dataclass, replace

from fault_injection.wire.points import ObservedRequest, fetch_kind
from fault_injection.wire.views import (
    DivergingEpochView,
    FetchedPartition,
    FetchPartition,
    FetchRequestView,
    FetchResponseView,
)

ROUNDS_MAX = 512

PartitionOnLink = tuple[int | None, int, str, int]
"""Follower, leader, topic (its id while the name is not learned), partition."""


@dataclass(frozen=True, slots=True)
class Round:
    """One finished fetch round; times are monotonic nanoseconds at the gate.

    Attributes:
        follower: who fetched; None if it was not identified.
        leader: whom it asked.
        topic: the topic's name, or its id while the name is not learned.
        partition: the partition's index.
        fetch_offset: where the follower's log ended.
        current_leader_epoch: the follower's, -1 before v9.
        last_fetched_epoch: the follower's, -1 before v12.
        request_arrived_ns: when the request reached the gate.
        request_forwarded_ns: when it went on to the leader.
        response_arrived_ns: when the answer reached the gate.
        response_forwarded_ns: when it went on to the follower.
        error: of the partition, or the top-level one.
        high_watermark: the leader's.
        record_bytes: how many bytes of records the answer carried.
        first_offset: of the records; None without records.
        last_offset: of the records; None without records.
        diverging_epoch: set when the leader told the follower to truncate (v12+).
    """

    follower: int | None
    leader: int
    topic: str
    partition: int
    fetch_offset: int
    current_leader_epoch: int
    last_fetched_epoch: int
    request_arrived_ns: int
    request_forwarded_ns: int
    response_arrived_ns: int
    response_forwarded_ns: int
    error: int
    high_watermark: int
    record_bytes: int
    first_offset: int | None
    last_offset: int | None
    diverging_epoch: DivergingEpochView | None

    @property
    def numbers(self) -> tuple[int, int, int]:
        """Fetch offset, high watermark and leader epoch: the same again and again at rest."""
        return self.fetch_offset, self.high_watermark, self.current_leader_epoch

    @property
    def is_empty(self) -> bool:
        """Return whether the answer had neither records nor an error nor a divergence."""
        return self.record_bytes == 0 and self.error == 0 and self.diverging_epoch is None


@dataclass(frozen=True, slots=True)
class _Known:
    """What a leader knows as a follower's log end offset, and what it may know instead."""

    offset: int | None
    diverging: int | None = None


class Rounds:
    """Keeps the last ``ROUNDS_MAX`` rounds of every partition on every link; the caller brings the lock."""

    def __init__(self, rounds_max: int = ROUNDS_MAX) -> None:
        self._rounds_max = rounds_max
        self._finished: dict[PartitionOnLink, deque[Round]] = {}
        self._in_flight: dict[tuple[int, int], tuple[ObservedRequest, FetchRequestView, int]] = {}
        self._known: dict[PartitionOnLink, _Known] = {}
        self._known_before: dict[PartitionOnLink, _Known] = {}

    def on_forwarded(self, request: ObservedRequest, now_ns: int) -> None:
        """Note that a request goes to its leader now."""
        if not isinstance(request.view, FetchRequestView) or fetch_kind(request) != "data":
            return
        self._in_flight[request.connection, request.correlation_id] = (request, request.view, now_ns)
        for asked in request.view.partitions:
            key = _key(request, asked)
            self._known_before[key] = self._known.get(key, _Known(None))
            self._known[key] = _Known(asked.fetch_offset)

    def on_response_arrived(self, request: ObservedRequest, response: FetchResponseView) -> None:
        """Note what an answer says, before anybody decides about it: a leader counts no fetch it refuses."""
        known = self._in_flight.get((request.connection, request.correlation_id))
        if known is None:
            return
        given = {(entry.topic_id or entry.topic, entry.partition): entry for entry in response.partitions}
        for asked in known[1].partitions:
            answer = given.get((asked.topic_id or asked.topic, asked.partition))
            key = _key(request, asked)
            if response.error or (answer is not None and answer.error):
                self._known[key] = self._known_before.get(key, _Known(None))
            elif answer is not None and answer.diverging_epoch is not None:
                before = self._known_before.get(key, _Known(None))
                self._known[key] = replace(before, diverging=asked.fetch_offset)

    def on_response_forwarded(
        self, request: ObservedRequest, response: FetchResponseView, arrived_ns: int, now_ns: int
    ) -> None:
        """Note that the answer to a request goes to its follower now."""
        known = self._in_flight.pop((request.connection, request.correlation_id), None)
        if known is None:
            return
        _, view, forwarded_ns = known
        given = {(entry.topic_id or entry.topic, entry.partition): entry for entry in response.partitions}
        for asked in view.partitions:
            answer = given.get((asked.topic_id or asked.topic, asked.partition))
            key = _key(request, asked)
            finished = self._finished.setdefault(key, deque(maxlen=self._rounds_max))
            times = (request.arrived_ns, forwarded_ns, arrived_ns, now_ns)
            finished.append(_round(key, asked, answer, response.error, times))

    def connection_lost(self, connection: int) -> None:
        """Forget the requests whose answers will never come."""
        for key in [key for key in self._in_flight if key[0] == connection]:
            del self._in_flight[key]

    def leader_lost(self, leader: int) -> None:
        """Forget what a broker knew as its followers' log end offsets: its process ended."""
        for known in (self._known, self._known_before):
            for key in [key for key in known if key[1] == leader]:
                del known[key]

    def rounds_since(
        self, time_ns: int, *, topic: str | None = None, partition: int | None = None, follower: int | None = None
    ) -> tuple[Round, ...]:
        """Return the finished rounds whose request arrived at or after a monotonic time, oldest first."""
        chosen = (
            fetch_round
            for key, finished in self._finished.items()
            if topic in (None, key[2]) and partition in (None, key[3]) and follower in (None, key[0])
            for fetch_round in finished
            if fetch_round.request_arrived_ns >= time_ns
        )
        return tuple(sorted(chosen, key=lambda fetch_round: fetch_round.request_arrived_ns))

    def last_forwarded_fetch_offset(self, follower: int, leader: int, topic: str, partition: int) -> int | None:
        """Return the last fetch offset let through: what the leader knows as the follower's log end offset."""
        return self._known.get((follower, leader, topic, partition), _Known(None)).offset

    def diverging_fetch_offset(self, follower: int, leader: int, topic: str, partition: int) -> int | None:
        """Return what the leader knows instead if it counted the last fetch, answered with a diverging epoch."""
        return self._known.get((follower, leader, topic, partition), _Known(None)).diverging

    def in_flight(self) -> tuple[ObservedRequest, ...]:
        """Return the fetches that are at their leader or whose answer is held, e.g. parked ones."""
        return tuple(request for request, _, _ in self._in_flight.values())


def _key(request: ObservedRequest, asked: FetchPartition) -> PartitionOnLink:
    return request.source, request.destination, asked.topic or str(asked.topic_id), asked.partition


def _round(
    key: PartitionOnLink,
    asked: FetchPartition,
    answer: FetchedPartition | None,
    error: int,
    times: tuple[int, int, int, int],
) -> Round:
    return Round(
        *key,
        asked.fetch_offset,
        asked.current_leader_epoch,
        asked.last_fetched_epoch,
        *times,
        error=error or (answer.error if answer is not None else 0),
        high_watermark=answer.high_watermark if answer is not None else -1,
        record_bytes=answer.record_bytes if answer is not None else 0,
        first_offset=answer.first_offset if answer is not None else None,
        last_offset=answer.last_offset if answer is not None else None,
        diverging_epoch=answer.diverging_epoch if answer is not None else None,
    )
