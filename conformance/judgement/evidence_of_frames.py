"""Does the wire trace show what the timeline tells of holds, and does it go on until the last probe?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.judgement.evidence_of_faults import named_holds
from conformance.judgement.evidence_of_wire import REPLICATION
from conformance.record.observations import MeasuredNumbers
from conformance.record.timeline import Event
from conformance.record.wire import FETCH
from oracle.steps.frames import Close, CutLink, Hold, ReleaseHold, late_holds
from oracle.steps.step import STEP_CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.judgement.evidence_of_wire import WireStory
    from conformance.record.observations import Observation
    from conformance.record.timeline import FrameOfFault, TimelineMark
    from conformance.record.wire import TracedFrame
    from oracle.schedule import Schedule

_TAKEN_BACK = frozenset(fault for step in STEP_CLASSES.values() for fault in step.takes_back)
"""The faults that some step takes back: meanwhile whom they hit does not fetch."""
OUTCOMES = {
    Event.HOLD_RELEASED: ("forwarded",),
    Event.HOLD_DROPPED: ("dropped", "answered"),
    Event.HOLD_CLOSED: ("closed", "aborted"),
    Event.HOLD_DISCHARGED: ("aborted", "closed", "dropped"),
}
"""What the trace calls the end of a hold's frame."""


@dataclass(frozen=True, slots=True)
class Frames:
    """What the wire trace says of holds.

    Attributes:
        held: the lines of frames that an armed action caught, or that did not simply go on.
        last_fetch_ns: when the last fetch of each broker from another one arrived at the gate; a fetch of the metadata
            log from a KRaft controller is none.
        topic_ids: by which ids frames call the run's topic.
        unasked: answers that no request before them on their connection asked for, or another one.
        ends: the two nodes of each connection, who opened it first.
        wrong: what frames contradict.
        in_sessions: whether followers fetched in sessions: a frame implied a partition that it did not list.
    """

    held: Sequence[TracedFrame]
    last_fetch_ns: Mapping[int, int]
    topic_ids: frozenset[str] = frozenset()
    unasked: Sequence[int] = ()
    ends: Mapping[int, tuple[int | None, int]] = field(default_factory=dict)
    in_sessions: bool = False
    wrong: Sequence[str] = ()

    @property
    def nodes(self) -> frozenset[int]:
        """Return every node that was at the end of a connection."""
        return frozenset(node for ends in self.ends.values() for node in ends if node is not None)


def frames_that_matter(frames: Iterable[TracedFrame], topic: str | None, story: WireStory) -> Frames:
    """Return what is to be compared of a wire trace."""
    held: list[TracedFrame] = []
    ids: set[str] = set()
    pairs = _Pairs()
    last: dict[int, int] = {}
    ends: dict[int, tuple[int | None, int]] = {}
    in_sessions = False
    for frame in frames:
        story.take(frame)
        ends[frame.connection] = frame.source, frame.destination
        if frame.hold is not None or frame.outcome not in ("forwarded", "aborted"):
            held.append(frame)
        if frame.source is not None and frame.is_request(FETCH) and frame.link == REPLICATION:
            last[frame.source] = max(last.get(frame.source, 0), frame.arrived_ns)
        if frame.outcome != "held":
            pairs.take(frame)
        in_sessions |= any(not entry.is_listed for entry in frame.said.entries)
        ids.update(entry.topic_id for entry in frame.said.entries if entry.topic == topic and entry.topic_id)
    return Frames(held, last, frozenset(ids), pairs.unasked(), ends, in_sessions, tuple(story.complaints()))


class _Pairs:
    """Ties each answer to its request: by connection and correlation id, and then they are of one api and version."""

    def __init__(self) -> None:
        self._requests: dict[tuple[int, int | None], TracedFrame] = {}
        self._answers: list[TracedFrame] = []
        self._first: dict[int, int] = {}

    def take(self, frame: TracedFrame) -> None:
        """Note a frame; lines are in the order of their fate, not of their arrival."""
        if frame.direction == "request":
            self._requests[frame.connection, frame.correlation_id] = frame
            self._first[frame.connection] = min(frame.seq, self._first.get(frame.connection, frame.seq))
        elif frame.correlation_id is not None and frame.api is not None:
            self._answers.append(frame)

    def unasked(self) -> tuple[int, ...]:
        """Return the answers without their request; a request may have come before the trace began."""
        return tuple(
            answer.seq
            for answer in self._answers
            if answer.seq > self._first.get(answer.connection, answer.seq) and not self._is_asked(answer)
        )

    def _is_asked(self, answer: TracedFrame) -> bool:
        request = self._requests.get((answer.connection, answer.correlation_id))
        return request is not None and _kind(request) == _kind(answer)


def _kind(frame: TracedFrame) -> tuple[object, ...]:
    ends = frame.source, frame.destination, frame.link, frame.client_id
    return frame.api_key, frame.api, frame.api_version, *ends


def frame_complaints(schedule: Schedule, timeline: Sequence[TimelineMark], frames: Frames) -> Iterator[str]:
    """Yield what the wire trace and the timeline of a whole run tell differently."""
    names = named_holds(schedule)
    faults = {step.fault for step in schedule.steps}
    may_be_cut = any(m.event is Event.FAULT_FIRED and m.frame and m.subject in faults for m in timeline)
    for frame in frames.held:
        if frame.hold is None and (frame.outcome == "held" or (may_be_cut and frame.outcome == "closed")):
            continue  # one that waits behind others, or whose link is cut
        if frame.hold not in names:
            yield f"frame {frame.seq} was {frame.outcome}, and no step of the schedule holds it"
    if frames.unasked:
        yield f"{len(frames.unasked)} answers in the wire trace have no request, such as frame {frames.unasked[0]}"
    yield from frames.wrong
    yield from _of_connections(schedule, timeline, frames)
    proofs, late = _proofs(timeline), late_holds(schedule.steps)
    for name in sorted(names):
        lines = [frame for frame in frames.held if frame.hold == name]
        proof, ended = proofs.get(name), _end_of(name, timeline)
        caught = (m.offset for m in timeline if (m.event, m.subject) == (Event.HOLD_CAUGHT, name))
        if proof is not None and any(offset != proof.offset for offset in caught):
            yield f"hold {name!r} and its fault tell of frames at other offsets"
        if proof is None or not any(_is_proven_by(frame, proof) for frame in lines):
            yield f"the wire trace does not show the frame that hold {name!r} caught"
        elif ended is not None and not any(frame.outcome in _outcomes(ended, is_late=name in late) for frame in lines):
            how = ended.value.removeprefix("hold_")
            yield f"the wire trace does not show that the frame of hold {name!r} was {how}"


def _outcomes(ended: Event, *, is_late: bool) -> tuple[str, ...]:
    """Return what the trace may call the end of a hold's frame."""
    return ("late",) if is_late and ended is Event.HOLD_RELEASED else OUTCOMES.get(ended, ())


def _of_connections(schedule: Schedule, timeline: Iterable[TimelineMark], frames: Frames) -> Iterator[str]:
    """Look whether a frame that proves a fault of a step came on a connection of whom the step names."""
    marks = [mark for mark in timeline if mark.event in (Event.FAULT_ARMED, Event.FAULT_FIRED)]
    steps = {mark.number: mark.step for mark in marks if mark.event is Event.FAULT_ARMED}
    for mark in marks:
        number = steps.get(mark.number)
        if mark.frame is None or number is None or not schedule.steps[number].fault:
            continue
        step = schedule.steps[number]
        named = {*step.left_for(), *([str(step.leader)] if isinstance(step, CutLink) else [])}
        ends = frames.ends.get(mark.frame.connection)
        if ends is not None and not named <= {*map(str, ends)}:
            yield f"fault {mark.number} ({step.fault}) is proven by a connection of other brokers than its step says"


def _proofs(timeline: Iterable[TimelineMark]) -> dict[str, FrameOfFault]:
    """Return the frame that each hold caught; in a run of old the fault that was armed right before it says so."""
    armed: dict[int | None, int | None] = {}
    holds: dict[int | None, str] = {}
    proofs: dict[str, FrameOfFault] = {}
    for mark in timeline:
        if mark.event is Event.FAULT_ARMED:
            armed[mark.step] = mark.number
        elif mark.event is Event.HOLD_ARMED:
            holds[armed.get(mark.step)] = mark.subject
        elif mark.event is Event.HOLD_CAUGHT and mark.frame is not None:
            proofs[mark.subject] = mark.frame
        elif mark.event is Event.FAULT_FIRED and mark.frame is not None and mark.number in holds:
            proofs[holds[mark.number]] = mark.frame
    return proofs


def _is_proven_by(frame: TracedFrame, proof: FrameOfFault) -> bool:
    told = (proof.connection, proof.api, proof.correlation_id, proof.direction)
    return (frame.connection, frame.api, frame.correlation_id, frame.direction) == told


def _end_of(name: str, timeline: Iterable[TimelineMark]) -> Event | None:
    return next((m.event for m in timeline if m.subject == name and m.event in OUTCOMES), None)


def end_complaints(schedule: Schedule, observations: Sequence[Observation], frames: Frames) -> Iterator[str]:
    """Yield which follower that was in sync at the last probe did not go on fetching: the trace ends after it."""
    last = next((seen for seen in reversed(observations) if isinstance(seen, MeasuredNumbers)), None)
    if last is None:
        return
    alive = {broker for broker, numbers in last.replicas.items() if numbers.alive}
    for broker in sorted(alive.intersection(last.isr) - {last.leader} - _silenced(schedule)):
        if frames.last_fetch_ns.get(broker, 0) < last.t_ns:
            yield f"the wire trace ends before broker {broker}'s fetches after the last probe"


def _silenced(schedule: Schedule) -> set[int]:
    """Return the brokers that a schedule leaves at its end without a way to fetch."""
    held: dict[str, int] = {}
    hit: set[tuple[str, str | None, object]] = set()
    for step in schedule.steps:
        leader = getattr(step, "leader", None)
        if isinstance(step, Hold) and step.follower is not None:
            held[step.name] = step.follower
        elif isinstance(step, ReleaseHold | Close):
            held.pop(step.name, None)
        elif step.fault in _TAKEN_BACK:
            hit |= {(step.fault, broker, leader) for broker in step.left_for()}
        elif step.takes_back:
            hit -= {(fault, broker, leader) for fault in step.takes_back for broker in step.left_for()}
    return {*held.values(), *(int(broker) for _, broker, _ in hit if broker is not None)}
