"""Is this frame the one, or one of those, that an armed action lies in wait for?

An action that catches one frame counts as Kafka's protocol does: retries are stutter and do not count. One that
catches several, or all until it is disarmed, counts so up to its n-th frame and then takes every matching frame,
retries included.

Choices: a response point without conditions on the answer waits for the answer to the n-th matching request,
whichever is answered first. With conditions it takes the n-th answer that meets them, in the order of answers.
"""

from collections import deque
from dataclasses import dataclass, field

from fault_injection.wire.client_views import ProduceRequestView
from fault_injection.wire.content import ANYTHING
from fault_injection.wire.gate_events import Action, CaughtFrame, HoldStatus
from fault_injection.wire.messages import ResponseView
from fault_injection.wire.points import ObservedRequest, Point, is_on_link, matches, matches_answer
from fault_injection.wire.stutter import Retries, is_stutter

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
        """Whether it lies in wait for a frame."""
        return self.status is HoldStatus.ARMED

    @property
    def is_single(self) -> bool:
        """Whether it takes one frame only, so that the frame has its name."""
        return self.frames_max == 1

    @property
    def next_frame_name(self) -> str:
        """The name of the next frame it takes."""
        return self.name if self.is_single else f"{self.name}#{self.frames + 1}"

    def wants(self, request: ObservedRequest) -> bool:
        """Tell of a request that arrived whether it is one to take."""
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
        """Take note of a request that goes on, for a response point."""
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
        """Take note of an answer, for a request point: a retry of its request does not count."""
        self.retries.answered(request, response)

    def wants_answer(self, request: ObservedRequest, response: ResponseView | None) -> bool:
        """Tell of an answer whether it is one to take."""
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
    """Whether the sender of a request waits for an answer; a producer with acks=0 does not."""
    return not (isinstance(request.view, ProduceRequestView) and request.view.acks == 0)


def _key(request: ObservedRequest) -> tuple[int, int]:
    return request.connection, request.correlation_id
