"""When did what happen in a run, and when was what measured? The tester's own notes, as questions read them.

``timeline.ndjson`` says what was done, ``observations.ndjson`` what was measured
(``conformance.running.recorder``). All times are nanoseconds of the tester's monotonic clock, on which the wire trace
agrees (``conformance.wire_trace``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError
from conformance.record.observations import MeasuredCheckpoint, OutcomeSeen, read_observations
from conformance.record.timeline import Event, read_timeline

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory
    from conformance.record.timeline import TimelineMark


def marks(run: RunDirectory, event: Event, subject: object) -> list[TimelineMark]:
    """Return the marks of an event of the timeline, in order.

    Raises:
        NotSeenError: it never happened.
    """
    found = [mark for mark in read_timeline(run) if (mark.event, mark.subject) == (event, str(subject))]
    if not found:
        raise NotSeenError(f"the timeline has no {event} of {subject}")
    return found


def first_at(run: RunDirectory, event: Event, subject: object) -> int:
    """Return when an event of the timeline happened first.

    Raises:
        NotSeenError: it never did.
    """
    return marks(run, event, subject)[0].t_ns


def last_at(run: RunDirectory, event: Event, subject: object) -> int:
    """Return when an event of the timeline happened last.

    Raises:
        NotSeenError: it never did.
    """
    return marks(run, event, subject)[-1].t_ns


def step_began(run: RunDirectory, step: int | None) -> int:
    """Return when a step, counted from 0, was begun.

    Raises:
        NotSeenError: it never was.
    """
    for mark in read_timeline(run):
        if (mark.event, mark.step) == (Event.STEP_STARTED, step):
            return mark.t_ns
    raise NotSeenError(f"the timeline has no step {(step or 0) + 1}")


def checkpoints(run: RunDirectory) -> list[MeasuredCheckpoint]:
    """Return what was measured at each checkpoint, in order."""
    return [seen for seen in read_observations(run) if isinstance(seen, MeasuredCheckpoint)]


def measured_at(run: RunDirectory, checkpoint: str) -> int:
    """Return when a checkpoint's numbers were measured.

    Raises:
        NotSeenError: it never was.
    """
    for seen in checkpoints(run):
        if seen.name == checkpoint:
            return seen.t_ns
    raise NotSeenError(f"no checkpoint {checkpoint!r} was measured")


def outcome_at(run: RunDirectory, label: str) -> int:
    """Return when the outcome of a record was noted.

    Raises:
        NotSeenError: it has none.
    """
    for seen in read_observations(run):
        if isinstance(seen, OutcomeSeen) and seen.label == label:
            return seen.t_ns
    raise NotSeenError(f"no outcome of {label} was observed")
