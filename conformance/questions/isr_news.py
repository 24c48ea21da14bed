"""Which frames and notices carried a smaller ISR to a broker without a replica, and when?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError, Took
from conformance.notes import checkpoints, first_at
from conformance.questions.shrink import shrunk_at
from conformance.record.timeline import Event
from conformance.record.wire import ALTER_PARTITION, FETCH, UPDATE_METADATA
from conformance.wire_trace.partition import mentions

if TYPE_CHECKING:
    from conformance.record.answers import Value
    from conformance.record.directory import RunDirectory
    from conformance.record.wire import TracedFrame
    from conformance.wire_trace.partition import Mention

WRITTEN_AND_REMOVED = 2
"""A notice changes the children of its node twice."""

LEADER, OTHER = 1, 3
"""Broker 3 has no replica of the partition: what it knows of the ISR it has been told."""

SMALLER_ISR = (1,)


def notices(run: RunDirectory, begin: str, end: str) -> Value:
    """Return how many notices of a changed ISR were written and read in ZooKeeper between two checkpoints.

    Raises:
        NotSeenError: one of the two was never measured.
    """
    counted = {seen.name: seen.isr_notices for seen in checkpoints(run) if seen.isr_notices is not None}
    if not {begin, end} <= counted.keys():
        raise NotSeenError("the notices in ZooKeeper were not counted at both checkpoints")
    return (counted[end] - counted[begin]) // WRITTEN_AND_REMOVED


def path_of_the_news(run: RunDirectory) -> Value:
    """Return which frames carried the smaller ISR, from the leader to a broker without a replica.

    Raises:
        NotSeenError: that broker was never told.
    """
    told, since_ns = _told(run), first_at(run, Event.HOLD_CAUGHT, "silence")
    asked = [m.frame for m in mentions(run) if _asks_for_less(m) and since_ns < m.frame.arrived_ns < told.arrived_ns]
    return [*(frame.api for frame in asked[:1]), told.api]


def delay_of_the_news(run: RunDirectory) -> Took:
    """Return how long after the shrink the other broker was told.

    Raises:
        NotSeenError: it was never told, or nobody shrank the ISR.
    """
    told = _told(run)
    assert told.forwarded_ns is not None, "a frame that was not forwarded tells nobody"
    return Took(shrunk_at(run, LEADER, first_at(run, Event.HOLD_CAUGHT, "silence")), told.forwarded_ns)


def _asks_for_less(mention: Mention) -> bool:
    is_wish = mention.frame.is_request(ALTER_PARTITION) and mention.frame.source == LEADER
    return is_wish and mention.entry.new_isr == SMALLER_ISR


def _told(run: RunDirectory) -> TracedFrame:
    since_ns = first_at(run, Event.HOLD_CAUGHT, "silence")
    for frame, entry in mentions(run):
        is_to_other = (frame.api == UPDATE_METADATA and frame.destination == OTHER) or (
            frame.is_answer(FETCH) and frame.source == OTHER
        )
        is_news = frame.forwarded_ns is not None and frame.forwarded_ns > since_ns
        if is_to_other and is_news and entry.isr == SMALLER_ISR:
            return frame
    raise NotSeenError(f"nothing told broker {OTHER} that the ISR is {SMALLER_ISR}")
