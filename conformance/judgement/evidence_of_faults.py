"""Was every fault injected that a step calls for, on whom it names, and was every hold armed, caught and ended?

A step's class says which faults it injects, and which it takes back; the timeline tells of each, numbered, with what
proves that it fired.
"""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

from conformance.record.directory import FIRST_FORMAT
from conformance.record.timeline import HOLD_ENDS, Event
from oracle.steps.frames import Close, DelayFrame, Drop, Hold, ReleaseHold, late_holds, name_of_delay
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from conformance.record.run import Run
    from conformance.record.timeline import ProcessOfFault, TimelineMark
    from oracle.schedule import Schedule
    from oracle.steps.step import Step

    Taken = Sequence[tuple[int, Step]]

FAULT_STAGES = (Event.FAULT_ARMED, Event.FAULT_FIRED, Event.FAULT_HEALED)
_FILES = r"{}/\d{{20}}\.log|replication-offset-checkpoint"
"""The files of a replica that faults change: a segment, and where high watermarks are kept."""
ENDS_PROCESSES = frozenset({"kill", "kill_together", "stop"})
"""Faults that one start takes back, which may come to several, or never."""
ENDED_BY_SIGNAL = 128
"""The exit code of a process that a signal ended is this and the signal's number."""


def fault_complaints(about: Run, taken: Taken, timeline: Sequence[TimelineMark]) -> Iterator[str]:
    """Yield what is wrong with the faults on a timeline, given the steps that were taken, with their numbers."""
    wanted = FAULT_STAGES if about.harness_failure is None else ()
    yield from _of_order(timeline, wanted if about.not_healed is None else wanted[:2])
    yield from _of_injections(about, taken, timeline)
    if about.format > FIRST_FORMAT:
        yield from _of_proofs(about, taken, timeline)


def _of_order(timeline: Iterable[TimelineMark], wanted: Sequence[Event]) -> Iterator[str]:
    """Look at each fault's own story: armed, fired, healed, once each and in this order; some of it must be there."""
    stories = _stories(timeline)
    numbers = [number or 0 for number in stories]
    if numbers != sorted(numbers) or min(numbers, default=1) < 1:
        yield "the faults on the timeline are not numbered in the order of injection"
    for number, story in stories.items():
        told = [mark.event for mark in story]
        if told != [stage for stage in FAULT_STAGES if stage in told or stage in wanted]:
            yield f"fault {number} was not armed, fired and healed, once each and in this order"
        if len({mark.subject for mark in story}) > 1:
            yield f"fault {number} is told under several names"
        times = [mark.at_ns or 0 for mark in story]
        if times != sorted(times) or any((mark.at_ns or 0) > mark.t_ns for mark in story):
            yield f"fault {number} is not told in the order of time"


def _stories(timeline: Iterable[TimelineMark]) -> dict[int | None, list[TimelineMark]]:
    """Return the marks of each fault by its number."""
    stories: dict[int | None, list[TimelineMark]] = {}
    for mark in timeline:
        if mark.event in FAULT_STAGES:
            stories.setdefault(mark.number, []).append(mark)
    return stories


def _of_injections(about: Run, taken: Taken, timeline: Iterable[TimelineMark]) -> Iterator[str]:
    """Look whether each step that was taken has injected the faults of its class, as many as there are."""
    armed = [mark for mark in timeline if mark.event is Event.FAULT_ARMED]
    before = 0
    for number, step in taken:
        found = [(mark.subject, mark.number) for mark in armed if mark.step == number]
        count = step.faults(MetadataMode(about.metadata))
        wanted: list[tuple[str, int | None]] = [(step.fault, before + one) for one in range(1, count + 1)]
        is_held = isinstance(step, Hold | DelayFrame)
        if about.format == FIRST_FORMAT and is_held:
            wanted = found[:1]
        if found != wanted:
            words = ", ".join(f"{one} {what}" for what, one in found) or "no fault"
            yield f"step {number + 1} ({step.word}) injected {words}"
        before += count + is_held  # the account counts holds, too
    if any(mark.step is None for mark in armed):
        yield "a fault was injected between the steps"


def _of_proofs(about: Run, taken: Taken, timeline: Sequence[TimelineMark]) -> Iterator[str]:
    """Look whether what proves a fault is of whom its step names, and whether what took it back is, too."""
    steps = dict(taken)
    for number, story in _stories(timeline).items():
        step = steps.get(story[0].step if story[0].step is not None else -1)
        if step is None or not step.fault:
            continue
        for mark in story:
            if mark.event is Event.FAULT_FIRED:
                yield from (f"fault {number} ({step.fault}) {wrong}" for wrong in _of_proof(about, step, mark))
            healing = steps.get(-1 if mark.step is None else mark.step)
            if mark.event is Event.FAULT_HEALED and healing is not None and not _is_taken_back(step, healing):
                yield f"fault {number} ({step.fault}) was healed in a step that does not take it back"
    healed = {mark.step for mark in timeline if mark.event is Event.FAULT_HEALED}
    for number, step in taken:
        if set(step.takes_back) - ENDS_PROCESSES and number not in healed:
            yield f"step {number + 1} ({step.word}) healed no fault"


def _of_proof(about: Run, step: Step, fired: TimelineMark) -> Iterator[str]:
    hit = sorted(map(str, step.left_for()))
    processes, file = fired.processes or (), fired.file
    if not processes and file is None and fired.frame is None:
        yield "has no proof that it fired"
    elif not _PROOFS[step.fault](fired):
        yield "is proved by what proves another fault"
    if processes and sorted(str(process.broker) for process in processes) != hit:
        yield "did something to other brokers than its step says"
    if any(not _is_sound(process) for process in processes):
        yield "tells of a process that has both ended and not ended"
    if file is not None and [str(file.broker)] != hit:
        yield "changed a file of another broker than its step says"
    if file is not None and file.offset != getattr(step, "offset", None):
        yield "changed a file to another offset than its step says"
    if file is not None and not re.fullmatch(_FILES.format(re.escape(f"{about.topic}-0")), file.path):
        yield "changed a file that no replica has"
    if fired.frame is not None and fired.frame.at_ns != fired.at_ns:
        yield "fired at another time than the frame that proves it"


def _all_processes(fired: TimelineMark, holds: Callable[[ProcessOfFault], bool]) -> bool:
    return bool(fired.processes) and all(map(holds, fired.processes or ()))


def _by_kill(fired: TimelineMark) -> bool:
    return _all_processes(fired, lambda process: process.signal == signal.SIGKILL)


_PROOFS: dict[str, Callable[[TimelineMark], bool]] = {
    "kill": _by_kill,
    "kill_together": _by_kill,
    "stop": lambda fired: _all_processes(fired, lambda one: one.exit_code is not None and one.signal != signal.SIGKILL),
    "pause": lambda fired: _all_processes(fired, lambda process: process.is_paused),
    "cut": lambda fired: fired.frame is not None,
    "isolate": lambda fired: fired.frame is not None,
    "lose_tail": lambda fired: fired.file is not None,
    "lose_high_watermark_checkpoint": lambda fired: fired.file is not None,
}
"""What must be among the proof of each fault that a step injects."""


def _is_sound(process: ProcessOfFault) -> bool:
    """Return whether a process either stands still or has ended, by the signal that its exit code tells."""
    if process.exit_code is None:
        return process.is_paused and process.signal is None
    by = process.exit_code - ENDED_BY_SIGNAL if process.exit_code > ENDED_BY_SIGNAL else None
    return not process.is_paused and process.signal == by


def _is_taken_back(step: Step, healing: Step) -> bool:
    return step.fault in healing.takes_back and set(healing.left_for()) <= set(step.left_for())


def named_holds(schedule: Schedule) -> dict[str, tuple[int, Hold | DelayFrame]]:
    """Return the steps that have a frame caught, with their numbers, by the name that the gate has for it."""
    held = ((number, step) for number, step in enumerate(schedule.steps) if isinstance(step, Hold | DelayFrame))
    return {step.name if isinstance(step, Hold) else name_of_delay(number): (number, step) for number, step in held}


def late_deliveries(schedule: Schedule) -> dict[int, int]:
    """Return whose fetch a step delivers late, by the index of the step."""
    fetching = {step.name: step.follower for step in schedule.steps if isinstance(step, Hold)}
    return {
        index: follower
        for index, step in enumerate(schedule.steps)
        if isinstance(step, ReleaseHold) and step.late and (follower := fetching.get(step.name)) is not None
    }


def hold_complaints(about: Run, schedule: Schedule, timeline: Sequence[TimelineMark]) -> Iterator[str]:
    """Look at each hold's story: armed in its step, caught, and ended as the schedule says, or with its connection."""
    named = named_holds(schedule)
    endings = {s.name: Event(s.leaves) for s in schedule.steps if isinstance(s, ReleaseHold | Drop | Close)}
    late = late_holds(schedule.steps)
    for name, (number, step) in named.items():
        marks = [mark for mark in timeline if mark.subject == name and mark.event.value.startswith("hold_")]
        story = [mark.event for mark in marks if mark.event is not Event.HOLD_ORPHANED]
        ended = [event for event in story if event in HOLD_ENDS]
        if story[:2] != [Event.HOLD_ARMED, Event.HOLD_CAUGHT] or story[2:] != ended or len(ended) != 1:
            yield f"hold {name!r} was not armed, caught and ended, once each and in this order"
        elif marks[0].step != number:
            yield f"hold {name!r} was not armed in step {number + 1}"
        elif name in endings and ended != [endings[name]]:
            yield f"hold {name!r} ended otherwise than by {endings[name].value.removeprefix('hold_')}"
        if (name in late) != ([m.event for m in marks[2:-1]] == [Event.HOLD_ORPHANED]):
            yield f"hold {name!r} {'did not outlive' if name in late else 'outlived'} the connection of its frame"
        for mark in marks:
            yield from _of_mark(about, name, step, mark)
    others = {m.subject for m in timeline if m.event.value.startswith("hold_")} - named.keys()
    yield from (f"the timeline tells of hold {name!r}, which no step arms" for name in sorted(others))


def _of_mark(about: Run, name: str, step: Hold | DelayFrame, mark: TimelineMark) -> Iterator[str]:
    broker = step.broker if isinstance(step, Hold) else None
    place = (None, None, broker) if broker is not None else (step.follower, step.leader, None)
    if (mark.follower, mark.leader, mark.broker, mark.point) != (*place, step.point.value):
        yield f"the timeline tells of hold {name!r} at another place than the schedule"
    if step.fetch_offset is not None and mark.offset not in (None, step.fetch_offset):
        yield f"the timeline tells of hold {name!r} at another offset than the schedule"
    if about.format > FIRST_FORMAT and mark.action != step.word:
        yield f"the timeline tells that hold {name!r} did something else with its frame"
