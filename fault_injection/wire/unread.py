"""Which frames went on before anybody read them?

While no action waits and the network is not impaired nobody can want a frame, so it goes on at once and is read
later: as soon as somebody asks what was said, when an action is armed, when the traffic leaves time, or when too
many wait. Reading later costs as much, but not at the moment when every core moves records.

Order: a frame is queued before its first byte goes on, so on each connection a request is queued before its answer
and an answer before the next request; frames are read in the order of the queue.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from fault_injection.wire.headers import RequestHeader
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.passage import ConnectionState, Passage
from fault_injection.wire.points import Direction
from fault_injection.wire.trace import Outcome

FRAMES_MAX = 16_384
KEPT_BYTES_MAX = 4_096
INTERVAL_S = 0.1
BUSY_FRAMES = 60  # as many in an interval, or more, leave no time to read
SLICE_FRAMES = 64


@dataclass(frozen=True, slots=True)
class SaidRequest:
    """What a request says that is too large to be kept."""

    header: RequestHeader
    view: RequestView | None


@dataclass(frozen=True, slots=True)
class SaidResponse:
    """What a response says that is too large to be kept."""

    correlation_id: int
    view: ResponseView | None


Content = bytearray | SaidRequest | SaidResponse


@dataclass(slots=True)
class UnreadFrame:
    """A frame that goes on, or went on, unread.

    Attributes:
        seq: order of arrival.
        direction: request or response.
        connection: where it passed.
        size: its bytes.
        arrived_ns: when its last byte arrived, monotonic.
        asked: api and version of its request.
        content: the frame, or what it says if it was large.
        outcome: what became of it; None while it is being sent.
        passage: what it said; None until it is read.
        is_written: whether it is in the trace.
    """

    seq: int
    direction: Direction
    connection: ConnectionState
    size: int
    arrived_ns: int
    asked: tuple[int, int]
    content: Content
    outcome: Outcome | None = None
    passage: Passage | None = None
    is_written: bool = False


class UnreadFrames:
    """The queue of unread frames and the thread that has it read when the traffic leaves time.

    Args:
        read: reads at most so many frames, the oldest first.
        frames_max: so many wait at most; from then on each that is added has two read.
    """

    def __init__(self, read: Callable[[int], None], frames_max: int = FRAMES_MAX) -> None:
        self._frames_max = frames_max
        self._frames: deque[UnreadFrame] = deque()
        self._read = read
        self._added = 0
        self._closed = threading.Event()
        self._starting = threading.Lock()
        self._counting = threading.Lock()
        self._thread: threading.Thread | None = None

    def __len__(self) -> int:
        return len(self._frames)

    def add(self, frame: UnreadFrame) -> None:
        """Queue a frame."""
        self._frames.append(frame)
        with self._counting:
            self._added += 1
        if self._thread is None:
            self._start()
        if len(self._frames) > self._frames_max:
            self._read(2)  # one more than was added

    def take(self) -> UnreadFrame | None:
        """Take the oldest frame off the queue."""
        try:
            return self._frames.popleft()
        except IndexError:
            return None

    def close(self) -> None:
        """End the thread; what is left stays in the queue."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                thread = threading.Thread(target=self._read_at_leisure, name="wire-reader", daemon=True)
                thread.start()
                self._thread = thread

    def _read_at_leisure(self) -> None:
        while not self._closed.wait(INTERVAL_S):
            with self._counting:
                added, self._added = self._added, 0
            while self._frames and max(added, self._added) < BUSY_FRAMES and not self._closed.is_set():
                self._read(SLICE_FRAMES)
