"""Does the wire trace show what the timeline tells of holds, and does it go on until the last probe?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.observations import MeasuredNumbers
from conformance.record.timeline import Event
from conformance.record.wire import FETCH
from oracle.steps.brokers import Isolate, Pause, Rejoin, Resume
from oracle.steps.frames import Close, CutLink, DelayFrame, Heal, Hold, ReleaseHold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.record.observations import Observation
    from conformance.record.timeline import FrameOfFault, TimelineMark
    from conformance.record.wire import TracedFrame
    from oracle.schedule import Schedule

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
        last_fetch_ns: when the last fetch of each broker arrived at the gate.
        topic_ids: by which ids frames call the run's topic.
        unasked: answers that no request before them on their connection asked for, or another one.
    """

    held: Sequence[TracedFrame]
    last_fetch_ns: Mapping[int, int]
    topic_ids: frozenset[str] = frozenset()
    unasked: Sequence[int] = ()


def frames_that_matter(frames: Iterable[TracedFrame], topic: str | None) -> Frames:
    """Return what is to be compared of a wire trace."""
    held: list[TracedFrame] = []
    ids: set[str] = set()
    pairs = _Pairs()
    last: dict[int, int] = {}
    for frame in frames:
        if frame.hold is not None or frame.outcome not in ("forwarded", "aborted"):
            held.append(frame)
        if frame.source is not None and frame.is_request(FETCH):
            last[frame.source] = max(last.get(frame.source, 0), frame.arrived_ns)
        if frame.outcome != "held":
            pairs.take(frame)
        ids.update(entry.topic_id for entry in frame.said.entries if entry.topic == topic and entry.topic_id)
    return Frames(held, last, frozenset(ids), pairs.unasked())


class _Pairs:
    """Ties each answer to its request: by connection and correlation id, and then they are of one api and version."""

    def __init__(self) -> None:
        self._requests: dict[tuple[int, int | None], TracedFrame] = {}
        self._answers: list[TracedFrame] = []
        self._first: dict[int, int] = {}

    def take(self, frame: TracedFrame) -> None:
        """Take note of a frame; lines are in the order of their fate, not of their arrival."""
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
    names = {step.name for step in schedule.steps if isinstance(step, Hold)}
    names |= {f"delay {number}" for number, step in enumerate(schedule.steps) if isinstance(step, DelayFrame)}
    may_be_cut = any(isinstance(step, CutLink | Isolate) for step in schedule.steps)
    for frame in frames.held:
        if frame.hold is None and (frame.outcome == "held" or (may_be_cut and frame.outcome == "closed")):
            continue  # one that waits behind others, or whose link is cut
        if frame.hold not in names:
            yield f"frame {frame.seq} was {frame.outcome}, and no step of the schedule holds it"
    if frames.unasked:
        yield f"{len(frames.unasked)} answers in the wire trace have no request, such as frame {frames.unasked[0]}"
    proofs = _proofs(timeline)
    for name in sorted(names):
        lines = [frame for frame in frames.held if frame.hold == name]
        proof, ended = proofs.get(name), _end_of(name, timeline)
        caught = (m.offset for m in timeline if (m.event, m.subject) == (Event.HOLD_CAUGHT, name))
        if proof is not None and any(offset != proof.offset for offset in caught):
            yield f"hold {name!r} and its fault tell of frames at other offsets"
        if proof is None or not any(_is_proven_by(frame, proof) for frame in lines):
            yield f"the wire trace does not show the frame that hold {name!r} caught"
        elif ended is not None and not any(frame.outcome in OUTCOMES.get(ended, ()) for frame in lines):
            how = ended.value.removeprefix("hold_")
            yield f"the wire trace does not show that the frame of hold {name!r} was {how}"


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
    silenced: dict[object, int] = {}
    for step in schedule.steps:
        match step:
            case Hold(name=name, follower=int(follower)):
                silenced[name] = follower
            case Pause(broker=broker) | Isolate(broker=broker):
                silenced[broker] = broker
            case CutLink(follower=follower, leader=leader):
                silenced[follower, leader] = follower
            case ReleaseHold(name=name) | Close(name=name):
                silenced.pop(name, None)
            case Resume(broker=broker) | Rejoin(broker=broker):
                silenced.pop(broker, None)
            case Heal(follower=follower, leader=leader):
                silenced.pop((follower, leader), None)
            case _:
                pass
    return {*silenced.values()}
