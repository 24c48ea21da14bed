"""How does a tester stand between the nodes of a cluster?

``GateProxy`` is the relay a cluster is started with. Each link has one port; every frame through it is decoded, shown
to the gate and passed on unchanged. Reaching a protocol point is an event: arm it, wait until ``caught`` gives the
frame, release it. Nothing here sleeps or decides what should happen.

The sans-IO parts meet here, under one lock: a frame is read, the gate is asked, the trace is kept. Sockets belong to
``network`` and its connections. While nobody can want a frame it goes on ``unread``; whoever asks for rounds or trace,
or arms an action, has everything read first.
"""

import threading
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from uuid import UUID

from fault_injection.cluster.relay import LOOPBACK, Address, LinkName
from fault_injection.wire.answers import CannotAnswerError
from fault_injection.wire.channel import Valve
from fault_injection.wire.codec import Codec, load_schemas
from fault_injection.wire.codec_schemas import SHIPPED
from fault_injection.wire.gate import Gate, GateError
from fault_injection.wire.gate_armed import Exchange, expects_answer
from fault_injection.wire.gate_events import Action, CaughtFrame, FrameDecision, GateEvent, HoldStatus
from fault_injection.wire.headers import HeaderError, request_header, response_correlation_id
from fault_injection.wire.network import Network, abort
from fault_injection.wire.passage import ConnectionState, ParkingSpace, Passage, Sent, Word
from fault_injection.wire.points import Direction, Point
from fault_injection.wire.readings import Readings
from fault_injection.wire.rounds import Round, Rounds
from fault_injection.wire.trace import Keeps, Outcome, Trace
from fault_injection.wire.unread import FRAMES_MAX, UnreadFrame, UnreadFrames

TELLING_REQUESTS = 4  # who sends has named itself by then, or never will
STUCK_NS = 1_000_000_000
"""A frame that is being sent for so long has a line, so that no reader of the trace waits for its fate."""


class GateProxy:
    """The relay between brokers with a gate in it; every method may be called from any thread.

    Args:
        bind_host: host to listen on.
        peers: the networks that nodes and clients come from, as address/length. A connection from elsewhere is
            reset unread: at a bridge's gateway every container of this machine can knock.
        schemas: a kafka-clients 3.9 jar; without it the controller's requests are not decoded.
        on_event: told of everything that happens to armed actions, in order; must return quickly.
        reads_ids: whether record ids are told of Produce requests and of answers to FETCH (``IdBatch``).
        unread_max: so many frames wait to be read at most: whoever arms an action, or loses a link, waits for them.

    Attributes:
        network: the ports and connections; cuts, delays and resets of the links.
        valve: what is imposed on the network.

    Raises:
        SchemasUnreadableError: the jar is no such jar.
    """

    def __init__(
        self,
        bind_host: str = "127.0.0.1",
        peers: Sequence[str] = (LOOPBACK,),
        schemas: Path | None = None,
        on_event: Callable[[GateEvent], None] = lambda _: None,
        *,
        reads_ids: bool = False,
        unread_max: int = FRAMES_MAX,
    ) -> None:
        self._codec = Codec(load_schemas(schemas) if schemas is not None else SHIPPED, reads_ids=reads_ids)
        self._on_event = on_event
        self._lock = threading.RLock()
        self._gate = Gate()
        self._spaces: dict[str, ParkingSpace] = {}
        self._is_watched = False
        self._readings = Readings(self._codec)
        self._unread = UnreadFrames(self.read, unread_max)
        self._trace = Trace()
        self._departed: dict[int, Passage] = {}
        self._seq = count()
        self._connections = count()
        self._failures: list[str] = []
        self.valve = Valve()
        self.network = Network(self, bind_host, peers)

    def __enter__(self) -> "GateProxy":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End everything and wait for every thread; held frames are discharged."""
        self.network.close()
        self._unread.close()
        self.trace.close()

    # What a cluster asks of its relay

    def open(self, link: LinkName, upstream: Address) -> Address:
        """Listen for a link and return the address to advertise. Raises OSError if the port cannot be listened on."""
        return self.network.open(link, upstream)

    def refuse(self, link: LinkName) -> None:
        """Behave as a dead node's port: close the listener, reset its connections, discharge their frames."""
        self.network.refuse(link)
        if link.kind == "replication":
            with self._lock:
                self.rounds.leader_lost(link.destination)

    def abort_source(self, broker: int) -> None:
        """Reset every connection a broker opened and discharge their frames, or orphan them: the broker died."""
        self.network.abort_source(broker)

    # Frames at protocol points

    def arm(
        self,
        name: str,
        point: Point,
        action: Action = "hold",
        delay_ms: int = 0,
        *,
        error: int | None = None,
        frames_max: int | None = 1,
        outlives: bool = False,
    ) -> None:
        """Lie in wait for frames at a point.

        The arguments are those of ``Gate.arm``, but for the time.

        Raises:
            GateError: the name is in use, or the answer could not be made.
            ValueError: as ``Gate.arm``.
        """
        if action == "answer" and not self._codec.can_answer(point.kind.api_key):
            raise GateError(f"hold {name!r} cannot answer at {point.name} without the schemas of its messages")
        with self._lock:
            self._is_watched = True  # from here on every frame that arrives is shown to the gate
            self.read()
            try:
                self._gate.arm(
                    name,
                    point,
                    time.monotonic_ns(),
                    action,
                    delay_ms,
                    error=error,
                    frames_max=frames_max,
                    outlives=outlives,
                )
            finally:
                self._report()

    def disarm(self, name: str) -> None:
        """Stop waiting for a frame. Raises GateError unless the action is still armed."""
        with self._lock:
            self._gate.disarm(name, time.monotonic_ns())
            self._report()

    def release(self, name: str) -> None:
        """Let held frames go on, unchanged. Raises GateError unless a frame is held under that name."""
        self._end_hold(name, self._gate.release, "forward")

    def release_late(self, name: str) -> None:
        """Let a held request go on whose sender's connection has ended. Raises GateError unless there is such a one."""
        self._end_hold(name, lambda held, now_ns: self._gate.release(held, now_ns, late=True), "forward")

    def lose_sender(self, name: str) -> bool:
        """Reset the connection of whoever sent a held request that outlives it; tell whether it still waits there.

        Raises:
            GateError: nothing was ever armed under that name.
        """
        with self._lock:
            numbers = self._gate.connections(name)
        hit = [one for one in self.network.connections() if one.state.number in numbers]
        waits = [one.lose_sender() for one in hit]
        return any(waits)

    def is_open(self, connection: int) -> bool:
        """Return whether a connection moves frames still, be it one that has outlived its sender."""
        return any(one.state.number == connection for one in self.network.connections())

    def drop(self, name: str) -> None:
        """Throw held frames away; their connections stay open and silent. Raises GateError if none is held."""
        self._end_hold(name, self._gate.drop, "drop")

    def close_connection(self, name: str) -> None:
        """Throw held frames away and reset their connections. Raises GateError if none is held."""
        self._end_hold(name, self._gate.close_connection, "close")

    def answer(self, name: str, error: int) -> None:
        """Answer held frames with an error, in place of their destination. Raises GateError if none can be."""
        with self._lock:
            caught = self._gate.caught(name)
            if caught is not None and not self._codec.can_answer(caught.request.api_key):
                raise GateError(f"hold {name!r} cannot be answered without the schemas of its messages")
            self._end_hold(name, lambda held, now_ns: self._gate.answer(held, error, now_ns), "answer", error)

    def _end_hold(
        self, name: str, verb: Callable[[str, int], tuple[str, ...]], word: Word, error: int | None = None
    ) -> None:
        with self._lock:
            for frame in verb(name, time.monotonic_ns()):
                self._spaces.pop(frame).tell(word, error)
            self._report()

    def reset_caught(self, name: str) -> tuple[int, ...]:
        """Reset the connections on which an action caught frames, so that nobody waits for an answer to them.

        Return the numbers of those that were open. Raises GateError for a name that was never armed.
        """
        with self._lock:
            numbers = self._gate.connections(name)
        hit = [one for one in self.network.connections() if one.state.number in numbers]
        abort(hit)
        return tuple(sorted(one.state.number for one in hit))

    def frames(self, name: str) -> int:
        """Return how many frames an action has caught. Raises GateError for a name that was never armed."""
        with self._lock:
            return self._gate.frames(name)

    def passed(self, name: str) -> tuple[Exchange, ...]:
        """Return the last frames of its kind on its link that an action let pass. Raises GateError as ``frames``."""
        with self._lock:
            return self._gate.passed(name)

    def caught(self, name: str) -> CaughtFrame | None:
        """Return the last frame an action caught, also after it went on; None while none came.

        Raises:
            GateError: nothing was ever armed under that name.
        """
        with self._lock:
            return self._gate.caught(name)

    def status(self, name: str) -> HoldStatus:
        """Return where an action stands. Raises GateError for a name that was never armed."""
        with self._lock:
            return self._gate.status(name)

    def holds(self) -> dict[str, HoldStatus]:
        """Return where all actions ever armed stand, by name in the order of arming."""
        with self._lock:
            return self._gate.holds()

    # What the frames say

    @property
    def rounds(self) -> Rounds:
        """Return the fetch rounds up to the last frame that arrived."""
        with self._lock:
            self.read()
            return self._readings.rounds

    def rounds_since(
        self, time_ns: int, *, topic: str | None = None, partition: int | None = None, follower: int | None = None
    ) -> tuple[Round, ...]:
        """Return the finished fetch rounds whose request arrived at or after a monotonic time."""
        with self._lock:
            return self.rounds.rounds_since(time_ns, topic=topic, partition=partition, follower=follower)

    def last_forwarded_fetch_offset(self, follower: int, leader: int, topic: str, partition: int) -> int | None:
        """Return the last fetch offset let through to the leader: its remote log end offset, derived."""
        with self._lock:
            return self.rounds.last_forwarded_fetch_offset(follower, leader, topic, partition)

    def diverging_fetch_offset(self, follower: int, leader: int, topic: str, partition: int) -> int | None:
        """Return the remote log end offset if the leader counted the last fetch, to which it said that logs diverge."""
        with self._lock:
            return self.rounds.diverging_fetch_offset(follower, leader, topic, partition)

    def learn_topic(self, topic_id: str | UUID, name: str) -> None:
        """Learn which topic an id names; needed for points on a topic from Fetch v13 on (KRaft)."""
        self._readings.names.learn(topic_id, name)

    @property
    def trace(self) -> Trace:
        """Return the trace, which has been told of every frame that arrived."""
        self.read()
        return self._trace

    def trace_to(self, path: Path, keeps: Keeps | None = None) -> None:
        """Write every frame from now on to a new file, compressed if its name ends in ``.zst``.

        Args:
            path: the file.
            keeps: which frames are worth a line, beside those that an action caught; None for all.

        Raises:
            OSError: it cannot be created.
            ModuleNotFoundError: it is to be compressed, and pyarrow is not installed.
        """
        self.trace.rotate(path, lambda: next(self._seq), keeps)

    def end_trace(self) -> None:
        """Write the last line of the file and no more to it. Raises OSError if a line could not be written."""
        self.trace.end(next(self._seq))

    @property
    def backlog(self) -> tuple[int, int]:
        """How many frames went on and are still to be read, and how many lines are still to be written."""
        return len(self._unread), self._trace.waiting

    @property
    def undecodable(self) -> int:
        """How many frames should have decoded and did not; they were passed on all the same."""
        return self._codec.undecodable

    @property
    def strangers(self) -> int:
        """How many connections were refused because they came from outside the network of the nodes."""
        return self.network.strangers

    @property
    def failures(self) -> tuple[str, ...]:
        """What failed in the tester itself while it moved frames, oldest first; any may have disturbed the nodes."""
        return tuple(self._failures)

    # What becomes of one frame between its arrival and its departure (``FrameHandler``)

    def connected(self, link: LinkName) -> ConnectionState:
        """Begin to follow a connection."""
        return ConnectionState(next(self._connections), link, link.source)

    def connection_lost(self, connection: ConnectionState) -> None:
        """Discharge what a connection held; further frames on it are turned away."""
        with self._lock:
            connection.is_lost, connection.is_orphaned = True, False
            self.rounds.connection_lost(connection.number)
            connection.asked.clear()
            self._abort_frames(self._gate.connection_lost(connection.number, time.monotonic_ns()))
            self._report()

    def sender_lost(self, connection: ConnectionState) -> bool:
        """Discharge what a connection held, but for a frame that outlives its sender; tell whether there is one."""
        with self._lock:
            number = connection.number
            self._abort_frames(self._gate.sender_lost(number, time.monotonic_ns()))
            connection.is_orphaned = self._gate.has_orphan(number)
            if connection.is_orphaned:
                connection.is_lost = True
                self.rounds.connection_lost(number)
                connection.asked.clear()
            self._report()
            return connection.is_orphaned

    def _abort_frames(self, names: Sequence[str]) -> None:
        for name in names:
            if name in self._spaces:  # it has none if no pipe was left
                self._spaces.pop(name).tell("abort")

    def may_begin(self, connection: ConnectionState, begun: memoryview) -> bool:
        """Return whether the first bytes of an answer may go on, because nobody can want the frame."""
        return self._is_free(connection) and self._readings.is_awaited(connection, begun)

    def unread(
        self, direction: Direction, connection: ConnectionState, frame: bytearray, *, has_begun: bool = False
    ) -> UnreadFrame | None:
        """Return the frame if it may go on before it is read, because nobody can want it; None if it may not.

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
        """Note what became of a frame that went on unread."""
        unread.outcome = outcome
        if unread.passage is None:
            self._readings.lighten(unread)
        if unread.passage is not None:
            self._write(unread)

    def read(self, frames_max: int | None = None) -> None:
        """Read frames that went on unread, the oldest first; all of them unless told how many."""
        with self._lock:
            self._tell_stuck()
            left = len(self._unread) if frames_max is None else frames_max
            while left > 0 and (unread := self._unread.take()) is not None:
                left -= 1
                try:
                    unread.passage = self._readings.passed(unread)
                except Exception as defect:  # noqa: BLE001 - it went on already; whoever judges must know
                    self.failed(defect)
                else:
                    self._departed[unread.seq] = unread.passage
                    self._write(unread)

    def _tell_stuck(self) -> None:
        """Write down, with the lock held, the frames whose receiver has not read for long: what will become of them."""
        while self._departed:
            passage = next(iter(self._departed.values()))
            if time.monotonic_ns() - passage.arrived_ns < STUCK_NS:
                return
            self.ended(passage, None, "held")

    def request_arrived(self, connection: ConnectionState, frame: bytearray) -> Passage:
        """Decide about a request."""
        passage = self._passage("request", connection, frame)
        try:
            header = request_header(frame)
        except HeaderError:
            self.malformed()
            return passage
        view = self._codec.request(header, frame)
        with self._lock:
            self.read()
            connection.requests += 1
            passage.header = header
            passage.request = request = self._readings.observed(connection, header, view, passage.arrived_ns)
            if connection.is_lost or (not self.valve.is_open and self.valve.refuses(passage, request.source)):
                passage.decision = FrameDecision("close")
            else:
                self._decide(passage, self._gate.on_request(request, time.monotonic_ns()))
        return passage

    def response_arrived(self, connection: ConnectionState, frame: bytearray) -> Passage:
        """Decide about a response."""
        passage = self._passage("response", connection, frame)
        if (sent := self._answered(connection, frame)) is None:
            return passage
        header, request = sent
        view = self._codec.response(header.api_key, header.api_version, frame)
        with self._lock:
            passage.header, passage.request = header, request
            passage.response = self._readings.completed(connection, request, view)
            if connection.is_lost:
                passage.decision = FrameDecision("close")
                self._gate.answered_late(request, passage.response)
            else:
                self._decide(passage, self._gate.on_response(request, passage.response, time.monotonic_ns()))
        return passage

    def malformed(self) -> None:
        """Note bytes that are no frame."""
        self._codec.note_undecodable()

    def is_answered(self, connection: ConnectionState) -> bool:
        """Return whether no request that was let through on a connection waits for its answer."""
        with self._lock:
            self.read()
            return not any(expects_answer(request) for _, request in connection.sent.waiting())

    def fabricated(self, passage: Passage) -> tuple[Passage, bytearray]:
        """Return the answer to a request that the gate answers, or in place of the answer that came.

        Raises:
            CannotAnswerError: the request was not understood.
        """
        header, request = passage.header, passage.request
        if header is None or request is None:
            raise CannotAnswerError("a frame without a header")
        content = bytearray(self._codec.error_answer(header, request.view, passage.error))
        view = self._codec.response(header.api_key, header.api_version, content)
        answer = self._passage("response", passage.connection, content)
        answer.is_fabricated, answer.header, answer.request = True, header, request
        with self._lock:
            answer.response = self._readings.names.named(view) if view is not None else None
        answer.decision = FrameDecision("forward", passage.decision.name)
        return answer, content

    def departs(self, passage: Passage) -> int:
        """Note that a frame goes on now and return the time; to be called before its first byte goes."""
        with self._lock:
            now_ns = time.monotonic_ns()
            self._readings.follow(passage, now_ns)
            if passage.direction == "request" and passage.request is not None and not passage.connection.is_lost:
                self._gate.on_forwarded(passage.request)
            self._departed[passage.seq] = passage
            return now_ns

    def ended(self, passage: Passage, forwarded_ns: int | None, outcome: Outcome) -> None:
        """Write down what became of a frame."""
        with self._lock:
            self._departed.pop(passage.seq, None)
            self._trace.write(passage.entry(forwarded_ns, outcome))

    def failed(self, defect: Exception) -> None:
        """Note a failure of the tester's own: frames may have been lost by it."""
        self._failures.append(f"{type(defect).__name__}: {defect}")

    def _passage(self, direction: Direction, connection: ConnectionState, frame: bytearray) -> Passage:
        return Passage(next(self._seq), direction, connection, len(frame), time.monotonic_ns())

    def _answered(self, connection: ConnectionState, frame: bytearray) -> Sent | None:
        try:
            correlation_id = response_correlation_id(frame)
        except HeaderError:
            self.malformed()
            return None
        with self._lock:
            self.read()
            connection.asked.pop(correlation_id, None)
            return connection.sent.answered(correlation_id)

    def _write(self, unread: UnreadFrame) -> None:
        """Write down a frame that was sent and read, whichever came last; once."""
        with self._lock:
            if unread.outcome is not None and unread.passage is not None and not unread.is_written:
                unread.is_written = True
                self.ended(unread.passage, unread.arrived_ns, unread.outcome)

    def _is_free(self, connection: ConnectionState) -> bool:
        """Return whether nothing can want a frame that arrives now, and nothing new can be learned about its sender."""
        is_watched = self._is_watched or not self.valve.is_open
        return not is_watched and connection.requests >= TELLING_REQUESTS and not connection.is_lost

    def _decide(self, passage: Passage, decision: FrameDecision) -> None:
        passage.decision = decision
        if decision.action in ("hold", "delay") and decision.name is not None:
            passage.space = self._spaces[decision.name] = ParkingSpace()
            self._trace.write(passage.entry(None, "held"))
        self._report()

    def _report(self) -> None:
        self._is_watched = HoldStatus.ARMED in self._gate.holds().values()
        for event in self._gate.take_events():
            try:
                self._on_event(event)
            except Exception as defect:  # noqa: BLE001 - the listener's trouble must not become the connection's
                self.failed(defect)
