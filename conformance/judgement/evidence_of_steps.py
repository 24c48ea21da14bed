"""Was every step taken, once and in order, and do timeline and observations show what each of them did and measured?

What a step must leave behind is told by its class: its events for the timeline, and one probe for the observations.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

from conformance.judgement.evidence_of_faults import fault_complaints, hold_complaints
from conformance.record.directory import FIRST_FORMAT
from conformance.record.observations import BrokerAnswer, MeasuredCheckpoint, MeasuredNumbers, OutcomeSeen, last_probes
from conformance.record.timeline import HOLD_ENDS, Event
from oracle.schedule import check_structure
from oracle.steps.frames import DelayFrame, name_of_delay
from oracle.steps.produce import AwaitOutcome
from oracle.steps.questions import Consume, EndOffsetOfEpoch, ListOffsets, SendTo
from oracle.steps.step import STEP_CLASSES, ScheduleError
from oracle.steps.waits import AwaitIsr, AwaitLeader
from oracle.steps.waits import Checkpoint as CheckpointStep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.judgement.evidence_of_faults import Taken
    from conformance.record.observations import Observation
    from conformance.record.run import Run
    from conformance.record.timeline import TimelineMark
    from oracle.schedule import Schedule
    from oracle.steps.step import Step

SLACK_NS = 50_000_000
"""How much later than its step a mark of the first format may be."""
DEEDS = frozenset(Event(one.leaves) for one in STEP_CLASSES.values() if one.leaves)
"""What steps leave on the timeline, each told by its class."""
TOLD_WITH = {
    Event.RECORD_SENT: ("leader",),
    Event.TAIL_LOST: ("offset",),
    Event.RECORDS_DELETED: ("offset",),
    Event.LINK_CUT: ("follower", "leader"),
    Event.LINK_HEALED: ("follower", "leader"),
}
"""What a mark says besides of whom it is, by its event: as its step does."""
ASKING = (Consume, ListOffsets, EndOffsetOfEpoch, SendTo)
"""Steps that a broker answers."""


def step_complaints(
    about: Run, schedule: Schedule, timeline: Sequence[TimelineMark], observations: Sequence[Observation]
) -> Iterator[str]:
    """Yield what is wrong with timeline and observations, given the schedule whose steps were taken.

    Args:
        about: says whether every step was taken, and every fault healed at the end.
        schedule: the steps.
        timeline: what was done when.
        observations: what was measured.
    """
    is_complete = about.harness_failure is None
    yield from _of_order(schedule, timeline, is_complete=is_complete)
    yield from _of_structure(schedule)
    frozen = None if about.is_repredicted else about.prediction
    started = [mark.t_ns for mark in timeline if mark.event is Event.STEP_STARTED]
    if frozen is not None and any(t_ns < frozen.frozen_ns for t_ns in started):
        yield "a step started before the prediction was frozen"
    finished = [mark.step for mark in timeline if mark.event is Event.STEP_FINISHED]
    taken = [(number, step) for number, step in enumerate(schedule.steps) if number in finished or is_complete]
    yield from _of_deeds(about, taken, timeline, len(schedule.steps))
    yield from _of_times(about, timeline, observations)
    yield from _of_probes(taken, observations)
    yield from _of_outcomes(schedule, observations, is_complete=is_complete)
    yield from _of_waits(taken, observations)
    yield from _of_tails(timeline, observations)
    yield from fault_complaints(about, taken, timeline)
    if is_complete:
        yield from hold_complaints(about, schedule, timeline)


def _of_structure(schedule: Schedule) -> Iterator[str]:
    """Look whether the steps are a schedule: what one names, another one has brought about."""
    try:
        check_structure(schedule)
    except ScheduleError as error:
        yield f"the schedule is none: {error}"


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


def _of_deeds(about: Run, taken: Taken, timeline: Sequence[TimelineMark], end: int) -> Iterator[str]:
    """Compare what each step leaves with what is told of it; a hold may also end with its connection, or a delay."""
    numbers = {number for number, _ in taken}
    topic = about.topic or ""
    wanted: Counter[tuple[Event, str, int | None]] = Counter(
        (Event(step.leaves), topic if subject is None else subject, number)
        for number, step in taken
        if step.leaves
        for subject in step.left_for()
    )
    ends = {name_of_delay(number) for number, step in taken if isinstance(step, DelayFrame)}
    told = Counter(
        (mark.event, mark.subject, mark.step)
        for mark in timeline
        if mark.event in DEEDS
        and (mark.step in numbers or mark.step is None or mark.step >= end)
        and not (mark.event in HOLD_ENDS and (mark.step is None or mark.subject in ends))
    )
    for event, subject, number in wanted - told:
        yield f"the timeline does not tell {_called(event, subject)}{in_step(number)}"
    for event, subject, number in told - wanted:
        yield f"the timeline tells {_called(event, subject)}{in_step(number)}, and no step did that"
    steps = dict(taken) if about.format > FIRST_FORMAT else {}
    for mark in timeline:
        step = steps.get(-1 if mark.step is None else mark.step)
        if step is not None and mark.event == step.leaves and not _is_as_asked(step, mark):
            yield f"the timeline's {_called(mark.event, mark.subject)} is another than{in_step(mark.step)} is asked for"


def _is_as_asked(step: Step, mark: TimelineMark) -> bool:
    """Return whether a mark tells what its step asks for: the ends of a link, an offset, to whom a record was sent."""
    return all(getattr(step, name) == getattr(mark, name) for name in TOLD_WITH.get(mark.event, ()))


def in_step(number: int | None) -> str:
    """Return where on a timeline something stands, as words behind it."""
    return " between the steps" if number is None else f" in step {number + 1}"


def _called(event: Event, subject: str) -> str:
    return f"{event.value.replace('_', ' ')} {subject}"


def _of_times(about: Run, timeline: Sequence[TimelineMark], observations: Sequence[Observation]) -> Iterator[str]:
    """Look whether everything that a step noted lies between its start and its end, in the order of time."""
    slack = SLACK_NS if about.format == FIRST_FORMAT else 0
    starts = {mark.step: mark.t_ns for mark in timeline if mark.event is Event.STEP_STARTED}
    ends = {mark.step: mark.t_ns for mark in timeline if mark.event is Event.STEP_FINISHED}
    noted = [
        *((mark.step, mark.t_ns, mark.event.value) for mark in timeline),
        *((s.step, s.t_ns, s.kind) for s in observations),
    ]
    for step, t_ns, what in noted:
        if step is None:
            if any(start < t_ns < ends.get(number, 0) - slack for number, start in starts.items()):
                yield f"{what.replace('_', ' ')} is told of no step, while one was taken"
        elif not starts.get(step, t_ns) - slack <= t_ns <= ends.get(step, t_ns) + slack:
            yield f"{what.replace('_', ' ')} lies outside step {step + 1}, which tells of it"
    for file, lines in (("timeline", timeline), ("observations", observations)):
        if not slack and any(later.t_ns < earlier.t_ns for earlier, later in itertools.pairwise(lines)):
            yield f"the lines of the {file} are not in the order of time"


def _of_probes(taken: Taken, observations: Sequence[Observation]) -> Iterator[str]:
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


def _of_waits(taken: Taken, observations: Sequence[Observation]) -> Iterator[str]:
    """Look whether what a step waits for was there when it had been taken."""
    outcomes = {one.label: one.step for one in observations if isinstance(one, OutcomeSeen)}
    probes = last_probes(observations)
    for number, step in taken:
        probe = probes.get(number)
        if isinstance(step, AwaitOutcome) and not _are_known(step.records, outcomes, number):
            yield f"step {number + 1} waits for outcomes that were not observed by then"
        elif isinstance(step, AwaitIsr) and probe is not None and set(probe.isr) != set(step.isr):
            yield f"step {number + 1} waits for ISR {sorted(step.isr)}, and {sorted(probe.isr)} was measured after it"
        elif isinstance(step, AwaitLeader) and probe is not None and probe.leader != step.leader:
            yield f"step {number + 1} waits for leader {step.leader}, and {probe.leader} was measured after it"


def _are_known(records: Iterable[str], outcomes: Mapping[str, int | None], step: int) -> bool:
    return all((at := outcomes.get(one)) is not None and at <= step for one in records)


def _of_tails(timeline: Sequence[TimelineMark], observations: Sequence[Observation]) -> Iterator[str]:
    """Look whether a tail that was lost reached to where the log ended before."""
    for mark in timeline:
        if mark.event is not Event.TAIL_LOST or mark.last_offset is None or mark.step is None:
            continue
        before = [
            one
            for one in observations
            if isinstance(one, MeasuredNumbers) and one.step is not None and one.step < mark.step
        ]
        seen = before[-1].replicas.get(int(mark.subject)) if before else None
        if seen is not None and seen.log_end_offset != mark.last_offset + 1:
            yield f"the tail that broker {mark.subject} lost in step {mark.step + 1} is not where its log ended"
