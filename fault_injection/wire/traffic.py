"""What happens to a frame between its arrival and its departure?

``Traffic`` is where the sans-IO parts meet: it has a frame read, asks the gate and keeps the trace, for all
connections under one lock. Sockets belong to ``proxy`` and its parts. While nobody can want a frame it goes on
``unread``; whoever asks for rounds or trace, or arms an action, has everything read first.
"""

import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from fault_injection.cluster.relay import LinkName
from fault_injection.wire.answers import CannotAnswerError
from fault_injection.wire.channel import Valve
from fault_injection.wire.codec import Codec
from fault_injection.wire.gate import Gate, GateError
from fault_injection.wire.gate_armed import expects_answer
from fault_injection.wire.gate_events import Action, Decision, GateEvent, HoldStatus
from fault_injection.wire.headers import HeaderError, request_header, response_correlation_id
from fault_injection.wire.passage import ConnectionState, Passage, Sent
from fault_injection.wire.points import Direction, Point
from fault_injection.wire.readings import Readings
from fault_injection.wire.rounds import Rounds
from fault_injection.wire.trace import Outcome, Trace
from fault_injection.wire.turns import ParkingSpace, Word
from fault_injection.wire.unread import UnreadFrame, UnreadFrames

TELLING_REQUESTS = 4  # who sends has named itself by then, or never will


class Traffic:
    """All connections of one proxy; every method may be called from any thread.

    Args:
        codec: decodes the frames.
        on_event: told of everything that happens to armed actions, in order; must return quickly.

    Attributes:
        failures: what failed in the tester itself while it moved frames, in words, oldest first.
    """

    def __init__(self, codec: Codec, on_event: Callable[[GateEvent], None]) -> None:
        self.codec = codec
        self.failures: list[str] = []
        self.gate = Gate()
        self.valve = Valve()
        self.lock = threading.RLock()
        self._readings = Readings(codec)
        self.names = self._readings.names
        self._trace = Trace()
        self._unread = UnreadFrames(self.read)
        self._is_watched = False
        self._on_event = on_event
        self._spaces: dict[str, ParkingSpace] = {}
        self._seq = count()
        self._connections = count()

    @property
    def rounds(self) -> Rounds:
        """The fetch rounds up to the last frame that arrived; to be used with the lock held."""
        self.read()
        return self._readings.rounds

    @property
    def trace(self) -> Trace:
        """The trace, which has been told of every frame that arrived."""
        self.read()
        return self._trace

    def connected(self, link: LinkName) -> ConnectionState:
        """Begin to follow a connection."""
        return ConnectionState(next(self._connections), link, link.source)

    def may_begin(self, connection: ConnectionState, begun: memoryview) -> bool:
        """Say of the first bytes of an answer whether they may go on, because nobody can want the frame."""
        return self._is_free(connection) and self._readings.is_awaited(connection, begun)

    def unread(
        self, direction: Direction, connection: ConnectionState, frame: bytearray, *, has_begun: bool = False
    ) -> UnreadFrame | None:
        """Say whether a frame may go on before it is read, because nobody can want it; None if it may not.

        To be called before its first byte goes, or its last piece if it ``has_begun``; ``unread_ended`` follows.
        """
        if not has_begun and not self._is_free(connection):
            return None
        arrived_ns = time.monotonic_ns()
        asked = self._readings.asked(direction, connection, frame)
        if asked is None:
            return None
        unread = UnreadFrame(next(self._seq), direction, connection, len(frame), arrived_ns, asked, frame)
        self._unread.add(unread)
        return unread

    def unread_ended(self, unread: UnreadFrame, outcome: Outcome) -> None:
        """Take note of what became of a frame that went on unread."""
        unread.outcome = outcome
        if unread.passage is None:
            self._readings.lighten(unread)
        if unread.passage is not None:
            self._write(unread)

    def read(self, frames_max: int | None = None) -> None:
        """Read frames that went on unread, the oldest first; all of them unless told how many."""
        with self.lock:
            left = len(self._unread) if frames_max is None else frames_max
            while left > 0 and (unread := self._unread.take()) is not None:
                left -= 1
                try:
                    unread.passage = self._readings.passed(unread)
                except Exception as defect:  # noqa: BLE001 - it went on already; whoever judges must know
                    self.failed(defect)
                else:
                    self._write(unread)

    def is_answered(self, connection: ConnectionState) -> bool:
        """Whether no request that was let through on a connection waits for its answer."""
        with self.lock:
            self.read()
            return not any(expects_answer(request) for _, request in connection.sent.waiting())

    def close(self) -> None:
        """Read and write down what is left and end the threads that do so."""
        self._unread.close()
        self.trace.close()

    def request_arrived(self, connection: ConnectionState, frame: bytearray) -> Passage:
        """Decide about a request."""
        passage = self._passage("request", connection, frame)
        try:
            header = request_header(frame)
        except HeaderError:
            self.codec.note_undecodable()
            return passage
        view = self.codec.request(header, frame)
        with self.lock:
            self.read()
            connection.requests += 1
            passage.header = header
            passage.request = request = self._readings.observed(connection, header, view, passage.arrived_ns)
            if connection.is_lost or (not self.valve.is_open and self.valve.refuses(passage, request.source)):
                passage.decision = Decision("close")
            else:
                self._decide(passage, self.gate.on_request(request, time.monotonic_ns()))
        return passage

    def response_arrived(self, connection: ConnectionState, frame: bytearray) -> Passage:
        """Decide about a response."""
        passage = self._passage("response", connection, frame)
        if (sent := self._answered(connection, frame)) is None:
            return passage
        header, request = sent
        view = self.codec.response(header.api_key, header.api_version, frame)
        with self.lock:
            passage.header, passage.request = header, request
            passage.response = self._readings.completed(connection, request, view)
            if connection.is_lost:
                passage.decision = Decision("close")
            else:
                self._decide(passage, self.gate.on_response(request, passage.response, time.monotonic_ns()))
        return passage

    def departs(self, passage: Passage) -> int:
        """Take note that a frame goes on now and give the time; to be called before its first byte goes."""
        with self.lock:
            now_ns = time.monotonic_ns()
            self._readings.follow(passage, now_ns)
            if passage.direction == "request" and passage.request is not None and not passage.connection.is_lost:
                self.gate.on_forwarded(passage.request)
            return now_ns

    def arm(
        self, name: str, point: Point, action: Action, delay_ms: int, error: int | None, frames_max: int | None
    ) -> None:
        """Arm an action. Raises GateError while the name is in use, or if the codec could not make the answer."""
        if action == "answer" and not self.codec.can_answer(point.kind.api_key):
            raise GateError(f"hold {name!r} cannot answer at {point.name} without the schemas of its messages")
        with self.lock:
            self._is_watched = True  # from here on every frame that arrives is shown to the gate
            self.read()
            try:
                self.gate.arm(name, point, time.monotonic_ns(), action, delay_ms, error=error, frames_max=frames_max)
            finally:
                self._report()

    def disarm(self, name: str) -> None:
        """Stop waiting for a frame. Raises GateError unless the action is still armed."""
        with self.lock:
            self.gate.disarm(name, time.monotonic_ns())
            self._report()

    def tell(self, name: str, word: Word) -> None:
        """End a hold: forward its frames, drop them, or close their connections.

        Raises:
            GateError: no frame is held under that name.
        """
        verbs = {"forward": self.gate.release, "drop": self.gate.drop, "close": self.gate.close_connection}
        with self.lock:
            for frame in verbs[word](name, time.monotonic_ns()):
                self._spaces.pop(frame).tell(word)
            self._report()

    def answer(self, name: str, error: int) -> None:
        """End a hold: its frames are answered with an error. Raises GateError unless such a frame is held."""
        with self.lock:
            caught = self.gate.caught(name)
            if caught is not None and not self.codec.can_answer(caught.request.api_key):
                raise GateError(f"hold {name!r} cannot be answered without the schemas of its messages")
            for frame in self.gate.answer(name, error, time.monotonic_ns()):
                self._spaces.pop(frame).tell("answer", error)
            self._report()

    def fabricated(self, passage: Passage) -> tuple[Passage, bytearray]:
        """Make the answer to a request that the gate answers, or in place of the answer that came.

        Raises:
            CannotAnswerError: the request was not understood.
        """
        header, request = passage.header, passage.request
        if header is None or request is None:
            raise CannotAnswerError("a frame without a header")
        content = bytearray(self.codec.error_answer(header, request.view, passage.error))
        view = self.codec.response(header.api_key, header.api_version, content)
        answer = self._passage("response", passage.connection, content)
        answer.is_fabricated, answer.header, answer.request = True, header, request
        with self.lock:
            answer.response = self.names.named(view) if view is not None else None
        answer.decision = Decision("forward", passage.decision.name)
        return answer, content

    def connection_lost(self, connection: ConnectionState) -> None:
        """Discharge what a connection held; further frames on it are turned away."""
        with self.lock:
            connection.is_lost = True
            self.rounds.connection_lost(connection.number)
            connection.asked.clear()
            for name in self.gate.connection_lost(connection.number, time.monotonic_ns()):
                if name in self._spaces:  # it has none if no pipe was left
                    self._spaces.pop(name).tell("abort")
            self._report()

    def ended(self, passage: Passage, forwarded_ns: int | None, outcome: Outcome) -> None:
        """Write down what became of a frame."""
        self._trace.write(passage.entry(forwarded_ns, outcome))

    def begin_trace(self, path: Path) -> None:
        """Write every frame from now on to a new file. Raises OSError if it cannot be created."""
        self.trace.rotate(path, lambda: next(self._seq))

    def end_trace(self) -> None:
        """Write the last line of the file and no more to it. Raises OSError if a line could not be written."""
        self.trace.end(next(self._seq))

    def _passage(self, direction: Direction, connection: ConnectionState, frame: bytearray) -> Passage:
        return Passage(next(self._seq), direction, connection, len(frame), time.monotonic_ns())

    def _answered(self, connection: ConnectionState, frame: bytearray) -> Sent | None:
        try:
            correlation_id = response_correlation_id(frame)
        except HeaderError:
            self.codec.note_undecodable()
            return None
        with self.lock:
            self.read()
            connection.asked.pop(correlation_id, None)
            return connection.sent.answered(correlation_id)

    def _write(self, unread: UnreadFrame) -> None:
        """Write down a frame that was sent and read, whichever came last; once."""
        with self.lock:
            if unread.outcome is not None and unread.passage is not None and not unread.is_written:
                unread.is_written = True
                self.ended(unread.passage, unread.arrived_ns, unread.outcome)

    def _is_free(self, connection: ConnectionState) -> bool:
        """Whether nothing can want a frame that arrives now, and nothing new can be learned about its sender."""
        is_watched = self._is_watched or not self.valve.is_open
        return not is_watched and connection.requests >= TELLING_REQUESTS and not connection.is_lost

    def _decide(self, passage: Passage, decision: Decision) -> None:
        passage.decision = decision
        if decision.action in ("hold", "delay") and decision.name is not None:
            passage.space = self._spaces[decision.name] = ParkingSpace()
            self._trace.write(passage.entry(None, "held"))
        self._report()

    def failed(self, defect: Exception) -> None:
        """Take note of a failure of the tester's own: frames may have been lost by it."""
        self.failures.append(f"{type(defect).__name__}: {defect}")

    def _report(self) -> None:
        self._is_watched = HoldStatus.ARMED in self.gate.holds().values()
        for event in self.gate.take_events():
            try:
                self._on_event(event)
            except Exception as defect:  # noqa: BLE001 - the listener's trouble must not become the connection's
                self.failed(defect)
