"""How do the bytes of one connection go one way over an impaired network?

A channel is asked only while the valve is not open. The thread that moves the frames brings each to
``carry``, which waits as long as the way is cut and calls back when the frame may go. A delayed way has a
thread of its own: frames wait in a line until they are due, so that a delay costs time and not throughput.

Invariant: frames keep their order; at most ``LINE_BYTES_MAX`` bytes, or one frame, wait in a line.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from fault_injection.wire.codec import api_name
from fault_injection.wire.impairments import Flow, FrameMark, Impairment, ImpairmentEvidence
from fault_injection.wire.passage import ConnectionState, Passage, Word
from fault_injection.wire.points import Direction
from fault_injection.wire.shaping import NS_PER_S, Load, Shaping

# Where do the threads of all connections learn that the network changed?
#
# One valve for all connections of a proxy: the policy (``Shaping``), the lock that guards it and the condition
# that its changes are announced by. While ``is_open``, nothing is imposed and nothing is on its way late, so
# whoever moves bytes need not ask anything: reading that one attribute is all that an unimpaired network costs.


class Valve:
    """The impairments of one proxy; safe to use from any thread.

    Attributes:
        shaping: what is imposed; to be used with ``changed`` held.
        changed: held to look at or change anything here, and notified of every change.
        is_open: whether every byte may go on at once.
    """

    def __init__(self) -> None:
        self.shaping = Shaping()
        self.changed = threading.Condition()
        self.is_open = True
        self._late = 0

    def impose(self, name: str, impairment: Impairment) -> None:
        """Begin an impairment. Raises ImpairmentError if one of that name is imposed."""
        with self.changed:
            self.shaping.impose(name, impairment, time.monotonic_ns())
            self._turn()

    def lift(self, name: str) -> ImpairmentEvidence:
        """End an impairment and return what it did. Raises ImpairmentError if none of that name is imposed."""
        with self.changed:
            evidence = self.shaping.lift(name, time.monotonic_ns())
            self._turn()
            return evidence

    def wake(self) -> None:
        """Let every thread that waits look again: a connection ended."""
        if not self.is_open:
            with self.changed:
                self.changed.notify_all()

    def queued(self, count: int) -> None:
        """Note that frames were put on a delay line, or with a negative count taken off it."""
        with self.changed:
            self._late += count
            self._turn()

    def refuses(self, passage: Passage, source: int | None) -> bool:
        """Return whether a request came over a way that is cut by resets; its connection is to be closed."""
        state = passage.connection
        flow = Flow(state.link.kind, source, state.link.destination, "request")
        with self.changed:
            is_reset = self.shaping.is_reset(flow)
            if is_reset:
                load = Load(state.number, flow, passage.arrived_ns, passage.size, mark_of(passage))
                self.shaping.stopped(load, passage.arrived_ns)
        return is_reset

    def was_reset(self, state: ConnectionState) -> bool:
        """Return whether a connection may not live now; if so it is taken for reset."""
        flow = Flow(state.link.kind, state.source, state.link.destination, "request")
        with self.changed:
            now_ns = time.monotonic_ns()
            is_reset = self.shaping.is_reset(flow)
            if is_reset:
                self.shaping.stopped(Load(state.number, flow, now_ns), now_ns)
        return is_reset

    def _turn(self) -> None:
        self.is_open = self.shaping.is_idle and self._late == 0
        self.changed.notify_all()


def mark_of(passage: Passage) -> FrameMark | None:
    """Return what tells a frame from others; None while its header is unknown."""
    header, request = passage.header, passage.request
    if header is None:
        return None
    partitions = request.partitions if request is not None else ()
    fetch_offset = getattr(partitions[0], "fetch_offset", None) if partitions else None
    return FrameMark(passage.seq, api_name(header.api_key), header.correlation_id, fetch_offset)


LINE_BYTES_MAX = 64 * 1024 * 1024
DESERTED_CHECK_S = 0.5

Go = Callable[[Word], bool]
"""Sends a frame on, or gives it up, as the word says; tells whether the connection goes on."""


@dataclass(frozen=True, slots=True)
class _Late:
    """A frame in the line: when it is due, how many bytes it is, and how it goes."""

    due_ns: int
    size: int
    frame: FrameMark | None
    go: Go


class Channel:
    """One direction of a connection; its frames are brought by one thread.

    Args:
        valve: what is imposed on the network.
        state: the connection.
        direction: which way.
        is_ended: whether the connection is over, so that waiting makes no sense.
        is_deserted: whether who opened the connection has hung up.
        on_broken: called when a late frame could not be sent, with what failed in the tester itself, if that is why.
    """

    def __init__(
        self,
        valve: Valve,
        state: ConnectionState,
        direction: Direction,
        is_ended: Callable[[], bool],
        is_deserted: Callable[[], bool],
        on_broken: Callable[[Exception | None], None],
    ) -> None:
        self._valve, self._state, self._direction = valve, state, direction
        self._is_ended, self._is_deserted, self._on_broken = is_ended, is_deserted, on_broken
        self._opened_ns = time.monotonic_ns()
        self._line: deque[_Late] = deque()
        self._line_bytes = 0
        self._thread: threading.Thread | None = None
        self._is_closing = False
        self._was_unopened = False

    @property
    def direction(self) -> Direction:
        """Which way it leads."""
        return self._direction

    @property
    def is_empty(self) -> bool:
        """Return whether no frame waits in the line."""
        return not self._line

    def carry(self, size: int, frame: FrameMark | None, go: Go) -> bool:
        """Send a frame on as soon as the network lets it; tell whether the connection goes on."""
        with self._valve.changed:
            now_ns = time.monotonic_ns()
            delay_ns = self._valve.shaping.slowed(self._load(size, frame), now_ns)
            is_late = bool(delay_ns or self._line)
            if is_late and self._put(_Late(now_ns + delay_ns, size, frame, go)):
                return True
        return go("abort" if is_late else self.cleared(size, frame))

    def cleared(self, size: int = 0, frame: FrameMark | None = None) -> Word:
        """Wait until the way is free and return the word: forward, close if it is reset, abort if the end came.

        A connection that could not be opened over a cut, and that was given up meanwhile, never was.
        """
        is_told = False
        with self._valve.changed:
            while not self._is_ended():
                load = self._load(size, frame)
                verdict = self._valve.shaping.verdict(load)
                if self._was_unopened and self._is_deserted():
                    return "abort"
                if verdict == "forward":
                    return "forward"
                if not is_told:
                    self._valve.shaping.stopped(load, time.monotonic_ns())
                    is_told = True
                if verdict == "close":
                    return "close"
                self._was_unopened = self._was_unopened or self._valve.shaping.is_unopened(load)
                self._valve.changed.wait(DESERTED_CHECK_S if self._was_unopened else None)
        return "abort"

    def send(self, content: bytes | bytearray | memoryview, send: Callable[[memoryview], bool]) -> bool:
        """Send bytes as soon as the way is free; return whether they were sent."""
        return not content or ((self._valve.is_open or self.cleared() == "forward") and send(memoryview(content)))

    def drained(self) -> None:
        """Return when nothing is late any more and the other side may hear that this one ended."""
        with self._valve.changed:
            self._valve.changed.wait_for(lambda: not self._line or self._is_ended())
        self.cleared()

    def close(self) -> None:
        """End the line's thread, when the connection has ended, and give up what it left."""
        with self._valve.changed:
            self._is_closing = True
            self._valve.changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        self._run()

    def _load(self, size: int, frame: FrameMark | None) -> Load:
        link = self._state.link
        flow = Flow(link.kind, self._state.source, link.destination, self._direction)
        return Load(self._state.number, flow, self._opened_ns, size, frame)

    def _put(self, late: _Late) -> bool:
        """Put a frame into the line as soon as there is room, with the lock held; tell whether that was in time."""
        self._valve.changed.wait_for(lambda: self._has_room(late.size) or self._is_ended())
        if self._is_ended():
            return False
        self._line.append(late)
        self._line_bytes += late.size
        self._valve.queued(1)
        if self._thread is None:
            name = f"wire-late-{self._direction}s-{self._state.number}"
            thread = threading.Thread(target=self._run, name=name, daemon=True)
            thread.start()
            self._thread = thread
        return True

    def _has_room(self, size: int) -> bool:
        return not self._line or self._line_bytes + size <= LINE_BYTES_MAX

    def _run(self) -> None:
        while (late := self._next_due()) is not None:
            is_sent, defect = False, None
            try:
                is_sent = late.go(self.cleared(late.size, late.frame))
            except Exception as failure:  # noqa: BLE001 - what is left has to be given up; whoever judges must know
                defect = failure
            with self._valve.changed:
                self._line.popleft()
                self._line_bytes -= late.size
                self._valve.queued(-1)
            if not is_sent:
                self._on_broken(defect)

    def _next_due(self) -> _Late | None:
        """Wait for the first frame of the line to be due; None when the connection has ended and none is left."""
        with self._valve.changed:
            while True:
                if self._line:
                    left_ns = self._line[0].due_ns - time.monotonic_ns()
                    if left_ns <= 0 or self._is_ended():
                        return self._line[0]
                    self._valve.changed.wait(left_ns / NS_PER_S)
                elif self._is_ended() or self._is_closing:
                    return None
                else:
                    self._valve.changed.wait()
