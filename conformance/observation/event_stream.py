"""How do the files of one run become one stream of events in the order of time?

Frames, the tester's notes and the producers' outcomes are read side by side; nothing but frames in flight is
kept in memory.
"""

from __future__ import annotations

import heapq
from operator import attrgetter
from typing import TYPE_CHECKING

from conformance.observation.errors import TraceUnreadableError
from conformance.observation.frame_events import FrameEvents
from conformance.observation.nearby_frames import NearbyFrames
from conformance.observation.story_events import BrokerLives, LedgerEvents, StoryEvents
from conformance.observation.wire_moments import Moment, WireMoments
from conformance.record.run import read_run
from conformance.record.wire import WIRE_FILE
from oracle.tracing.observed import BrokerEnded, BrokerStarted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.record.directory import RunDirectory
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
        self._story = StoryEvents(run, topic)
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
            if isinstance(item, Moment):
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

    def _shown(self, moment: Moment) -> Iterator[Event]:
        started = self._lives.shown_by(moment)
        if started is not None:
            self.frames.broker_started(started.broker)
            yield started
        if not self._lives.is_stale(moment):
            events = list(self.frames.of(moment))
            self.nearby.shown(moment, events)
            yield from events
