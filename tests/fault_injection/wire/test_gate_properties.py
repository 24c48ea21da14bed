"""Whatever arrives and whatever is armed: does every frame go on, stay or end exactly once, in its order?

The machine plays brokers that are pipelined over three connections, a mover of bytes that keeps the gate's four
promises, and a tester who arms, ends and disarms actions at will. It keeps its own books, one line for each frame.
"""

from collections import deque
from dataclasses import dataclass, field
from itertools import count

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from fault_injection.wire.content import Content
from fault_injection.wire.gate import Gate, GateError
from fault_injection.wire.gate_events import Action, Decision, HoldStatus
from fault_injection.wire.points import ObservedRequest, Point
from tests.fault_injection.wire.gate_transcript import answer_of, asked, fetch_of, given

CONNECTIONS = (2, 3, 4)
NAMES = ("a", "b", "c", "d")
OFFSETS = st.integers(0, 2)
ERRORS = st.sampled_from([0, 0, 0, 6, 74])
FINAL = set(HoldStatus) - {HoldStatus.ARMED, HoldStatus.CAUGHT}


@dataclass
class Line:
    """One direction of a connection: frames that have not arrived yet, the one that is held, those that went on."""

    waiting: deque[ObservedRequest] = field(default_factory=deque)
    held: tuple[str, ObservedRequest] | None = None
    forwarded: list[int] = field(default_factory=list)


class Brokers(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate()
        self.times = count(1)
        self.correlations = count(1)
        self.connections = dict.fromkeys(CONNECTIONS, 0)
        self.requests = {one: Line() for one in CONNECTIONS}
        self.answers = {one: Line() for one in CONNECTIONS}
        self.ends: dict[tuple[str, int, int], str] = {}
        self.limits: dict[str, int | None] = {}
        self.numbers = count(10)
        for one in CONNECTIONS:
            self.reconnect(one)

    def reconnect(self, follower: int) -> None:
        self.connections[follower] = next(self.numbers)
        self.requests[follower], self.answers[follower] = Line(), Line()

    # What brokers do

    @rule(follower=st.sampled_from(CONNECTIONS), offset=OFFSETS)
    def ask(self, follower: int, offset: int) -> None:
        view = fetch_of(asked(offset), follower=follower)
        request = ObservedRequest(
            self.connections[follower], next(self.correlations), 1, "replication", follower, 1, view, next(self.times)
        )
        self.requests[follower].waiting.append(request)

    @rule(follower=st.sampled_from(CONNECTIONS))
    def request_arrives(self, follower: int) -> None:
        line = self.requests[follower]
        if line.held is not None or not line.waiting:
            return  # whoever moves the bytes reads the next frame when this one has gone
        request = line.waiting.popleft()
        decision = self.gate.on_request(request, next(self.times))
        self.carry_out(decision, "request", line, request)

    @rule(follower=st.sampled_from(CONNECTIONS), error=ERRORS)
    def answer_arrives(self, follower: int, error: int) -> None:
        line = self.answers[follower]
        if line.held is not None or not line.waiting:
            return
        request = line.waiting.popleft()
        decision = self.gate.on_response(request, answer_of(given(error)), next(self.times))
        self.carry_out(decision, "response", line, request)

    @rule(follower=st.sampled_from(CONNECTIONS))
    def connection_ends(self, follower: int) -> None:
        self.lose(follower)

    def lose(self, follower: int) -> None:
        held = {line.held[0] for line in (self.requests[follower], self.answers[follower]) if line.held is not None}
        discharged = self.gate.connection_lost(self.connections[follower], next(self.times))
        assert set(discharged) == held
        for direction, line in (("request", self.requests[follower]), ("response", self.answers[follower])):
            if line.held is not None:
                self.end(direction, line.held[1], "discharged")
        self.reconnect(follower)

    # What the mover of bytes does

    def carry_out(self, decision: Decision, direction: str, line: Line, request: ObservedRequest) -> None:
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

    @rule(
        name=st.sampled_from(NAMES),
        direction=st.sampled_from(["fetch_request", "fetch_response"]),
        source=st.sampled_from([None, *CONNECTIONS]),
        fetch_offset=st.one_of(st.none(), OFFSETS),
        answered=st.sampled_from([None, 0, 6]),
        nth=st.integers(1, 3),
        action=st.sampled_from(["hold", "hold", "drop", "close", "delay", "answer"]),
        frames_max=st.sampled_from([1, 1, 2, None]),
    )
    def arm(
        self,
        name: str,
        direction: str,
        source: int | None,
        fetch_offset: int | None,
        answered: int | None,
        nth: int,
        action: Action,
        frames_max: int | None,
    ) -> None:
        content = Content(error=answered) if direction == "fetch_response" else Content()
        point = Point(direction, source, fetch_offset=fetch_offset, nth=nth, answered=content)
        error = 6 if action == "answer" else None
        is_free = self.gate.holds().get(name) not in (HoldStatus.ARMED, HoldStatus.CAUGHT) and not self.held_by(name)
        try:
            self.gate.arm(name, point, next(self.times), action, error=error, frames_max=frames_max)
        except GateError:
            assert not is_free
        else:
            assert is_free
            self.limits[name] = frames_max

    @rule(name=st.sampled_from(NAMES), verb=st.sampled_from(["release", "drop", "close", "answer"]))
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

    @rule(name=st.sampled_from(NAMES))
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

    @invariant()
    def frames_of_a_connection_keep_their_order(self) -> None:
        for lines in (self.requests, self.answers):
            for line in lines.values():
                assert line.forwarded == sorted(line.forwarded)

    @invariant()
    def an_action_stands_as_its_frames_do(self) -> None:
        for name, status in self.gate.holds().items():
            held, limit = self.held_by(name), self.limits[name]
            assert limit is None or self.gate.frames(name) <= limit
            if status is HoldStatus.CAUGHT:
                assert held
                assert self.gate.frames(name) == limit
            if status in FINAL - {HoldStatus.DISARMED}:
                assert not held

    @precondition(lambda self: not any(self.held_by(name) for name in NAMES))
    @rule()
    def without_actions_everything_passes(self) -> None:
        for name, status in self.gate.holds().items():
            if status is HoldStatus.ARMED:
                self.gate.disarm(name, next(self.times))
        for follower in CONNECTIONS:
            before = len(self.requests[follower].waiting)
            for _ in range(before):
                self.request_arrives(follower)
            assert not self.requests[follower].waiting
            assert self.requests[follower].held is None

    @invariant()
    def events_tell_of_every_frame_once(self) -> None:
        caught: dict[str, bool] = getattr(self, "_caught", {})
        self._caught = caught
        for event in self.gate.take_events():
            if event.status is HoldStatus.ARMED:
                continue
            if event.status is HoldStatus.CAUGHT:
                assert not caught.get(event.name), f"{event.name} caught a frame while it held one"
                caught[event.name] = True
                assert event.caught is not None
            elif event.status is not HoldStatus.DISARMED:
                assert caught.pop(event.name), f"{event.name} ended a frame it did not have"


Brokers.TestCase.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
TestBrokers = Brokers.TestCase
