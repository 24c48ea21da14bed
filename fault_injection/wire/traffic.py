"""What happens to a frame between its arrival and its departure?

``Traffic`` is where the sans-IO parts meet: it decodes a copy, completes fetch sessions, names topics and
senders, asks the gate and keeps rounds and trace, for all connections under one lock. Sockets belong to
``proxy`` and its parts.
"""

import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from fault_injection.cluster.relay import LinkName
from fault_injection.wire.codec import Codec
from fault_injection.wire.gate import Gate
from fault_injection.wire.gate_events import Action, Decision, GateEvent
from fault_injection.wire.headers import (
    HeaderError,
    RequestHeader,
    request_header,
    response_correlation_id,
)
from fault_injection.wire.messages import RequestView
from fault_injection.wire.parking import ParkingSpace, Word
from fault_injection.wire.passage import ConnectionState, Passage, Sent
from fault_injection.wire.points import Direction, ObservedRequest, Point
from fault_injection.wire.rounds import Rounds
from fault_injection.wire.senders import sender, sender_by_view
from fault_injection.wire.topic_names import TopicNames
from fault_injection.wire.trace import Outcome, Trace
from fault_injection.wire.valve import Valve
from fault_injection.wire.views import FetchRequestView, FetchResponseView


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
        self.rounds = Rounds()
        self.names = TopicNames()
        self.trace = Trace()
        self.valve = Valve()
        self.lock = threading.RLock()
        self._on_event = on_event
        self._spaces: dict[str, ParkingSpace] = {}
        self._seq = count()
        self._connections = count()

    def connected(self, link: LinkName) -> ConnectionState:
        """Begin to follow a connection."""
        return ConnectionState(next(self._connections), link, link.source)

    def request_arrived(self, connection: ConnectionState, frame: bytearray) -> Passage:
        """Decide about a request."""
        passage = self._passage("request", connection, frame)
        try:
            header = request_header(frame)
        except HeaderError:
            self.codec.undecodable += 1
            return passage
        view = self.codec.request(header, frame)
        with self.lock:
            passage.header = header
            passage.request = request = self._observed(connection, header, view, passage.arrived_ns)
            if connection.is_lost or (not self.valve.is_open and self.valve.refuses(passage, request.source)):
                passage.decision = Decision("close")
            else:
                self._decide(passage, self.gate.on_request(request, time.monotonic_ns()))
        return passage

    def response_arrived(self, connection: ConnectionState, frame: bytearray) -> Passage:
        """Decide about a response."""
        passage = self._passage("response", connection, frame)
        sent = self._answered(connection, frame)
        if sent is None:
            return passage
        header, request = sent
        view = self.codec.response(header.api_key, header.api_version, frame)
        with self.lock:
            if isinstance(view, FetchResponseView) and isinstance(request.view, FetchRequestView):
                view = connection.session.complete_response(request.view, view)
            passage.header, passage.request = header, request
            passage.response = self.names.named(view) if view is not None else None
            if connection.is_lost:
                passage.decision = Decision("close")
            else:
                self._decide(passage, self.gate.on_response(request, passage.response, time.monotonic_ns()))
        return passage

    def departs(self, passage: Passage) -> int:
        """Take note that a frame goes on now and give the time; to be called before its first byte goes."""
        with self.lock:
            now_ns = time.monotonic_ns()
            if passage.request is None or passage.header is None:
                return now_ns
            if passage.direction == "request":
                passage.connection.sent.sent(passage.request.correlation_id, (passage.header, passage.request))
                self.gate.on_forwarded(passage.request)
                self.rounds.on_forwarded(passage.request, now_ns)
            elif isinstance(passage.response, FetchResponseView):
                times = (passage.arrived_ns, now_ns)
                self.rounds.on_response_forwarded(passage.request, passage.response, *times)
            return now_ns

    def arm(self, name: str, point: Point, action: Action, delay_ms: int) -> None:
        """Arm an action. Raises GateError while the name is in use."""
        with self.lock:
            self.gate.arm(name, point, time.monotonic_ns(), action, delay_ms)
            self._report()

    def disarm(self, name: str) -> None:
        """Stop waiting for a frame. Raises GateError unless the action is still armed."""
        with self.lock:
            self.gate.disarm(name, time.monotonic_ns())
            self._report()

    def tell(self, name: str, word: Word) -> None:
        """End a hold: forward its frame, drop it, or close its connection.

        Raises:
            GateError: no frame is held under that name.
        """
        verbs = {"forward": self.gate.release, "drop": self.gate.drop, "close": self.gate.close_connection}
        with self.lock:
            verbs[word](name, time.monotonic_ns())
            self._spaces.pop(name).tell(word)
            self._report()

    def connection_lost(self, connection: ConnectionState) -> None:
        """Discharge what a connection held; further frames on it are turned away."""
        with self.lock:
            connection.is_lost = True
            self.rounds.connection_lost(connection.number)
            for name in self.gate.connection_lost(connection.number, time.monotonic_ns()):
                self._spaces.pop(name).tell("abort")
            self._report()

    def ended(self, passage: Passage, forwarded_ns: int | None, outcome: Outcome) -> None:
        """Write down what became of a frame."""
        self.trace.write(passage.entry(forwarded_ns, outcome))

    def begin_trace(self, path: Path) -> None:
        """Write every frame from now on to a new file. Raises OSError if it cannot be created."""
        self.trace.rotate(path, next(self._seq))

    def end_trace(self) -> None:
        """Write the last line of the file and no more to it. Raises OSError if a line could not be written."""
        self.trace.end(next(self._seq))

    def _passage(self, direction: Direction, connection: ConnectionState, frame: bytearray) -> Passage:
        return Passage(next(self._seq), direction, connection, len(frame), time.monotonic_ns())

    def _observed(
        self, connection: ConnectionState, header: RequestHeader, view: RequestView | None, arrived_ns: int
    ) -> ObservedRequest:
        if connection.link.source is None:
            named = sender_by_view(view)
            if named is not None or connection.source is None:
                connection.source = named if named is not None else sender(view, header.client_id)
        if isinstance(view, FetchRequestView):
            view = connection.session.complete_request(view)
        self.names.learn_from(view)
        return ObservedRequest(
            connection=connection.number,
            correlation_id=header.correlation_id,
            api_key=header.api_key,
            link_kind=connection.link.kind,
            source=connection.source,
            destination=connection.link.destination,
            view=self.names.named(view) if view is not None else None,
            arrived_ns=arrived_ns,
        )

    def _answered(self, connection: ConnectionState, frame: bytearray) -> Sent | None:
        try:
            correlation_id = response_correlation_id(frame)
        except HeaderError:
            self.codec.undecodable += 1
            return None
        with self.lock:
            return connection.sent.answered(correlation_id)

    def _decide(self, passage: Passage, decision: Decision) -> None:
        passage.decision = decision
        if decision.action in ("hold", "delay") and decision.name is not None:
            passage.space = self._spaces[decision.name] = ParkingSpace()
            self.trace.write(passage.entry(None, "held"))
        self._report()

    def failed(self, defect: Exception) -> None:
        """Take note of a failure of the tester's own: frames may have been lost by it."""
        self.failures.append(f"{type(defect).__name__}: {defect}")

    def _report(self) -> None:
        for event in self.gate.take_events():
            try:
                self._on_event(event)
            except Exception as defect:  # noqa: BLE001 - the listener's trouble must not become the connection's
                self.failed(defect)
