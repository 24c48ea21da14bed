"""In which order did frames leave their senders and reach their receivers?

A line of ``wire.ndjson`` is written when the fate of its frame is known, so the file is ordered only roughly.
Numbers of frames are given in the order of arrival: a moment is due when no frame with a lower number
is missing any more. A held frame has a line from when it was caught and keeps nothing waiting, unless what follows it
on its connection, between nodes, shows that it was delivered: then the line that says when is still to come.

A frame that stays missing for more than ``WAITING_MAX`` moments is no longer waited for: it is about a
receiver that does not read, and what it shows comes late. Frames may be missing for good only if they
arrived in the instant in which the file was ended: what came after the first of them is left out, as it may follow
from what that one said.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from conformance.observation.errors import FramesMissingError, TraceUnreadableError
from conformance.record.wire import NONE, TracedFrame, TraceEnd, frame_of, trace_end_of
from conformance.record.wire_lines import last_line_of, lines_of
from oracle.tracing.observed import RequestKey

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


WAITING_MAX = 30_000
SLACK_NS = 50_000_000
"""Number and time of an arrival are not taken in one instant, and a line follows its frame's departure."""
LAST_INSTANT = 64
"""How many of the last frames may have arrived while the file was being ended."""

BETWEEN_NODES = ("replication", "controller")
"""Links on which a connection has one request at a time: its answer comes before the next."""

GONE_ON = ("forwarded", "late", "fabricated")
"""Outcomes of frames that reached their receiver; the gate itself sent the fabricated ones."""


class WireMoment(NamedTuple):
    """A frame was sent (it arrived at the gate) or delivered (it went on from there), at a monotonic time."""

    at: int
    seq: int
    is_delivery: bool
    frame: TracedFrame


class WireMoments:
    """Reads one wire trace in the order of time, once.

    Attributes:
        lines: how many lines of frames were read so far.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._end = trace_end(path)
        self._waiting: list[tuple[int, int, bool, int, TracedFrame]] = []
        self._held: dict[int, TracedFrame] = {}
        self._held_on: dict[int, set[int]] = {}
        self._owed: dict[int, int] = {}
        self._arrived: dict[int, int] = {}
        self._missing: set[int] = set()
        self._next = self._end.first_seq
        self._frontier_ns = 0
        self._last_ns = 0
        self.lines = 0

    def __iter__(self) -> Iterator[WireMoment]:
        """Yield the moments in the order of time.

        Raises:
            TraceUnreadableError: a line cannot be read.
            FramesMissingError: frames are missing or came too late.
        """
        for line in self._read():
            frame = self._parsed(line)
            if frame is None:
                break
            self._take(frame)
            due_ns = self._frontier_ns - SLACK_NS
            if self._owed:
                due_ns = min(due_ns, *self._owed.values())
            while self._waiting and self._waiting[0][0] <= due_ns:
                yield self._popped()
        self._note_left_out(self._end.left_out)
        self._require_whole()
        while self._waiting:
            moment = self._popped()
            if moment.seq < self._next:
                yield moment

    def _read(self) -> Iterator[bytes]:
        try:
            yield from lines_of(self._path)
        except (OSError, ValueError) as error:
            raise TraceUnreadableError(f"{self._path.name} cannot be read after line {self.lines}: {error}") from error

    def _parsed(self, line: bytes) -> TracedFrame | None:
        try:
            return frame_of(line)
        except ValueError as error:
            raise TraceUnreadableError(f"{self._path.name}, line {self.lines + 1}, is no frame") from error

    def _take(self, frame: TracedFrame) -> None:
        self.lines += 1
        self._note_left_out(frame.left_out)
        seq = frame.seq
        if seq in self._missing:
            raise FramesMissingError(f"{self._path.name}: frame {seq} was written too late to be put in its place")
        if seq in self._held:
            self._wait_no_more(seq)
            del self._held[seq]
        else:
            self._note_arrival(seq, frame.arrived_ns)
            heapq.heappush(self._waiting, (frame.arrived_ns, seq, False, self.lines, frame))
            self._note_shown(frame)
        if frame.outcome == "held":
            self._held[seq] = frame
            self._held_on.setdefault(frame.connection, set()).add(seq)
        elif frame.outcome in GONE_ON and frame.forwarded_ns is not None:
            heapq.heappush(self._waiting, (frame.forwarded_ns, seq, True, self.lines, frame))

    def _note_shown(self, frame: TracedFrame) -> None:
        """Wait for the lines of held frames that a frame shows to have been delivered: it answers them, or follows."""
        on_connection = self._held_on.get(frame.connection)
        if on_connection is None or frame.link not in BETWEEN_NODES:
            return
        for seq in on_connection:
            held = self._held[seq]
            if held.seq < frame.seq and held.direction != frame.direction:
                self._owed[seq] = held.arrived_ns

    def _wait_no_more(self, seq: int) -> None:
        connection = self._held[seq].connection
        self._owed.pop(seq, None)
        others = self._held_on.pop(connection, set()) - {seq}
        if others:
            self._held_on[connection] = others

    def _note_left_out(self, numbers: tuple[int, ...]) -> None:
        """Note frames that have no line, so that nobody waits for them; one may be told more than once."""
        for seq in numbers:
            self._missing.discard(seq)
            if seq >= self._next:
                self._arrived.setdefault(seq, 0)
        self._go_on()

    def _note_arrival(self, seq: int, arrived_ns: int) -> None:
        if self._end.first_seq <= seq < self._next or seq in self._arrived:
            raise TraceUnreadableError(f"{self._path.name}: frame {seq} is there twice")
        if seq >= self._next:
            self._arrived[seq] = arrived_ns
        if len(self._waiting) > WAITING_MAX:
            for owed in tuple(self._owed):
                self._wait_no_more(owed)
            first = min(self._arrived, default=self._next)
            self._missing.update(range(self._next, first))
            self._next = first
        self._go_on()

    def _go_on(self) -> None:
        while self._next in self._arrived:
            self._frontier_ns = max(self._frontier_ns, self._arrived.pop(self._next))
            self._next += 1

    def _popped(self) -> WireMoment:
        at, seq, is_delivery, _, frame = heapq.heappop(self._waiting)
        self._last_ns = max(self._last_ns, at)  # the line of a held frame is written a little after it went on
        return WireMoment(self._last_ns, seq, is_delivery, frame)

    def _require_whole(self) -> None:
        name = self._path.name
        if self.lines != self._end.lines:
            raise FramesMissingError(f"{name} holds {self.lines} lines of frames, it was ended with {self._end.lines}")
        for seq in range(self._next, self._end.next_seq - LAST_INSTANT):
            if seq not in self._arrived:
                self._missing.add(seq)
        if self._missing:
            raise FramesMissingError(f"{name}: {len(self._missing)} frames are missing, such as {min(self._missing)}")


# Is the wire trace whole, by its own account?
#
# Sources: the last line of ``wire.ndjson``, see ``fault_injection.wire.trace``.


def trace_end(path: Path) -> TraceEnd:
    """Read what the last line of a wire trace says.

    Raises:
        TraceUnreadableError: there is no such file, or it was never ended.
    """
    try:
        last = last_line_of(path)
    except OSError as error:
        raise TraceUnreadableError(f"{path.name} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise TraceUnreadableError(f"{path.name} cannot be read: {error}") from error
    try:
        return trace_end_of(last)
    except ValueError as error:
        cut = f"{path.name} is cut short: it does not end with the line that ends a trace"
        raise TraceUnreadableError(cut) from error


# Which request does an answer belong to?
#
# Kept are requests that may still be answered; those whose answers never come are forgotten when too many
# newer ones are kept.


IN_FLIGHT_MAX = 20_000

Asked = TypeVar("Asked")


class InFlight(Generic[Asked]):
    """What was asked in each request, by its key."""

    def __init__(self) -> None:
        self._asked: dict[RequestKey, Asked] = {}

    def sent(self, key: RequestKey, asked: Asked) -> None:
        """Keep what a request asks."""
        if len(self._asked) >= IN_FLIGHT_MAX:
            self._asked.pop(next(iter(self._asked)))
        self._asked[key] = asked

    def asked(self, key: RequestKey) -> Asked | None:
        """Return what a request asked; None if it was sent before the trace began."""
        return self._asked.get(key)

    def delivered(self, key: RequestKey) -> Asked | None:
        """Return what a request asked whose answer was delivered, and forget it."""
        return self._asked.pop(key, None)


def request_key(frame: TracedFrame) -> RequestKey:
    """Return the key that a request and its answer share."""
    return RequestKey(frame.connection, NONE if frame.correlation_id is None else frame.correlation_id)
