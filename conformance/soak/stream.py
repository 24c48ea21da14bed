"""How do the wire and the timeline of a soak become one stream of events in the order of time?

As of a run (``conformance.observation.event_stream``), of several partitions. What producers were told is read from
their answers on the wire: the answer of a broker says where it appended a batch, and its frame which broker that was.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

from conformance.layout import TOLD_EVERY_S
from conformance.observation.frame_events import PRODUCE, FrameEvents, unreadable
from conformance.observation.run_events import BrokerLives, broker_events, in_time
from conformance.observation.wire_moments import WireMoment, WireMoments, request_key
from conformance.record.soak import WIRE_FILE
from conformance.record.timeline import read_timeline
from conformance.record.wire import BatchOfIds
from conformance.soak.open_batches import pieces
from conformance.wire_trace.partition import TopicOfInterest
from oracle.error_codes import error_name
from oracle.tracing.observed import (
    Acknowledged,
    BrokerEnded,
    BrokerStarted,
    MinIsrSet,
    Refused,
    TopicPartition,
)
from oracle.vocabulary import Acks, BrokerId, Offset

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.record.directory import RunDirectory
    from conformance.record.soak import Soak
    from conformance.record.wire import FrameEntry
    from oracle.tracing.observed import Event, RequestKey

Sent = Callable[[int, BatchOfIds, int], None]
"""Told of each batch that leaves a producer: its partition, its ids, and when."""


class SoakStream:
    """The events of one soak, to be gone through once.

    Args:
        run: the soak's directory.
        soak: of it.
        sent: told of each batch; None if nobody wants to know.

    Attributes:
        frames: the frames between nodes, with the numbers of those that were shown to the model.
        moments: all frames as they are read.
        produced: what producers sent, and were told.
    """

    def __init__(self, run: RunDirectory, soak: Soak, sent: Sent | None = None) -> None:
        self._soak = soak
        self._run = run
        self.frames = FrameEvents(soak.topic, soak.topic_id)
        self.moments = WireMoments(run.path / WIRE_FILE)
        self.produced = ProduceEvents(TopicOfInterest(soak.topic, soak.topic_id), soak.partitions, sent)
        self._lives = BrokerLives()

    def __iter__(self) -> Iterator[Event]:
        """Yield the events in the order of time.

        Raises:
            TraceUnreadableError: a file is missing, cut short or cannot be read.
        """
        for number in range(self._soak.partitions):
            partition = TopicPartition(self._soak.topic, number)
            yield MinIsrSet(at=0, partition=partition, min_insync_replicas=self._soak.min_insync_replicas)
        for item in heapq.merge(self._done(), self.moments, key=attrgetter("at")):
            if isinstance(item, WireMoment):
                yield from self._shown(item)
            elif isinstance(item, BrokerEnded):
                if self._lives.ended(item):
                    yield item
            elif self._lives.started(item):
                self.frames.broker_started(item.broker)
                yield item

    def _done(self) -> Iterator[BrokerEnded | BrokerStarted]:
        for at, mark in in_time(read_timeline(self._run, may_be_cut=True)):
            yield from broker_events(at, mark)

    def _shown(self, moment: WireMoment) -> Iterator[Event]:
        started = self._lives.shown_by(moment)
        if started is not None:
            self.frames.broker_started(started.broker)
            yield started
        if self._lives.is_stale(moment):
            return
        if moment.frame.api_key == PRODUCE:
            yield from self.produced.of(moment)
        else:
            yield from self.frames.of(moment)


Moment = TypeVar("Moment", "Event", WireMoment)
_LOOKED_AT = 1024
"""The clock is looked at once in so many events."""


def told_of(
    moments: Iterable[Moment], soak: Soak, tell: Callable[[str], None], done: str = "replayed", what: str = "events"
) -> Iterator[Moment]:
    """Yield the events or frames of a soak, and tell every few seconds how far they are: which time of it they are of.

    Args:
        moments: in the order of time.
        soak: whose beginning and end are known.
        tell: told in a line.
        done: what is done with them.
        what: they are, for the line.
    """
    began_s = told_s = time.monotonic()
    lasted = max((soak.ended_ns or soak.began_ns) - soak.began_ns, 1)
    for count, moment in enumerate(moments):
        if count % _LOOKED_AT == 0 and (now_s := time.monotonic()) - told_s >= TOLD_EVERY_S:
            told_s, part = now_s, min(max((moment.at - soak.began_ns) / lasted, 0.0), 1.0)
            left = f", some {(now_s - began_s) * (1 - part) / part:,.0f} s left" if part else ""
            tell(f"{done} {part:.0%} of the soak: {count:,} {what}, {count / (now_s - began_s):,.0f} a second{left}")
        yield moment


class ProduceEvents:
    """Turns Produce requests and their answers into what producers are told.

    Attributes:
        unplaced: how many batches were sent of which no answer has said where they are.
    """

    def __init__(self, topic: TopicOfInterest, step: int, sent: Sent | None) -> None:
        self._topic = topic
        self._step = step
        self._told_of = sent
        self._in_flight: dict[RequestKey, tuple[int, Acks, dict[TopicPartition, int]]] = {}
        self.unplaced = 0

    def of(self, moment: WireMoment) -> Iterator[Acknowledged | Refused]:
        """Return the events of one moment: those of an answer come when it has left its broker.

        Raises:
            TraceUnreadableError: the frame was not decoded.
        """
        frame = moment.frame
        if moment.is_delivery:
            return
        if frame.decoded is None:
            raise unreadable(moment, "was not decoded")
        if frame.direction == "request":
            counts = {p: entry.record_count for entry in frame.said.entries if (p := self._topic.partition_of(entry))}
            self._tell(moment)
            self.unplaced += len(counts)
            self._in_flight[request_key(frame)] = moment.at, Acks(frame.said.acks or 0), counts
            return
        asked = self._in_flight.pop(request_key(frame), None)
        if asked is not None:
            sent_at, acks, counts = asked
            for entry in frame.said.entries:
                partition = self._topic.partition_of(entry)
                if partition in counts:
                    self.unplaced -= not entry.error and entry.base_offset >= 0
                    yield _told(moment, entry, partition, sent_at, acks, counts[partition])

    def _tell(self, moment: WireMoment) -> None:
        if self._told_of is None:
            return
        for entry in moment.frame.said.entries:
            for batch in pieces(entry, self._step) if self._topic.partition_of(entry) is not None else ():
                self._told_of(entry.partition, batch, moment.at)


def _told(
    moment: WireMoment, entry: FrameEntry, partition: TopicPartition, sent_at: int, acks: Acks, count: int
) -> Acknowledged | Refused:
    leader = BrokerId(moment.frame.destination)
    if entry.error:
        name = error_name(entry.error)
        return Refused(
            at=moment.at, frame=moment.seq, partition=partition, acks=acks, error=name, sent_at=sent_at, leader=leader
        )
    is_placed = entry.base_offset >= 0
    return Acknowledged(
        at=moment.at,
        frame=moment.seq,
        partition=partition,
        acks=acks,
        sent_at=sent_at,
        leader=leader,
        base_offset=Offset(entry.base_offset) if is_placed else None,
        last_offset=Offset(entry.base_offset + count - 1) if is_placed else None,
    )
