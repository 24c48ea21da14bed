"""Whatever arrives and whatever is armed: does every frame go on, stay or end exactly once, in its order?

The machine plays brokers that are pipelined over two connections, a mover of bytes that keeps the gate's four
promises, and a tester who arms, ends and disarms actions at will. It keeps its own books, one line for each frame.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import hypothesis
from hypothesis import strategies as st

from fault_injection.wire.content import Content
from fault_injection.wire.gate import Gate, GateError
from fault_injection.wire.gate_events import Action, FrameDecision, HoldStatus
from fault_injection.wire.points import ObservedRequest, Point
from tests.fault_injection.wire.gate_transcript import answer_of, asked, fetch_of, given

CONNECTIONS = (2, 3)
NAMES = ("a", "b", "c")
ERRORS = st.sampled_from([0, 0, 0, 6, 74])
FINAL = set(HoldStatus) - {HoldStatus.ARMED, HoldStatus.CAUGHT, HoldStatus.ORPHANED}


@dataclass
class Line:
    """One direction of a connection: frames that have not arrived yet, the one that is held, those that went on."""

    waiting: deque[ObservedRequest] = field(default_factory=deque)
    held: tuple[str, ObservedRequest] | None = None
    forwarded: list[int] = field(default_factory=list)


class Brokers:
    """Three parties on paper; each of the public methods is one thing that can happen."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.times = count(1)
        self.correlations = count(1)
        self.numbers = count(10)
        self.connections: dict[int, int] = {}
        self.requests: dict[int, Line] = {}
        self.answers: dict[int, Line] = {}
        self.ends: dict[tuple[str, int, int], str] = {}
        self.limits: dict[str, int | None] = {}
        self.caught: set[str] = set()
        for one in CONNECTIONS:
            self.reconnect(one)

    def reconnect(self, follower: int) -> None:
        self.connections[follower] = next(self.numbers)
        self.requests[follower], self.answers[follower] = Line(), Line()

    # What brokers do

    def ask(self, follower: int, offset: int) -> None:
        view = fetch_of(asked(offset), follower=follower)
        request = ObservedRequest(
            self.connections[follower], next(self.correlations), 1, "replication", follower, 1, view, next(self.times)
        )
        self.requests[follower].waiting.append(request)
        self.request_arrives(follower)

    def request_arrives(self, follower: int) -> None:
        line = self.requests[follower]
        if line.held is not None or not line.waiting:
            return  # whoever moves the bytes reads the next frame when this one has gone
        request = line.waiting.popleft()
        decision = self.gate.on_request(request, next(self.times))
        self.carry_out(decision, "request", line, request)

    def answers_arrive(self, errors: list[int]) -> None:
        for follower, error in zip(CONNECTIONS, errors, strict=True):
            self.answer_arrives(follower, error)

    def answer_arrives(self, follower: int, error: int) -> None:
        line = self.answers[follower]
        if line.held is not None or not line.waiting:
            return
        request = line.waiting.popleft()
        decision = self.gate.on_response(request, answer_of(given(error)), next(self.times))
        self.carry_out(decision, "response", line, request)

    def lose(self, follower: int) -> None:
        held = {line.held[0] for line in (self.requests[follower], self.answers[follower]) if line.held is not None}
        discharged = self.gate.connection_lost(self.connections[follower], next(self.times))
        assert set(discharged) == held
        for direction, line in (("request", self.requests[follower]), ("response", self.answers[follower])):
            if line.held is not None:
                self.end(direction, line.held[1], "discharged")
        self.reconnect(follower)

    # What the mover of bytes does

    def carry_out(self, decision: FrameDecision, direction: str, line: Line, request: ObservedRequest) -> None:
        assert (decision.action == "forward") == (decision.name is None)
        match decision.action:
            case "forward":
                self.forward(direction, line, request)
            case "hold" | "delay":
                assert decision.name is not None
                line.held = decision.name, request
            case "close":
                self.end(direction, request, "close")
                self.lose(request.source or 0)
            case "drop" | "answer":
                self.end(direction, request, decision.action)

    def forward(self, direction: str, line: Line, request: ObservedRequest) -> None:
        self.end(direction, request, "forward")
        line.forwarded.append(request.correlation_id)
        if direction == "request":
            self.gate.on_forwarded(request)
            self.answers[request.source or 0].waiting.append(request)

    def end(self, direction: str, request: ObservedRequest, how: str) -> None:
        key = direction, request.connection, request.correlation_id
        assert key not in self.ends, f"{key} had ended by {self.ends[key]}"
        self.ends[key] = how

    # What the tester does

    def arm(self, name: str, point: Point, action: Action, frames_max: int | None) -> None:
        error = 6 if action == "answer" else None
        is_free = self.gate.holds().get(name) not in (HoldStatus.ARMED, HoldStatus.CAUGHT) and not self.held_by(name)
        try:
            self.gate.arm(name, point, next(self.times), action, error=error, frames_max=frames_max)
        except GateError:
            assert not is_free
        else:
            assert is_free
            self.limits[name] = frames_max

    def end_hold(self, name: str, verb: str) -> None:
        held = self.held_by(name)
        try:
            ended = self.tell(name, verb)
        except GateError:
            assert not held
            return
        assert set(ended) == held
        for frame in ended:
            self.go(frame, verb)

    def tell(self, name: str, verb: str) -> tuple[str, ...]:
        now = next(self.times)
        if verb == "answer":
            return self.gate.answer(name, 6, now)
        verbs = {"release": self.gate.release, "drop": self.gate.drop, "close": self.gate.close_connection}
        return verbs[verb](name, now)

    def go(self, frame: str, verb: str) -> None:
        for direction, lines in (("request", self.requests), ("response", self.answers)):
            for follower, line in lines.items():
                if line.held is not None and line.held[0] == frame:
                    request, line.held = line.held[1], None
                    if verb == "release":
                        self.forward(direction, line, request)
                    else:
                        self.end(direction, request, verb)
                    if verb == "close":
                        self.lose(follower)
                    return

    def disarm(self, name: str) -> None:
        is_armed = self.gate.holds().get(name) is HoldStatus.ARMED
        try:
            self.gate.disarm(name, next(self.times))
        except GateError:
            assert not is_armed
        else:
            assert is_armed

    def held_by(self, name: str) -> set[str]:
        frames = {line.held[0] for lines in (self.requests, self.answers) for line in lines.values() if line.held}
        return {frame for frame in frames if frame.partition("#")[0] == name}

    # What must hold

    def frames_of_a_connection_keep_their_order(self) -> None:
        for lines in (self.requests, self.answers):
            for line in lines.values():
                assert line.forwarded == sorted(line.forwarded)

    def an_action_stands_as_its_frames_do(self) -> None:
        for name, status in self.gate.holds().items():
            held, limit = self.held_by(name), self.limits[name]
            assert limit is None or self.gate.frames(name) <= limit
            if status is HoldStatus.CAUGHT:
                assert held
                assert self.gate.frames(name) == limit
            if status in FINAL - {HoldStatus.DISARMED}:
                assert not held

    def events_tell_of_every_frame_once(self) -> None:
        for event in self.gate.take_events():
            if event.status is HoldStatus.CAUGHT:
                assert event.name not in self.caught, f"{event.name} caught a frame while it held one"
                assert event.caught is not None
                self.caught.add(event.name)
            elif event.status not in (HoldStatus.ARMED, HoldStatus.DISARMED):
                self.caught.remove(event.name)

    def nothing_armed_lets_everything_pass(self) -> None:
        for name, status in self.gate.holds().items():
            if status is HoldStatus.ARMED:
                self.disarm(name)
            if self.held_by(name):
                self.end_hold(name, "release")
        while any(line.waiting for line in (*self.requests.values(), *self.answers.values())):
            for follower in CONNECTIONS:
                self.request_arrives(follower)
            self.answers_arrive([0] * len(CONNECTIONS))


Event = tuple[Callable[..., None], tuple[object, ...]]

POINTS = st.builds(
    lambda kind, source, offset, error, nth: Point(
        kind,
        source,
        fetch_offset=offset,
        nth=nth,
        answered=Content(error=error) if kind == "fetch_response" else Content(),
    ),
    st.sampled_from(["fetch_request", "fetch_response"]),
    st.sampled_from([None, None, *CONNECTIONS]),
    st.sampled_from([None, None, 0, 1]),
    st.sampled_from([None, None, 0, 6]),
    st.sampled_from([1, 1, 2]),
)
ASKS = st.tuples(st.just(Brokers.ask), st.tuples(st.sampled_from(CONNECTIONS), st.integers(0, 1)))
ANSWERS = st.tuples(st.just(Brokers.answers_arrive), st.tuples(st.lists(ERRORS, min_size=2, max_size=2)))
EVENTS = st.one_of(
    ASKS,
    ASKS,
    ASKS,
    ANSWERS,
    ANSWERS,
    st.tuples(
        st.just(Brokers.arm),
        st.tuples(
            st.sampled_from(NAMES),
            POINTS,
            st.sampled_from(["hold", "hold", "hold", "hold", "drop", "close", "delay", "answer"]),
            st.sampled_from([1, 2, None]),
        ),
    ),
    st.tuples(
        st.just(Brokers.end_hold),
        st.tuples(st.sampled_from(NAMES), st.sampled_from(["release", "release", "drop", "close", "answer"])),
    ),
    st.one_of(
        st.tuples(st.just(Brokers.disarm), st.tuples(st.sampled_from(NAMES))),
        st.tuples(st.just(Brokers.lose), st.tuples(st.sampled_from(CONNECTIONS))),
    ),
)


@hypothesis.settings(max_examples=200)
@hypothesis.given(script=st.lists(EVENTS, min_size=30, max_size=60))
def test_every_frame_goes_on_stays_or_ends_once_and_in_its_order(script: list[Event]) -> None:
    brokers = Brokers()
    for happens, arguments in script:
        happens(brokers, *arguments)
        brokers.frames_of_a_connection_keep_their_order()
        brokers.an_action_stands_as_its_frames_do()
        brokers.events_tell_of_every_frame_once()
    brokers.nothing_armed_lets_everything_pass()
    assert all(line.held is None for line in (*brokers.requests.values(), *brokers.answers.values()))
    assert not any(brokers.gate.holds()[name] is HoldStatus.CAUGHT for name in brokers.gate.holds())
