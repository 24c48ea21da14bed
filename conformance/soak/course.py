"""How does a soak go, over time? Noted event by event, beside the replay, in as many buckets as a picture can show.

The lag of a high watermark is what the wire shows of it: a leader's log end is the greatest offset that it has given to
a follower, acknowledged, or been asked for, less the high watermark of its last answer. What it has appended and nobody
has fetched yet is on no wire, and of a new leader nothing is known before it has answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.record.soak_course import (
    BUCKETS_MAX,
    STATES_MAX,
    STATES_OF_ONE,
    LedState,
    PartitionCourse,
    SoakCourse,
)
from oracle.tracing.observed import (
    Acknowledged,
    FetchAnswered,
    FetchSent,
    IsrAnnounced,
    IsrAnswered,
    LeadershipHeard,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from conformance.record.soak import Soak
    from oracle.tracing.observed import Event

NS = 1_000_000_000
FIRST_BUCKET_NS = NS // 4


class Buckets:
    """What happened in each stretch of time; all are twice as wide as soon as there are too many.

    Numbers that stand, such as a lag, are in a bucket as the greatest that they were in it.
    """

    def __init__(self, begins_ns: int) -> None:
        self.begins_ns, self.width_ns = begins_ns, FIRST_BUCKET_NS
        self.sent, self.acknowledged, self.lag, self.out_of_sync = [0], [0], [0], [0]
        self.ends_ns = begins_ns + self.width_ns

    def advance(self, at: int, lag: int, out_of_sync: int) -> None:
        """Go on to the bucket of a moment, to which the numbers stand as they are."""
        while at >= self.ends_ns:
            if len(self.sent) >= BUCKETS_MAX:
                self._widen()
                continue
            for counts, stands in self._columns(lag, out_of_sync):
                counts.append(stands)
            self.ends_ns += self.width_ns

    def _columns(self, lag: int, out_of_sync: int) -> tuple[tuple[list[int], int], ...]:
        return (self.sent, 0), (self.acknowledged, 0), (self.lag, lag), (self.out_of_sync, out_of_sync)

    def _widen(self) -> None:
        self.sent, self.acknowledged = _paired(self.sent, sum), _paired(self.acknowledged, sum)
        self.lag, self.out_of_sync = _paired(self.lag, max), _paired(self.out_of_sync, max)
        self.width_ns *= 2
        self.ends_ns = self.begins_ns + self.width_ns * len(self.sent)


def _paired(numbers: Sequence[int], joined: Callable[[Iterable[int]], int]) -> list[int]:
    return [joined(numbers[place : place + 2]) for place in range(0, len(numbers), 2)]


class Course:
    """Notes how one soak goes; fed with the events of its stream, and told of what is sent, in the order of time."""

    def __init__(self, soak: Soak) -> None:
        self._soak = soak
        self._buckets = Buckets(soak.began_ns)
        self._ends = [0] * soak.partitions
        self._watermarks: list[int | None] = [None] * soak.partitions
        self._lags = [0] * soak.partitions
        self._states: list[list[LedState]] = [[] for _ in range(soak.partitions)]
        self._versions = [(-1, -1)] * soak.partitions
        self._out: set[int] = set()
        self._answers: dict[int, int] = {}
        self._notes: Mapping[type, Callable[[Any], None]] = {
            FetchAnswered: self._answered,
            FetchSent: self._asked,
            Acknowledged: self._acknowledged,
            LeadershipHeard: self._told,
            IsrAnnounced: self._told,
            IsrAnswered: self._told,
        }

    def feed(self, event: Event) -> None:
        """Note an event, if it says something of the course."""
        note = self._notes.get(type(event))
        if note is not None:
            if event.at >= self._buckets.ends_ns:
                self._advance(event.at)
            note(event)

    def sent(self, count: int, at: int) -> None:
        """Note that records leave their producer."""
        if at >= self._buckets.ends_ns:
            self._advance(at)
        self._buckets.sent[-1] += count

    def _advance(self, at: int) -> None:
        self._buckets.advance(at, max(self._lags), len(self._out))

    def _asked(self, event: FetchSent) -> None:
        """Note who answers on a connection, and that a leader's log goes at least as far as its follower's."""
        self._answers[event.key.connection] = event.leader
        self._grown(event.partition.partition, event.leader, event.fetch_offset)

    def _answered(self, event: FetchAnswered) -> None:
        if event.error or not event.is_listed:
            return
        number, leader = event.partition.partition, self._answers.get(event.key.connection)
        if self._leads(number, leader):
            self._watermarks[number] = event.high_watermark
            self._grown(number, leader, event.runs[-1].last_offset + 1 if event.runs else 0)

    def _acknowledged(self, event: Acknowledged) -> None:
        if event.base_offset is not None and event.last_offset is not None:
            self._buckets.acknowledged[-1] += event.last_offset - event.base_offset + 1
            self._grown(event.partition.partition, event.leader, event.last_offset + 1)

    def _leads(self, number: int, broker: int | None) -> bool:
        """Return whether a broker leads a partition, as far as is known: an old leader's numbers are not the log's."""
        states = self._states[number]
        return not states or states[-1].leader == broker

    def _grown(self, number: int, leader: int | None, end: int) -> None:
        if not self._leads(number, leader):
            return
        self._ends[number] = end = max(end, self._ends[number])
        watermark = self._watermarks[number]
        if watermark is not None:
            self._lags[number] = lag = max(end - watermark, 0)
            self._buckets.lag[-1] = max(self._buckets.lag[-1], lag)

    def _told(self, event: LeadershipHeard | IsrAnnounced | IsrAnswered) -> None:
        """Note the state that a frame says a partition has, unless a later one is known."""
        number, epoch = event.partition.partition, event.leader_epoch
        if epoch is None or (version := (epoch, _version(event.partition_epoch))) < self._versions[number]:
            return
        states = self._states[number]
        at_s = round(max(event.at - self._soak.began_ns, 0) / NS, 3)
        state = LedState(at_s, event.leader, epoch, tuple(sorted(event.isr)))
        self._versions[number] = version
        if states and _same(states[-1], state):
            return
        if states and states[-1].leader != state.leader:
            self._ends[number], self._watermarks[number], self._lags[number] = 0, None, 0
        if states and states[-1].at_s == at_s:
            states.pop()
        states.append(state)
        self._count_out(number, state)

    def _count_out(self, number: int, state: LedState) -> None:
        is_out = state.leader is None or len(state.isr) < self._soak.replicas
        (self._out.add if is_out else self._out.discard)(number)
        self._buckets.out_of_sync[-1] = max(self._buckets.out_of_sync[-1], len(self._out))
        if len(self._states[number]) > 2 * self._kept:
            self._states[number] = fewer(self._states[number], self._kept)

    @property
    def _kept(self) -> int:
        """Return how many states are kept of one partition."""
        least, most = STATES_OF_ONE
        return min(max(STATES_MAX // max(self._soak.partitions, 1), least), most)

    def course(self) -> SoakCourse:
        """Return what was noted, to the end of the soak."""
        if self._soak.ended_ns is not None:
            self._advance(self._soak.ended_ns)
        buckets = self._buckets
        return SoakCourse(
            bucket_s=buckets.width_ns / NS,
            sent=tuple(buckets.sent),
            acknowledged=tuple(buckets.acknowledged),
            lag=tuple(buckets.lag),
            out_of_sync=tuple(buckets.out_of_sync),
            partitions=tuple(
                PartitionCourse(number, tuple(fewer(states, self._kept))) for number, states in enumerate(self._states)
            ),
        )


def _version(partition_epoch: int | None) -> int:
    return -1 if partition_epoch is None else partition_epoch


def _same(one: LedState, other: LedState) -> bool:
    return (one.leader, one.leader_epoch, one.isr) == (other.leader, other.leader_epoch, other.isr)


def fewer(states: Sequence[LedState], most: int) -> list[LedState]:
    """Return states of which each that lasts too short is one with the next; how short depends on how many may stay."""
    kept, least_s = list(states), FIRST_BUCKET_NS / NS
    while len(kept) > most:
        kept, least_s = _lasting(kept, least_s), 2 * least_s
    return kept


def _lasting(states: Sequence[LedState], least_s: float) -> list[LedState]:
    kept: list[LedState] = []
    for state in states:
        if kept and state.at_s - kept[-1].at_s < least_s:
            kept[-1] = _as_one(kept[-1], state)
        else:
            kept.append(state)
    return kept


def _as_one(one: LedState, other: LedState) -> LedState:
    isr = tuple(sorted(set(one.isr) & set(other.isr)))
    return LedState(one.at_s, other.leader, other.leader_epoch, isr, one.states + other.states)
