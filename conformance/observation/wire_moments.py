"""In which order did frames leave their senders and reach their receivers?

A line of ``wire.ndjson`` is written when the fate of its frame is known, so the file is ordered only roughly.
Numbers of frames are given in the order of arrival: a moment is due when no frame with a lower number
is missing any more. A held frame has a line from when it was caught and keeps nothing waiting. The line that says when
it went on may come long after that, on a slowed link: such lines are looked for in a first reading of the file.

A frame that stays missing for more than ``WAITING_MAX`` moments is no longer waited for: it is about a
receiver that does not read, and what it shows comes late. Frames may be missing for good only if they
arrived in the instant in which the file was ended: what came after the first of them is left out, as it may follow
from what that one said.
"""

from __future__ import annotations

import contextlib
import heapq
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import msgspec

from conformance.observation.errors import FramesMissingError, TraceUnreadableError
from conformance.record.wire import NONE, FrameFate, TracedFrame, TraceEnd, fate_of, frame_of, trace_end_of
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

GONE_ON = ("forwarded", "late", "fabricated")
"""Outcomes of frames that reached their receiver; the gate itself sent the fabricated ones."""


class WireMoment(NamedTuple):
    """A frame was sent (it arrived at the gate) or delivered (it went on from there), at a monotonic time."""

    at: int
    seq: int
    is_delivery: bool
    frame: TracedFrame


class WireMoments:
    """Gives the moments of one wire trace in the order of time, once; the file is read twice.

    Attributes:
        lines: how many lines of frames were read so far.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._end = trace_end(path)
        self._waiting: list[tuple[int, int, bool, int, TracedFrame]] = []
        self._held: set[int] = set()
        self._late: dict[int, FrameFate] = {}
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
        self._late = late_fates(self._path)
        for line in self._read():
            frame = self._parsed(line)
            if frame is None:
                break
            self._take(frame)
            while self._waiting and self._waiting[0][0] <= self._frontier_ns - SLACK_NS:
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
        is_first = seq not in self._held
        if frame.outcome == "held":  # a frame has one such line for each time it was caught
            self._held.add(seq)
        else:
            self._held.discard(seq)
        if is_first:
            self._note_arrival(seq, frame.arrived_ns)
            heapq.heappush(self._waiting, (frame.arrived_ns, seq, False, self.lines, frame))
            frame = self._with_late_fate(frame)
        elif seq in self._late:
            return
        if frame.outcome in GONE_ON and frame.forwarded_ns is not None:
            heapq.heappush(self._waiting, (frame.forwarded_ns, seq, True, self.lines, frame))

    def _with_late_fate(self, held: TracedFrame) -> TracedFrame:
        fate = self._late.get(held.seq)
        if fate is None:
            return held
        return msgspec.structs.replace(held, outcome=fate.outcome, forwarded_ns=fate.forwarded_ns)

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
        self._last_ns = max(self._last_ns, at)  # numbers are given in a slightly other order than times
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


def late_fates(path: Path) -> dict[int, FrameFate]:
    """Find the held frames whose fate is told when what followed it may be due already, by their numbers.

    A file that cannot be read to its end is read as far as it can be: the second reading says what is wrong with it.
    """
    held: set[int] = set()
    late: dict[int, FrameFate] = {}
    last_ns = 0
    with contextlib.suppress(OSError, ValueError):
        for fate in map(fate_of, lines_of(path)):
            last_ns = max(last_ns, fate.arrived_ns)
            if fate.outcome == "held":
                held.add(fate.seq)
            elif fate.seq in held:
                held.discard(fate.seq)
                if fate.forwarded_ns is not None and fate.forwarded_ns < last_ns - SLACK_NS:
                    late[fate.seq] = fate
    return late


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
