"""Which frames go on, which stay, and what becomes of those that stayed?

The gate is a policy without clock, socket or thread: it is told what arrives and when, and says what to do.
Whoever moves the bytes keeps four promises: every request is shown to ``on_request``, told to
``on_forwarded`` just before it goes to its destination, every answer is shown to ``on_response``, and
``connection_lost`` tells of every connection that ends.

Rules (one frame for each armed action, the oldest action first):
- a request point catches the n-th matching request that arrives after arming;
- a response point catches the answer to the n-th matching request forwarded after arming;
- a retry inside Kafka is stutter: a request that repeats one just answered with a retriable error is not
  counted, and such an answer is never what a response point waits for;
- a held frame whose connection ends is discharged: it will never arrive, so releasing it is an error;
- an action that waits for the answer of a connection that ends waits for the next matching request again.
"""

from dataclasses import dataclass

from fault_injection.wire.gate_events import (
    FORWARD,
    Action,
    CaughtFrame,
    Decision,
    GateEvent,
    HoldStatus,
)
from fault_injection.wire.messages import ResponseView
from fault_injection.wire.points import ObservedRequest, Point, matches
from fault_injection.wire.stutter import Retries, is_stutter

NS_PER_MS = 1_000_000
_AT_ONCE: dict[Action, HoldStatus] = {"drop": HoldStatus.DROPPED, "close": HoldStatus.CLOSED}


class GateError(Exception):
    """A hold was told something that its state does not allow."""


@dataclass(slots=True)
class _Armed:
    """One armed action and what it has seen so far."""

    name: str
    point: Point
    action: Action
    delay_ms: int
    retries: Retries
    status: HoldStatus = HoldStatus.ARMED
    count: int = 0
    awaited: tuple[int, int] | None = None
    caught: CaughtFrame | None = None


class Gate:
    """Decides about frames; not thread-safe, the caller brings the lock."""

    def __init__(self) -> None:
        self._all: dict[str, _Armed] = {}
        self._events: list[GateEvent] = []

    def arm(self, name: str, point: Point, now_ns: int, action: Action = "hold", delay_ms: int = 0) -> None:
        """Lie in wait for one frame. A name whose action has ended may be used again.

        Raises:
            GateError: the name is armed or holds a frame.
        """
        known = self._all.pop(name, None)
        if known is not None and known.status in (HoldStatus.ARMED, HoldStatus.CAUGHT):
            self._all[name] = known
            raise GateError(f"hold {name!r} is {known.status} already")
        armed = _Armed(name, point, action, delay_ms, Retries(point))
        self._all[name] = armed
        self._record(armed, now_ns)

    def on_request(self, request: ObservedRequest, now_ns: int) -> Decision:
        """Say what to do with a request that arrived."""
        decision = FORWARD
        for armed in self._waiting("request"):
            if not matches(armed.point, request) or armed.retries.is_retry(request):
                continue
            armed.count += 1
            armed.retries.counted(request)
            if decision is FORWARD and armed.count >= armed.point.nth:
                decision = self._catch(armed, request, None, now_ns)
        return decision

    def on_forwarded(self, request: ObservedRequest) -> None:
        """Take note that a request goes to its destination now."""
        for armed in self._waiting("response"):
            if matches(armed.point, request):
                armed.count += 1
                armed.retries.counted(request)
                if armed.awaited is None and armed.count >= armed.point.nth:
                    armed.awaited = _key(request)

    def on_response(self, request: ObservedRequest, response: ResponseView | None, now_ns: int) -> Decision:
        """Say what to do with the answer to a request that was forwarded."""
        for armed in self._waiting("request"):
            armed.retries.answered(request, response)
        decision = FORWARD
        for armed in self._waiting("response"):
            is_counted = armed.retries.answered(request, response)
            is_awaited = armed.awaited == _key(request)
            if is_awaited:
                armed.awaited = None
            if is_counted and is_stutter(armed.point, request, response):
                armed.count -= 1
            elif is_awaited and decision is FORWARD:
                decision = self._catch(armed, request, response, now_ns)
        return decision

    def release(self, name: str, now_ns: int) -> None:
        """Let a held frame go on. Raises GateError unless a frame is held under that name."""
        self._end(name, HoldStatus.RELEASED, now_ns)

    def drop(self, name: str, now_ns: int) -> None:
        """Throw a held frame away. Raises GateError unless a frame is held under that name."""
        self._end(name, HoldStatus.DROPPED, now_ns)

    def close_connection(self, name: str, now_ns: int) -> None:
        """Throw a held frame and its connection away. Raises GateError unless a frame is held."""
        self._end(name, HoldStatus.CLOSED, now_ns)

    def disarm(self, name: str, now_ns: int) -> None:
        """Stop waiting for a frame.

        Raises:
            GateError: the action is not waiting: it caught its frame, has ended or was never armed.
        """
        armed = self._known(name)
        if armed.status is not HoldStatus.ARMED:
            raise GateError(f"hold {name!r} is {armed.status}, so it cannot be disarmed")
        self._turn(armed, HoldStatus.DISARMED, now_ns)

    def connection_lost(self, connection: int, now_ns: int) -> tuple[str, ...]:
        """Discharge the frames held on a connection that ended and give their names."""
        discharged = []
        for armed in self._all.values():
            if armed.status is HoldStatus.CAUGHT and _connection(armed) == connection:
                self._turn(armed, HoldStatus.DISCHARGED, now_ns)
                discharged.append(armed.name)
            elif armed.status is HoldStatus.ARMED:
                lost = armed.retries.connection_lost(connection)
                armed.count -= lost if armed.point.kind.direction == "response" else 0
                if armed.awaited is not None and armed.awaited[0] == connection:
                    armed.awaited = None
        return tuple(discharged)

    def status(self, name: str) -> HoldStatus:
        """Tell where an action stands. Raises GateError for a name that was never armed."""
        return self._known(name).status

    def caught(self, name: str) -> CaughtFrame | None:
        """Give the frame an action caught, also after it ended. Raises GateError for an unknown name."""
        return self._known(name).caught

    def holds(self) -> dict[str, HoldStatus]:
        """Tell where all actions stand, in the order of arming."""
        return {name: armed.status for name, armed in self._all.items()}

    def take_events(self) -> list[GateEvent]:
        """Give what happened since the last call, oldest first."""
        events, self._events = self._events, []
        return events

    def _waiting(self, direction: str) -> list[_Armed]:
        return [
            armed
            for armed in self._all.values()
            if armed.status is HoldStatus.ARMED and armed.point.kind.direction == direction
        ]

    def _catch(self, armed: _Armed, request: ObservedRequest, response: ResponseView | None, now_ns: int) -> Decision:
        direction = armed.point.kind.direction
        armed.caught = CaughtFrame(armed.name, direction, armed.point, request, response, now_ns)
        self._turn(armed, HoldStatus.CAUGHT, now_ns)
        if armed.action in _AT_ONCE:
            self._turn(armed, _AT_ONCE[armed.action], now_ns)
        until_ns = now_ns + armed.delay_ms * NS_PER_MS if armed.action == "delay" else None
        return Decision(armed.action, armed.name, until_ns)

    def _end(self, name: str, status: HoldStatus, now_ns: int) -> None:
        armed = self._known(name)
        if armed.status is not HoldStatus.CAUGHT:
            raise GateError(f"hold {name!r} is {armed.status}: no frame is held that could be {status}")
        self._turn(armed, status, now_ns)

    def _known(self, name: str) -> _Armed:
        try:
            return self._all[name]
        except KeyError:
            raise GateError(f"no hold is named {name!r}") from None

    def _turn(self, armed: _Armed, status: HoldStatus, now_ns: int) -> None:
        armed.status = status
        self._record(armed, now_ns)

    def _record(self, armed: _Armed, now_ns: int) -> None:
        event = GateEvent(armed.name, armed.status, armed.point, armed.action, now_ns, armed.caught)
        self._events.append(event)


def _key(request: ObservedRequest) -> tuple[int, int]:
    return request.connection, request.correlation_id


def _connection(armed: _Armed) -> int | None:
    return armed.caught.request.connection if armed.caught is not None else None
