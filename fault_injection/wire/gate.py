"""Which frames go on, which stay, and what becomes of those that stayed?

The gate is a policy without clock, socket or thread: it is told what arrives and when, and says what to do.
Whoever moves the bytes keeps four promises: every request is shown to ``on_request``, told to
``on_forwarded`` just before it goes to its destination, every answer is shown to ``on_response``, and
``connection_lost`` tells of every connection that ends, ``sender_lost`` of one whose sender is gone while its
destination has not heard of that.

Rules (the oldest armed action first, one action for a frame):
- a request point catches the n-th matching request that arrives after arming;
- a response point catches the answer to the n-th matching request forwarded after arming; with conditions on the
  answer, the n-th answer that meets them;
- an action may be armed for several frames, or for all until it is disarmed: it stays armed, and each frame it
  catches has a name of its own, ``name#1``, ``name#2``, and its own end; the action's name stands for all of them;
- a retry inside Kafka is stutter: a request that repeats one just answered with a retriable error is not
  counted, and such an answer is never what a response point waits for, unless it asks for that error;
- a request that is answered by the gate never reaches its destination: no response point counts it;
- a held frame whose connection ends is discharged: it will never arrive, so releasing it is an error;
- unless it is a request armed to outlive its sender: that one is orphaned, and can be released, late, until its
  destination ends; nothing else is;
- an action that waits for the answer of a connection that ends waits for the next matching request again.

Two frames of one connection and direction are never held at once: whoever moves the bytes reads the next one when
the one before has gone its way. So an action that waits for a frame behind a held one catches it after that hold
has ended. Frames of other connections, or of the other direction, pass or are held independently.
"""

from dataclasses import replace

from fault_injection.wire.controller_views import ErrorsView
from fault_injection.wire.gate_armed import ArmedAction, Exchange, Retries, expects_answer
from fault_injection.wire.gate_events import (
    FORWARD,
    HOLDING,
    Action,
    CaughtFrame,
    FrameDecision,
    GateEvent,
    HoldStatus,
)
from fault_injection.wire.impairments import NS_PER_MS
from fault_injection.wire.messages import ResponseView
from fault_injection.wire.points import ObservedRequest, Point

FRAME_MARK = "#"
_AT_ONCE: dict[Action, HoldStatus] = {
    "drop": HoldStatus.DROPPED,
    "close": HoldStatus.CLOSED,
    "answer": HoldStatus.ANSWERED,
}


class GateError(Exception):
    """A hold was told something that its state does not allow."""


class Gate:
    """Decides about frames; not thread-safe, the caller brings the lock."""

    def __init__(self) -> None:
        self._all: dict[str, ArmedAction] = {}
        self._events: list[GateEvent] = []

    def arm(  # noqa: PLR0913 - one argument a property of the action
        self,
        name: str,
        point: Point,
        now_ns: int,
        action: Action = "hold",
        delay_ms: int = 0,
        *,
        error: int | None = None,
        frames_max: int | None = 1,
        outlives: bool = False,
    ) -> None:
        """Lie in wait for frames. A name whose action has ended may be used again.

        Args:
            name: how it is called from now on.
            point: which frames.
            now_ns: monotonic.
            action: what happens to a frame that is caught.
            delay_ms: how long a delayed frame waits.
            error: Kafka's error code, which an answer must have.
            frames_max: how many frames are caught; None for every one until it is disarmed.
            outlives: whether a held request can still be delivered when its sender's connection has ended.

        Raises:
            GateError: the name is armed or holds a frame.
            ValueError: an answer without an error, no frame to catch, a name that could be a frame's, or something
                else than a held request that shall outlive its sender.
        """
        if (action == "answer") != (error is not None):
            raise ValueError("an answer needs an error code, and nothing else has one")
        if (frames_max is not None and frames_max < 1) or FRAME_MARK in name:
            raise ValueError(f"hold {name!r} of {frames_max} frames: at least one, and no {FRAME_MARK!r} in its name")
        self._add(ArmedAction(name, point, action, delay_ms, error, frames_max, outlives, Retries(point)), now_ns)

    def _add(self, armed: ArmedAction, now_ns: int) -> None:
        name = armed.name
        if armed.outlives and (armed.action != "hold" or armed.point.kind.direction != "request"):
            raise ValueError(f"hold {name!r}: only a request that is held can outlive its sender")
        known = self._all.get(name)
        if known is not None and (known.is_waiting or known.held):
            raise GateError(f"hold {name!r} is {known.status} already")
        self._all.pop(name, None)  # what is armed again is the youngest
        self._all[name] = armed
        self._record(armed, name, armed.status, now_ns)

    def on_request(self, request: ObservedRequest, now_ns: int) -> FrameDecision:
        """Return what to do with a request that arrived."""
        decision = FORWARD
        for armed in self._waiting("request"):
            if armed.wants(request) and decision is FORWARD:
                decision = self._catch(armed, request, None, now_ns)
        if decision.action == "answer":
            self._refuse(request, ErrorsView(decision.error or 0))
        return decision

    def on_forwarded(self, request: ObservedRequest) -> None:
        """Note that a request goes to its destination now."""
        for armed in self._waiting("response"):
            armed.forwarded(request)

    def on_response(self, request: ObservedRequest, response: ResponseView | None, now_ns: int) -> FrameDecision:
        """Return what to do with the answer to a request that was forwarded."""
        decision = FORWARD
        for armed in self._waiting("response"):
            if armed.wants_answer(request, response) and decision is FORWARD:
                decision = self._catch(armed, request, response, now_ns)
        self._refuse(request, response if decision.action != "answer" else ErrorsView(decision.error or 0))
        return decision

    def answered_late(self, request: ObservedRequest, response: ResponseView | None) -> None:
        """Note the answer to a request that has outlived its sender: nobody else hears it."""
        for armed in self._all.values():
            if armed.outlives and armed.last is not None and armed.last.request == request:
                armed.last = replace(armed.last, response=response)

    def release(self, name: str, now_ns: int, *, late: bool = False) -> tuple[str, ...]:
        """Let held frames go on and return their names.

        Args:
            name: under which frames are held.
            now_ns: monotonic.
            late: whether their senders' connections have ended.

        Raises:
            GateError: no frame is held under that name, or it is late and not said to be, or the other way round.
        """
        armed = self._known_action(name)
        is_orphaned = armed.status is HoldStatus.ORPHANED
        if is_orphaned != late and armed.held:
            why = "has outlived its sender: release it late" if is_orphaned else "is on an open connection: not late"
            raise GateError(f"the frame of hold {name!r} {why}")
        return self._end(name, HoldStatus.RELEASED, now_ns)

    def drop(self, name: str, now_ns: int) -> tuple[str, ...]:
        """Throw held frames away and return their names. Raises GateError unless one is held under that name."""
        return self._end(name, HoldStatus.DROPPED, now_ns)

    def close_connection(self, name: str, now_ns: int) -> tuple[str, ...]:
        """Throw held frames and their connections away. Raises GateError unless one is held."""
        return self._end(name, HoldStatus.CLOSED, now_ns)

    def answer(self, name: str, error: int, now_ns: int) -> tuple[str, ...]:
        """Have held frames answered with an error in place of their destination's answer.

        Raises:
            GateError: no frame is held under that name, or the sender of one waits for no answer.
        """
        requests = [frame.request for frame in self._known_action(name).held.values()]
        if not all(map(expects_answer, requests)):
            raise GateError(f"hold {name!r} cannot be answered: its sender waits for no answer")
        ended = self._end(name, HoldStatus.ANSWERED, now_ns)
        for request in requests:
            self._refuse(request, ErrorsView(error))
        return ended

    def disarm(self, name: str, now_ns: int) -> None:
        """Stop waiting for frames; those that are held stay so.

        Raises:
            GateError: the action is not waiting: it caught its frame, has ended or was never armed.
        """
        armed = self._known(name)
        if not armed.is_waiting:
            raise GateError(f"hold {name!r} is {armed.status}, so it cannot be disarmed")
        armed.status = HoldStatus.DISARMED
        self._record(armed, name, armed.status, now_ns)

    def connection_lost(self, connection: int, now_ns: int) -> tuple[str, ...]:
        """Discharge the frames held on a connection that ended and return their names."""
        return self._lost(connection, now_ns, is_heard=True)

    def sender_lost(self, connection: int, now_ns: int) -> tuple[str, ...]:
        """Orphan the frames that outlive their sender, discharge the others and return the names of these."""
        return self._lost(connection, now_ns, is_heard=False)

    def has_orphan(self, connection: int) -> bool:
        """Return whether a frame of a connection has outlived its sender."""
        orphaned = (armed for armed in self._all.values() if armed.status is HoldStatus.ORPHANED)
        return any(frame.request.connection == connection for armed in orphaned for frame in armed.held.values())

    def _lost(self, connection: int, now_ns: int, *, is_heard: bool) -> tuple[str, ...]:
        discharged = []
        for armed in self._all.values():
            for name, frame in list(armed.held.items()):
                if frame.request.connection != connection:
                    continue
                if is_heard or not armed.outlives:
                    self._end_frame(armed, name, HoldStatus.DISCHARGED, now_ns)
                    discharged.append(name)
                elif armed.status is not HoldStatus.ORPHANED:
                    armed.status = HoldStatus.ORPHANED
                    self._record(armed, name, armed.status, now_ns)
            if armed.is_waiting:
                armed.connection_lost(connection)
        return tuple(discharged)

    def status(self, name: str) -> HoldStatus:
        """Return where an action stands. Raises GateError for a name that was never armed."""
        return self._known(name).status

    def caught(self, name: str) -> CaughtFrame | None:
        """Return the last frame an action caught, also after it ended. Raises GateError for an unknown name."""
        return self._known(name).last

    def frames(self, name: str) -> int:
        """Return how many frames an action has caught so far. Raises GateError for an unknown name."""
        return self._known(name).frames

    def connections(self, name: str) -> frozenset[int]:
        """Return the numbers of the connections an action caught frames on. Raises GateError for an unknown name."""
        return frozenset(self._known(name).connections)

    def passed(self, name: str) -> tuple[Exchange, ...]:
        """Return the last frames on an action's link that it let pass. Raises GateError for an unknown name."""
        return tuple(self._known(name).passed)

    def holds(self) -> dict[str, HoldStatus]:
        """Return where all actions stand, in the order of arming."""
        return {name: armed.status for name, armed in self._all.items()}

    def take_events(self) -> list[GateEvent]:
        """Return what happened since the last call, oldest first."""
        events, self._events = self._events, []
        return events

    def _waiting(self, direction: str) -> list[ArmedAction]:
        return [one for one in self._all.values() if one.is_waiting and one.point.kind.direction == direction]

    def _refuse(self, request: ObservedRequest, response: ResponseView | None) -> None:
        for armed in self._waiting("request"):
            armed.refused(request, response)

    def _catch(
        self, armed: ArmedAction, request: ObservedRequest, response: ResponseView | None, now_ns: int
    ) -> FrameDecision:
        name, action = armed.next_frame_name, armed.action
        if action == "answer" and not expects_answer(request):
            action = "close"  # what a broker does when it cannot serve a request that nobody answers
        frame = CaughtFrame(name, armed.point.kind.direction, armed.point, request, response, now_ns)
        armed.frames += 1
        armed.last = armed.held[name] = frame
        armed.connections.add(request.connection)
        if armed.frames == armed.frames_max:
            armed.status = HoldStatus.CAUGHT
        self._record(armed, name, HoldStatus.CAUGHT, now_ns)
        if action in _AT_ONCE:
            self._end_frame(armed, name, _AT_ONCE[action], now_ns)
        until_ns = now_ns + armed.delay_ms * NS_PER_MS if action == "delay" else None
        return FrameDecision(action, name, until_ns, armed.error if action == "answer" else None)

    def _end(self, name: str, status: HoldStatus, now_ns: int) -> tuple[str, ...]:
        armed = self._known_action(name)
        names = tuple(armed.held) if name == armed.name else (name,)
        if not names:
            raise GateError(f"hold {name!r} is {armed.status}: no frame is held that could be {status}")
        for one in names:
            self._end_frame(armed, one, status, now_ns)
        return names

    def _end_frame(self, armed: ArmedAction, name: str, status: HoldStatus, now_ns: int) -> None:
        frame = armed.held.pop(name)
        if armed.status in HOLDING and not armed.held:
            armed.status = status
        self._record(armed, name, status, now_ns, frame)

    def _known(self, name: str) -> ArmedAction:
        try:
            return self._all[name]
        except KeyError:
            raise GateError(f"no hold is named {name!r}") from None

    def _known_action(self, name: str) -> ArmedAction:
        """Return the action of that name, or the one that holds a frame of that name."""
        for armed in self._all.values():
            if name in armed.held:
                return armed
        return self._known(name)

    def _record(
        self, armed: ArmedAction, name: str, status: HoldStatus, now_ns: int, frame: CaughtFrame | None = None
    ) -> None:
        event = GateEvent(name, status, armed.point, armed.action, now_ns, frame or armed.held.get(name))
        self._events.append(event)
