"""How do the files of one run become one stream of events in the order of time?

Frames, the tester's notes and the producers' outcomes are read side by side; nothing but frames in flight is
kept in memory.
"""

from __future__ import annotations

import heapq
from collections import deque
from operator import attrgetter
from typing import TYPE_CHECKING

from conformance.observation.errors import TraceUnreadableError
from conformance.observation.event_text import event_text
from conformance.observation.frame_events import FrameEvents
from conformance.observation.run_events import BrokerLives, LedgerEvents, RunEvents
from conformance.observation.wire_moments import WireMoment, WireMoments
from conformance.record.run import read_run
from conformance.record.trace_check import NearbyFrame
from conformance.record.wire import WIRE_FILE
from conformance.stalls import NS_PER_MS
from oracle.tracing.observed import (
    BrokerEnded,
    BrokerStarted,
    FetchDelivered,
    FetchReceived,
    IsrDelivered,
    LookupDelivered,
    LookupReceived,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.record.directory import RunDirectory
    from conformance.record.wire import TracedFrame
    from oracle.tracing.observed import Event


class EventStream:
    """The events of one run, to be gone through once.

    Attributes:
        frames: the frames, with the numbers of those that were shown to the model.
        moments: the frames as they are read.
        nearby: the last frames that showed something.
    """

    def __init__(self, run: RunDirectory) -> None:
        about = read_run(run)
        topic = about.topic or ""
        self.frames = FrameEvents(topic, about.topic_id)
        self.moments = WireMoments(run.path / WIRE_FILE)
        self.nearby = NearbyFrames()
        self._story = RunEvents(run, topic)
        self._ledger = LedgerEvents(run.path / "ledger", topic)
        self._lives = BrokerLives()

    def __iter__(self) -> Iterator[Event]:
        """Yield the events in the order of time.

        Raises:
            TraceUnreadableError: a file is missing, cut short or cannot be read.
        """
        is_first = True
        for item in heapq.merge(self._story, self._ledger, self.moments, key=attrgetter("at")):
            if is_first:
                yield self._story.initial_min_isr(item.at)
                is_first = False
            if isinstance(item, WireMoment):
                yield from self._shown(item)
            elif isinstance(item, BrokerEnded):
                if self._lives.ended(item):
                    yield item
            elif isinstance(item, BrokerStarted):
                if self._lives.started(item):
                    self.frames.broker_started(item.broker)
                    yield item
            else:
                yield item
        if is_first:
            raise TraceUnreadableError(f"{WIRE_FILE} holds no frame")

    def _shown(self, moment: WireMoment) -> Iterator[Event]:
        started = self._lives.shown_by(moment)
        if started is not None:
            self.frames.broker_started(started.broker)
            yield started
        if not self._lives.is_stale(moment):
            events = list(self.frames.of(moment))
            self.nearby.shown(moment, events)
            yield from events


# Which frames surround the one that breaks an invariant?
#
# Only frames that show something of the topic are kept, and only the last few.


NEARBY = 5
NS_PER_S = 1_000_000_000


class NearbyFrames:
    """Keeps the last frames of the topic until it is told to stop, and a few more after that."""

    def __init__(self) -> None:
        self._began_ns: int | None = None
        self._kept: deque[tuple[TracedFrame, list[Event]]] = deque(maxlen=2 * NEARBY)
        self._still_wanted: int | None = None

    @property
    def are_enough(self) -> bool:
        """Return whether the frames after the violation are complete."""
        return self._still_wanted == 0

    def stop_soon(self, seq: int | None) -> None:
        """Note that the violation is here, shown by this frame: only a few more frames are wanted."""
        self._still_wanted = NEARBY
        kept = list(self._kept)
        place = next((index for index, (frame, _) in enumerate(kept) if frame.seq == seq), len(kept))
        self._kept = deque(kept[max(place - NEARBY, 0) :])

    def shown(self, moment: WireMoment, events: Sequence[Event]) -> None:
        """Note a moment and the events that it shows."""
        if self._began_ns is None:
            self._began_ns = moment.at
        if not events or self.are_enough:
            return
        for frame, known in reversed(self._kept):
            if frame.seq == moment.seq:
                known.extend(events)
                return
        self._kept.append((moment.frame, list(events)))
        if self._still_wanted is not None:
            self._still_wanted -= 1

    def seconds(self, at: int) -> float:
        """Return a monotonic time as seconds since the trace began."""
        return round((at - (self._began_ns or at)) / NS_PER_S, 6)

    def frames(self) -> list[NearbyFrame]:
        """Return the frames that were kept, in the order in which they were sent."""
        by_time = sorted(self._kept, key=lambda kept: (kept[0].arrived_ns, kept[0].seq))
        return [
            NearbyFrame(frame.seq, self.seconds(frame.arrived_ns), frame_text(frame, events))
            for frame, events in by_time
        ]


# What is a frame, in one line for a person? Who sends what to whom, what it says of the topic, what became of it.


ARRIVALS = (FetchReceived, FetchDelivered, LookupReceived, LookupDelivered, IsrDelivered)
"""They say no more than that the frame went on, and its fate says so too."""


def frame_text(frame: TracedFrame, shown: Sequence[Event]) -> str:
    """Return what a frame is and which events it shows.

    Args:
        frame: a line of the wire trace.
        shown: the events that it shows, when it was sent or when it was delivered.
    """
    is_request = frame.direction == "request"
    sender, receiver = (frame.source, frame.destination) if is_request else (frame.destination, frame.source)
    kind = frame.api if is_request else f"answer to {frame.api}"
    said = "; ".join(dict.fromkeys(event_text(event).strip() for event in shown if not isinstance(event, ARRIVALS)))
    return f"{_node(sender)} to {_node(receiver)}, {kind} v{frame.api_version}{_fate(frame)}: {said}"


def _node(node: int | None) -> str:
    return "somebody" if node is None else f"node {node}"


def _fate(frame: TracedFrame) -> str:
    name = f" ({frame.hold!r})" if frame.hold is not None else ""
    if frame.outcome != "forwarded":
        return f" [{frame.outcome}{name}]"
    waited_ms = ((frame.forwarded_ns or frame.arrived_ns) - frame.arrived_ns) // NS_PER_MS
    return f" [held for {waited_ms} ms{name}]" if name else ""
