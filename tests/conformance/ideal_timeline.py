"""The timeline of a run whose brokers conform: every step takes a second, and every hold catches its frame at once."""

from __future__ import annotations

import itertools
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from conformance.judgement.evidence_of_faults import ENDS_PROCESSES, named_holds
from conformance.record.directory import as_line
from conformance.record.timeline import TIMELINE_FILE, Event, FileOfFault, FrameOfFault, ProcessOfFault, TimelineMark
from conformance.running.holding import place_of, point_of
from oracle.steps.frames import Close, DelayFrame, Drop, Hold, ReleaseHold, name_of_delay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.record.directory import RunDirectory
    from oracle.schedule import Schedule
    from oracle.steps.step import Step
    from oracle.vocabulary import MetadataMode

SECOND_NS = 1_000_000_000
KILLED = (137, 9, False)
ENDINGS = {"kill": KILLED, "kill_together": KILLED, "stop": (143, 15, False), "pause": (None, None, True)}
"""Exit code, signal, and whether it stands still, of a process after each fault of processes."""


def within(step: int) -> int:
    """Return a time in the middle of a step, which takes a second; of the step after the last, one after the run."""
    return (step + 1) * SECOND_NS + SECOND_NS // 2


def write_timeline(run: RunDirectory, schedule: Schedule, metadata: MetadataMode, topic: str) -> None:
    """Write what the steps did; every hold catches its frame at once, faults are healed by steps or at the end."""
    marks: list[TimelineMark] = []
    faults: list[tuple[int, str]] = []
    held: list[str] = []
    injected = itertools.count(1)
    for number, step in enumerate(schedule.steps):

        def mark(event: Event, subject: str, at: int = within(number), step: int = number, **fields: Any) -> None:  # noqa: ANN401
            marks.append(TimelineMark(event, subject, "", at, step, **fields))

        mark(Event.STEP_STARTED, step.word, (number + 1) * SECOND_NS)
        for _ in range(step.faults(metadata)):
            faults.append((next(injected), step.fault))
            stamp = {"number": faults[-1][0], "at_ns": within(number)}
            mark(Event.FAULT_ARMED, step.fault, **stamp)
            mark(Event.FAULT_FIRED, step.fault, **stamp, **_proof(step, topic, number))
        for fault in [one for one in faults if one[1] in set(step.takes_back) - ENDS_PROCESSES]:
            faults.remove(fault)
            mark(Event.FAULT_HEALED, fault[1], number=fault[0], at_ns=within(number))
        if isinstance(step, ReleaseHold | Drop | Close):
            held.remove(step.name)
        for event, subject, about in _deeds(schedule, step, topic):
            mark(event, subject, **about)
        if isinstance(step, Hold | DelayFrame):
            next(injected)
            held.append(step.name if isinstance(step, Hold) else name_of_delay(number))
            for event in (Event.HOLD_ARMED, Event.HOLD_CAUGHT):
                mark(event, held[-1], **fields_of(step))
        mark(Event.STEP_FINISHED, step.word, (number + 2) * SECOND_NS - 1)
    end = within(len(schedule.steps))
    named = {name: step for name, (_, step) in named_holds(schedule).items()}
    marks += [TimelineMark(Event.HOLD_DISCHARGED, name, "", end, **fields_of(named[name])) for name in held]
    marks += [TimelineMark(Event.FAULT_HEALED, word, "", end, number=number, at_ns=end) for number, word in faults]
    (run.path / TIMELINE_FILE).write_text("".join(map(as_line, marks)), encoding="utf-8")


def _deeds(schedule: Schedule, step: Step, topic: str) -> Iterator[tuple[Event, str, dict[str, Any]]]:
    """Yield what a step leaves, and what has come of a frame before it is delivered late."""
    if isinstance(step, ReleaseHold | Drop | Close):
        about = fields_of(_hold(schedule, step.name))
        if isinstance(step, ReleaseHold) and step.late:
            yield Event.HOLD_ORPHANED, step.name, about
        yield Event(step.leaves), step.name, about
    elif step.leaves:
        for subject in step.left_for():
            yield Event(step.leaves), subject or topic, {}


def _proof(step: Step, topic: str, number: int) -> dict[str, Any]:
    """Return what proves the fault of a step: what became of processes, a frame, or a file."""
    brokers = [int(broker or 0) for broker in step.left_for()]
    if step.fault in ENDINGS:
        return {"processes": tuple(ProcessOfFault(broker, *ENDINGS[step.fault]) for broker in brokers)}
    if step.fault in ("cut", "isolate"):
        return {"frame": FrameOfFault(1, "replication", -1, "request", None, within(number))}
    path = f"{topic}-0/{0:020}.log" if step.fault == "lose_tail" else "replication-offset-checkpoint"
    return {"file": FileOfFault(brokers[0], path, getattr(step, "offset", None))}


def fields_of(hold: Hold | DelayFrame | None) -> dict[str, int | str | None]:
    """Return what the timeline says about a hold: its place, and what is done to the frame."""
    return (
        {} if hold is None else {**asdict(place_of(point_of(hold, ""))), "point": hold.point.value, "action": hold.word}
    )


def _hold(schedule: Schedule, name: str) -> Hold | None:
    return next((step for step in schedule.steps if isinstance(step, Hold) and step.name == name), None)
