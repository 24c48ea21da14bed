"""Was every step taken, once and in order, and does the timeline show what each of them did and measured?

What a step must leave behind is told by its class: ``DEEDS`` for the timeline, one probe for the observations.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.record.observations import BrokerAnswer, MeasuredCheckpoint, MeasuredNumbers, OutcomeSeen
from conformance.record.timeline import HOLD_ENDS, Event
from oracle.steps.brokers import (
    Isolate,
    Kill,
    KillTogether,
    LoseCheckpoint,
    LoseTail,
    Pause,
    Rejoin,
    Resume,
    Start,
    Stop,
)
from oracle.steps.frames import Close, CutLink, DelayFrame, Drop, Heal, Hold, ReleaseHold
from oracle.steps.produce import Produce
from oracle.steps.questions import Consume, EndOffsetOfEpoch, ListOffsets, SendTo
from oracle.steps.topic import AddPartitions, Alter, CreateTopic, DeleteRecords, DeleteTopic, Elect, Reassign
from oracle.steps.waits import Checkpoint as CheckpointStep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from conformance.record.observations import Observation
    from conformance.record.timeline import TimelineMark
    from oracle.schedule import Schedule
    from oracle.steps.step import Step

SLACK_NS = 50_000_000
"""A frame is caught by another thread than the one that takes steps; it notes the step of that instant."""


@dataclass(frozen=True, slots=True)
class Deeds:
    """What a step of a class leaves on the timeline: one event for each subject, None for the run's topic."""

    event: Event
    subjects: Callable[[Any], Iterable[str | None]]

    def __call__(self, step: Step) -> list[tuple[Event, str | None]]:
        """Return each event with its subject."""
        return [(self.event, subject) for subject in self.subjects(step)]


def _broker(event: Event) -> Deeds:
    return Deeds(event, lambda step: [str(step.broker)])


def _link(event: Event) -> Deeds:
    return Deeds(event, lambda step: [str(step.follower)])


def _once(event: Event) -> Deeds:
    return Deeds(event, lambda _: [None])


DEEDS: dict[type[Step], Deeds] = {
    Produce: Deeds(Event.RECORD_SENT, lambda step: step.records),
    Kill: _broker(Event.BROKER_KILLED),
    KillTogether: Deeds(Event.BROKER_KILLED, lambda step: [str(broker) for broker in step.brokers]),
    Stop: _broker(Event.BROKER_STOPPED),
    Start: _broker(Event.BROKER_STARTED),
    Pause: _broker(Event.BROKER_PAUSED),
    Resume: _broker(Event.BROKER_RESUMED),
    Isolate: _broker(Event.BROKER_ISOLATED),
    Rejoin: _broker(Event.BROKER_REJOINED),
    LoseTail: _broker(Event.TAIL_LOST),
    LoseCheckpoint: _broker(Event.CHECKPOINT_LOST),
    CutLink: _link(Event.LINK_CUT),
    Heal: _link(Event.LINK_HEALED),
    Elect: Deeds(Event.ELECTION_REQUESTED, lambda step: [step.kind.value]),
    Reassign: Deeds(Event.REASSIGNMENT_REQUESTED, lambda step: [", ".join(map(str, step.replicas))]),
    Alter: _once(Event.SETTINGS_CHANGED),
    AddPartitions: _once(Event.PARTITIONS_ADDED),
    CreateTopic: Deeds(Event.TOPIC_CREATED, lambda step: [step.name]),
    DeleteTopic: Deeds(Event.TOPIC_DELETED, lambda step: [step.name]),
    DeleteRecords: Deeds(Event.RECORDS_DELETED, lambda step: [str(step.offset)]),
}
"""What a step leaves on the timeline: each event with its subject, None for the run's topic."""
_OWN_DEEDS = frozenset(deeds.event for deeds in DEEDS.values())
FAULTS = (Kill, KillTogether, Stop, LoseTail, LoseCheckpoint, Pause, CutLink, Isolate)
"""Steps that inject a fault which ``fault_`` events tell of; ``hold_`` events tell of holds."""
ASKING = (Consume, ListOffsets, EndOffsetOfEpoch, SendTo)
"""Steps that a broker answers."""
ENDINGS: dict[type[Step], Event] = {
    ReleaseHold: Event.HOLD_RELEASED,
    Drop: Event.HOLD_DROPPED,
    Close: Event.HOLD_CLOSED,
}


def step_complaints(
    schedule: Schedule,
    timeline: Sequence[TimelineMark],
    observations: Sequence[Observation],
    *,
    is_complete: bool,
    is_healed: bool = True,
) -> Iterator[str]:
    """Yield what is wrong with timeline and observations, given the schedule whose steps were taken.

    Args:
        schedule: the steps.
        timeline: what was done when.
        observations: what was measured.
        is_complete: whether every step was taken.
        is_healed: whether every fault could be healed at the end; run.json says what could not.
    """
    yield from _of_order(schedule, timeline, is_complete=is_complete)
    finished = [mark.step for mark in timeline if mark.event is Event.STEP_FINISHED]
    taken = [(number, step) for number, step in enumerate(schedule.steps) if number in finished or is_complete]
    yield from _of_deeds(taken, timeline, len(schedule.steps))
    yield from _of_times(timeline, observations)
    yield from _of_probes(taken, observations)
    yield from _of_outcomes(schedule, observations, is_complete=is_complete)
    yield from _of_faults(timeline, is_complete=is_complete and is_healed)
    if is_complete:
        yield from _of_injections(taken, timeline)
        yield from _of_holds(schedule, timeline)


def _of_order(schedule: Schedule, timeline: Sequence[TimelineMark], *, is_complete: bool) -> Iterator[str]:
    bounds = (Event.STEP_STARTED, Event.STEP_FINISHED)
    told = [mark for mark in timeline if mark.event in bounds]
    wanted = [(event, number, step.word) for number, step in enumerate(schedule.steps) for event in bounds]
    for mark, (event, number, word) in zip(told, wanted, strict=False):
        if (mark.event, mark.step, mark.subject) != (event, number, word):
            yield f"the timeline does not tell, in its place, that step {number + 1} ({word}) {_ended(event)}"
            return
    if len(told) > len(wanted):
        yield "the timeline tells of more steps than the schedule has"
    elif is_complete and len(told) < len(wanted):
        event, number, word = wanted[len(told)]
        yield f"the timeline does not tell that step {number + 1} ({word}) {_ended(event)}"
    if any(later.t_ns < earlier.t_ns for earlier, later in itertools.pairwise(told)):
        yield "the timeline's steps are not in the order of time"
    if any(a.text != b.text for a, b in zip(told[::2], told[1::2], strict=False)):
        yield "the timeline words the start of a step otherwise than its end"


def _ended(event: Event) -> str:
    return "started" if event is Event.STEP_STARTED else "ended"


def _of_deeds(taken: Sequence[tuple[int, Step]], timeline: Sequence[TimelineMark], steps: int) -> Iterator[str]:
    numbers = {number for number, _ in taken}
    wanted: Counter[tuple[Event, str | None, int | None]] = Counter(
        (event, subject, number)
        for number, step in taken
        for event, subject in DEEDS.get(type(step), lambda _: [])(step)
    )
    anonymous = {event for event, subject, _ in wanted if subject is None}
    told = Counter(
        (mark.event, None if mark.event in anonymous else mark.subject, mark.step)
        for mark in timeline
        if mark.event in _OWN_DEEDS and (mark.step in numbers or mark.step is None or mark.step >= steps)
    )
    for event, subject, number in wanted - told:
        yield f"the timeline does not tell {_called(event, subject)}{_in(number)}"
    for event, subject, number in told - wanted:
        yield f"the timeline tells {_called(event, subject)}{_in(number)}, and no step did that"


def _in(number: int | None) -> str:
    return " between the steps" if number is None else f" in step {number + 1}"


def _called(event: Event, subject: str | None) -> str:
    return event.value.replace("_", " ") + ("" if subject is None else f" {subject}")


def _of_times(timeline: Sequence[TimelineMark], observations: Sequence[Observation]) -> Iterator[str]:
    """Look whether everything that a step noted lies between its start and its end."""
    starts = {mark.step: mark.t_ns for mark in timeline if mark.event is Event.STEP_STARTED}
    ends = {mark.step: mark.t_ns for mark in timeline if mark.event is Event.STEP_FINISHED}
    last = max(ends.values(), default=0)
    noted = [
        *((mark.step, mark.t_ns, mark.event.value) for mark in timeline),
        *((s.step, s.t_ns, s.kind) for s in observations),
    ]
    for step, t_ns, what in noted:
        if step is None:
            if t_ns < last - SLACK_NS:
                yield f"{what.replace('_', ' ')} is told of no step, before the last one had ended"
        elif not starts.get(step, t_ns) - SLACK_NS <= t_ns <= ends.get(step, t_ns) + SLACK_NS:
            yield f"{what.replace('_', ' ')} lies outside step {step + 1}, which tells of it"


def _of_probes(taken: Sequence[tuple[int, Step]], observations: Sequence[Observation]) -> Iterator[str]:
    probes: dict[int | None, list[MeasuredNumbers]] = {}
    for seen in observations:
        if isinstance(seen, MeasuredNumbers):
            probes.setdefault(seen.step, []).append(seen)
    for number, step in taken:
        found = probes.get(number, [])
        name = step.name if isinstance(step, CheckpointStep) else None
        what = f"step {number + 1}" if name is None else f"checkpoint {name!r}"
        if len(found) != 1:
            yield f"{what} was measured {len(found)} times"
        elif isinstance(found[0], MeasuredCheckpoint) != (name is not None) or getattr(found[0], "name", None) != name:
            yield f"{what} was measured as something else"
        elif isinstance(found[0], MeasuredCheckpoint) and not found[0].settled:
            yield f"{what} never settled"
    yield from (f"{len(them)} probes are of no step" for step, them in probes.items() if step is None)
    answered = Counter(seen.step for seen in observations if isinstance(seen, BrokerAnswer))
    yield from (
        f"no answer to step {n + 1} was observed" for n, step in taken if isinstance(step, ASKING) and not answered[n]
    )


def _of_outcomes(schedule: Schedule, observations: Sequence[Observation], *, is_complete: bool) -> Iterator[str]:
    seen = Counter(one.label for one in observations if isinstance(one, OutcomeSeen))
    labels = schedule.labels()
    yield from (f"the outcome of {label} was observed {times} times" for label, times in seen.items() if times > 1)
    yield from (f"an outcome of {label} was observed, which no step sends" for label in seen if label not in labels)
    if is_complete:
        yield from (f"no outcome of {label} was observed" for label in labels if label not in seen)


def _of_faults(timeline: Iterable[TimelineMark], *, is_complete: bool) -> Iterator[str]:
    """Look at each fault's own story: armed, fired, healed, once each and in this order."""
    stages = (Event.FAULT_ARMED, Event.FAULT_FIRED, Event.FAULT_HEALED)
    stories: dict[int | None, list[TimelineMark]] = {}
    for mark in timeline:
        if mark.event in stages:
            stories.setdefault(mark.number, []).append(mark)
    numbers = [number or 0 for number in stories]
    if numbers != sorted(numbers) or min(numbers, default=1) < 1:
        yield "the faults on the timeline are not numbered in the order of injection"
    for number, story in stories.items():
        told = [mark.event for mark in story]
        if told != list(stages) if is_complete else told != [stage for stage in stages if stage in told]:
            yield f"fault {number} was not armed, fired and healed, once each and in this order"
        if len({mark.subject for mark in story}) > 1:
            yield f"fault {number} is told under several names"
        times = [mark.at_ns or 0 for mark in story]
        if times != sorted(times) or any((mark.at_ns or 0) > mark.t_ns for mark in story):
            yield f"fault {number} is not told in the order of time"


def _of_injections(taken: Sequence[tuple[int, Step]], timeline: Iterable[TimelineMark]) -> Iterator[str]:
    armed = Counter(mark.step for mark in timeline if mark.event is Event.FAULT_ARMED)
    for number, step in taken:
        if isinstance(step, Hold | DelayFrame):  # earlier testers told of these twice
            is_right = armed[number] <= 1
        else:
            is_right = armed[number] >= 1 if isinstance(step, Isolate) else armed[number] == isinstance(step, FAULTS)
        if not is_right:
            yield f"step {number + 1} ({step.word}) injected {armed[number]} faults"


def _of_holds(schedule: Schedule, timeline: Sequence[TimelineMark]) -> Iterator[str]:
    """Look at each hold's story: armed, caught, and ended as the schedule says, or with its connection."""
    named: dict[str, Hold | DelayFrame] = {step.name: step for step in schedule.steps if isinstance(step, Hold)}
    named |= {f"delay {number}": step for number, step in enumerate(schedule.steps) if isinstance(step, DelayFrame)}
    endings = {s.name: ENDINGS[type(s)] for s in schedule.steps if isinstance(s, ReleaseHold | Drop | Close)}
    for name, step in named.items():
        story = [mark.event for mark in timeline if mark.subject == name and mark.event.value.startswith("hold_")]
        ended = [event for event in story if event in HOLD_ENDS]
        if story[:2] != [Event.HOLD_ARMED, Event.HOLD_CAUGHT] or story[2:] != ended or len(ended) != 1:
            yield f"hold {name!r} was not armed, caught and ended, once each and in this order"
        elif name in endings and ended != [endings[name]]:
            yield f"hold {name!r} ended otherwise than by {endings[name].value.removeprefix('hold_')}"
        for mark in timeline:
            if mark.subject == name and mark.event.value.startswith("hold_") and isinstance(step, Hold):
                yield from _of_place(step, mark)
    others = {m.subject for m in timeline if m.event.value.startswith("hold_")} - named.keys()
    yield from (f"the timeline tells of hold {name!r}, which no step arms" for name in sorted(others))


def _of_place(step: Hold, mark: TimelineMark) -> Iterator[str]:
    place = (None, None, step.broker) if step.broker is not None else (step.follower, step.leader, None)
    if (mark.follower, mark.leader, mark.broker, mark.point) != (*place, step.point.value):
        yield f"the timeline tells of hold {step.name!r} at another place than the schedule"
