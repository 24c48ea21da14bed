"""When did what happen in a run, and when was what measured? The tester's own notes, as questions read them.

``timeline.ndjson`` says what was done, ``observations.ndjson`` what was measured
(``conformance.running.recorder``). All times are nanoseconds of the tester's monotonic clock, on which the wire trace
agrees (``conformance.wire_trace``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from conformance.catalogue.questions import NotSeenError

if TYPE_CHECKING:
    from conformance.run_directory import RunDirectory

Note: TypeAlias = dict[str, Any]
TIMELINE_FILE, OBSERVATIONS_FILE = "timeline.ndjson", "observations.ndjson"


def marks(run: RunDirectory, event: str, subject: object) -> list[Note]:
    """Return the notes of an event of the timeline, in order.

    Raises:
        NotSeenError: it never happened.
    """
    timeline = run.lines(TIMELINE_FILE)
    found = [mark for mark in timeline if (mark["event"], str(mark["subject"])) == (event, str(subject))]
    if not found:
        raise NotSeenError(f"the timeline has no {event} of {subject}")
    return found


def first_at(run: RunDirectory, event: str, subject: object) -> int:
    """Return when an event of the timeline happened first.

    Raises:
        NotSeenError: it never did.
    """
    return _time_of(marks(run, event, subject)[0])


def last_at(run: RunDirectory, event: str, subject: object) -> int:
    """Return when an event of the timeline happened last.

    Raises:
        NotSeenError: it never did.
    """
    return _time_of(marks(run, event, subject)[-1])


def step_began(run: RunDirectory, step: int) -> int:
    """Return when a step, counted from 0, was begun.

    Raises:
        NotSeenError: it never was.
    """
    for mark in run.lines(TIMELINE_FILE):
        if (mark["event"], mark.get("step")) == ("step_started", step):
            return _time_of(mark)
    raise NotSeenError(f"the timeline has no step {step + 1}")


def checkpoints(run: RunDirectory) -> list[Note]:
    """Return what was measured at each checkpoint, in order."""
    return [seen for seen in run.lines(OBSERVATIONS_FILE) if seen["kind"] == "checkpoint"]


def measured_at(run: RunDirectory, checkpoint: str) -> int:
    """Return when a checkpoint's numbers were measured.

    Raises:
        NotSeenError: it never was.
    """
    for seen in checkpoints(run):
        if seen["name"] == checkpoint:
            return _time_of(seen)
    raise NotSeenError(f"no checkpoint {checkpoint!r} was measured")


def outcome_at(run: RunDirectory, label: str) -> int:
    """Return when the outcome of a record was noted.

    Raises:
        NotSeenError: it has none.
    """
    for seen in run.lines(OBSERVATIONS_FILE):
        if (seen["kind"], seen.get("label")) == ("outcome", label):
            return _time_of(seen)
    raise NotSeenError(f"no outcome of {label} was observed")


def _time_of(note: Note) -> int:
    at_ns: int = note["t_ns"]
    return at_ns
