"""Is this frame the one, or one of those, that an armed action lies in wait for?

An action that catches one frame counts as Kafka's protocol does: retries are stutter and do not count. One that
catches several, or all until it is disarmed, counts so up to its n-th frame and then takes every matching frame,
retries included.

Choices: a response point without conditions on the answer waits for the answer to the n-th matching request,
whichever is answered first. With conditions it takes the n-th answer that meets them, in the order of answers.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from fault_injection.wire.content import ANYTHING
from fault_injection.wire.gate_events import Action, CaughtFrame, HoldStatus
from fault_injection.wire.messages import ResponseView
from fault_injection.wire.points import (
    PRODUCE_KEY,
    ObservedRequest,
    Point,
    identity,
    is_on_link,
    matches,
    matches_answer,
    matching_partitions,
)
from fault_injection.wire.views import ProduceRequestView

# Which frames are only Kafka trying again?
#
# A follower repeats a request that was answered with a retriable error after a back-off: an epoch lookup that
# came before the leader knew of its election (6), a fetch refused for its epoch (74, 75), an offset not yet
# available (78), a session to be opened anew (70, 71). No state of the model changes, so nobody counts it.


STUTTER_ERRORS = frozenset(
    {
        3,  # UNKNOWN_TOPIC_OR_PARTITION: the destination has not heard of it yet
        5,  # LEADER_NOT_AVAILABLE
        6,  # NOT_LEADER_OR_FOLLOWER
        9,  # REPLICA_NOT_AVAILABLE
        41,  # NOT_CONTROLLER
        70,  # FETCH_SESSION_ID_NOT_FOUND
        71,  # INVALID_FETCH_SESSION_EPOCH
        74,  # FENCED_LEADER_EPOCH
        75,  # UNKNOWN_LEADER_EPOCH
        78,  # OFFSET_NOT_AVAILABLE
        100,  # UNKNOWN_TOPIC_ID
        103,  # INCONSISTENT_TOPIC_ID
        106,  # FETCH_SESSION_TOPIC_ID_ERROR
    }
)

COMPARED = ("leader_epoch", "fetch_offset", "last_fetched_epoch")


def is_stutter(point: Point, request: ObservedRequest, response: ResponseView | None) -> bool:
    """Return whether an answer only tells the sender to try again, for all the partitions a point is about.

    A producer is a client: whatever it is told is an outcome, and a retry of its own is another attempt.
    """
    if response is None or request.api_key == PRODUCE_KEY:
        return False
    about = {identity(entry) for entry in matching_partitions(point, request)}
    answers: tuple[Any, ...] = getattr(response, "partitions", ())
    errors = {entry.error for entry in answers if identity(entry) in about}
    return response.error in STUTTER_ERRORS or (bool(errors) and errors <= STUTTER_ERRORS)


class Retries:
    """Remembers, for one point, the last matching request of each connection and whether it has to be repeated.

    A follower has one request in flight on a connection; of pipelined requests the last one counts.
    """

    def __init__(self, point: Point) -> None:
        self._point = point
        self._in_flight: dict[int, ObservedRequest] = {}
        self._refused: dict[int, tuple[Any, ...]] = {}

    def sent(self, request: ObservedRequest) -> None:
        """Remember a request."""
        self._in_flight[request.connection] = request
        self._refused.pop(request.connection, None)

    def answered(self, request: ObservedRequest, response: ResponseView | None) -> bool:
        """Note an answer; tell whether its request is remembered."""
        waiting = self._in_flight.get(request.connection)
        if waiting is None or waiting.correlation_id != request.correlation_id:
            return False
        del self._in_flight[request.connection]
        if is_stutter(self._point, request, response):
            self._refused[request.connection] = self._said(request)
        return True

    def is_retry(self, request: ObservedRequest) -> bool:
        """Return whether a request repeats what was just refused on its connection."""
        return self._refused.get(request.connection) == self._said(request)

    def connection_lost(self, connection: int) -> int:
        """Forget a connection and give how many remembered requests will never be answered."""
        self._refused.pop(connection, None)
        return 1 if self._in_flight.pop(connection, None) is not None else 0

    def _said(self, request: ObservedRequest) -> tuple[Any, ...]:
        return tuple(
            (identity(entry), *(getattr(entry, field, None) for field in COMPARED))
            for entry in matching_partitions(self._point, request)
        )


PASSED_MAX = 5

Exchange = tuple[ObservedRequest, ResponseView | None]
"""A request, and its answer where a response point looked at it."""


@dataclass(slots=True)
class ArmedAction:
    """One armed action and what it has seen so far.

    Attributes:
        name: under which it was armed.
        point: where it waits.
        action: what it does with a frame.
        delay_ms: of a delay.
        error: of an answer.
        frames_max: how many frames it takes; None for every one until it is disarmed.
        outlives: whether a request that it holds can still be delivered when its sender's connection has ended.
        retries: which requests only repeat another.
        status: where it stands.
        frames: how many frames it took so far.
        held: the frames that wait for a word, by their names.
        last: the last frame it took.
        connections: the numbers of those on which it took frames.
        passed: the last frames of this kind on this link that did not match.
    """

    name: str
    point: Point
    action: Action
    delay_ms: int
    error: int | None
    frames_max: int | None
    outlives: bool
    retries: Retries
    status: HoldStatus = HoldStatus.ARMED
    frames: int = 0
    held: dict[str, CaughtFrame] = field(default_factory=dict)
    last: CaughtFrame | None = None
    connections: set[int] = field(default_factory=set)
    passed: deque[Exchange] = field(default_factory=lambda: deque(maxlen=PASSED_MAX))
    _count: int = 0
    _awaited: set[tuple[int, int]] = field(default_factory=set)

    @property
    def is_waiting(self) -> bool:
        """Return whether it lies in wait for a frame."""
        return self.status is HoldStatus.ARMED

    @property
    def is_single(self) -> bool:
        """Return whether it takes one frame only, so that the frame has its name."""
        return self.frames_max == 1

    @property
    def next_frame_name(self) -> str:
        """Return the name of the next frame it takes."""
        return self.name if self.is_single else f"{self.name}#{self.frames + 1}"

    def wants(self, request: ObservedRequest) -> bool:
        """Return of a request that arrived whether it is one to take."""
        if not matches(self.point, request):
            self._pass_over(request, None)
            return False
        if self.frames == 0:
            is_retry = self.retries.is_retry(request)
            self.retries.sent(request)
            if is_retry:
                self._pass_over(request, None)
                return False
            self._count += 1
        return self._count >= self.point.nth

    def forwarded(self, request: ObservedRequest) -> None:
        """Note a request that goes on, for a response point."""
        if not matches(self.point, request) or not expects_answer(request):
            return
        if self._is_conditioned:
            self._awaited.add(_key(request))
            return
        self._count += 1
        self.retries.sent(request)
        if self._count >= self.point.nth and not (self.is_single and self._awaited):
            self._awaited.add(_key(request))

    def refused(self, request: ObservedRequest, response: ResponseView | None) -> None:
        """Note an answer, for a request point: a retry of its request does not count."""
        self.retries.answered(request, response)

    def wants_answer(self, request: ObservedRequest, response: ResponseView | None) -> bool:
        """Return of an answer whether it is one to take."""
        is_awaited = _key(request) in self._awaited
        self._awaited.discard(_key(request))
        is_counted = self.retries.answered(request, response)
        if self._is_stutter(request, response):
            self._count -= 1 if is_counted else 0
            is_awaited = False
        if is_awaited and self._is_conditioned:
            is_awaited = matches_answer(self.point, request, response)
            self._count += 1 if is_awaited else 0
            is_awaited = is_awaited and self._count >= self.point.nth
        if not is_awaited:
            self._pass_over(request, response)
        return is_awaited

    def connection_lost(self, connection: int) -> None:
        """Forget the requests that will never be answered."""
        lost = self.retries.connection_lost(connection)
        if self.point.kind.direction == "response":
            self._count -= lost
        self._awaited = {key for key in self._awaited if key[0] != connection}

    @property
    def _is_conditioned(self) -> bool:
        return self.point.answered != ANYTHING

    def _is_stutter(self, request: ObservedRequest, response: ResponseView | None) -> bool:
        is_asked_for = self.point.answered.error is not None
        return self.frames == 0 and not is_asked_for and is_stutter(self.point, request, response)

    def _pass_over(self, request: ObservedRequest, response: ResponseView | None) -> None:
        if is_on_link(self.point, request):
            self.passed.append((request, response))


def expects_answer(request: ObservedRequest) -> bool:
    """Return whether the sender of a request waits for an answer; a producer with acks=0 does not."""
    return not (isinstance(request.view, ProduceRequestView) and request.view.acks == 0)


def _key(request: ObservedRequest) -> tuple[int, int]:
    return request.connection, request.correlation_id
