"""Which frames about its partition did a run see, and when did what happen? Reads wire.ndjson and timeline.ndjson.

All times are nanoseconds of the tester's monotonic clock, on which both files agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.questions import NotSeenError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.run_directory import RunDirectory


NO_TOPIC_ID = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame that says something about the run's partition.

    Attributes:
        arrived_ns: when it reached the gate.
        forwarded_ns: when it left the gate; None if it never did.
        said: the whole decoded frame.
        entry: what it says about the partition.
    """

    arrived_ns: int
    forwarded_ns: int | None
    api: str
    direction: str
    source: int
    destination: int
    said: dict[str, Any]
    entry: dict[str, Any]


def frames(run: RunDirectory) -> list[Frame]:
    """Return the frames about a run's partition in the order of their arrival."""
    lines = run.lines("wire.ndjson")
    topic = run.read_json("run.json")["topic"]
    ids = {entry.get("topic_id") for line in lines for entry in _entries(line) if entry.get("topic") == topic}
    names = {topic, *ids} - {None, NO_TOPIC_ID}
    found = (_frame(line, entry) for line in lines for entry in _entries(line) if _is_about(entry, names))
    return sorted(found, key=lambda frame: frame.arrived_ns)


def _entries(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what a line says about partitions: itself, or as records of the metadata log."""
    for entry in (line.get("decoded") or {}).get("partitions", ()):
        yield entry
        yield from entry.get("metadata", ())


def _is_about(entry: dict[str, Any], names: set[str]) -> bool:
    return bool({entry.get("topic"), entry.get("topic_id")} & names) and entry.get("partition") == 0


def _frame(line: dict[str, Any], entry: dict[str, Any]) -> Frame:
    return Frame(
        line["arrived_ns"],
        line.get("forwarded_ns"),
        line["api"],
        line["direction"],
        line["source"],
        line["destination"],
        line["decoded"],
        entry,
    )


def requests(run: RunDirectory, *, source: int, destination: int, since_ns: int = 0) -> list[Frame]:
    """Return the requests about the partition from one broker to another one."""
    return [
        frame
        for frame in frames(run)
        if frame.direction == "request"
        and (frame.source, frame.destination) == (source, destination)
        and frame.arrived_ns >= since_ns
    ]


def step_began(run: RunDirectory, step: int) -> int:
    """Return when a step, counted from 0, was begun.

    Raises:
        NotSeenError: it never was.
    """
    for mark in run.lines("timeline.ndjson"):
        if mark["event"] == "step_started" and mark["step"] == step:
            at_ns: int = mark["t_ns"]
            return at_ns
    raise NotSeenError(f"the timeline has no step {step + 1}")


def happened_at(run: RunDirectory, event: str, subject: object) -> int:
    """Return when an event of the timeline happened first.

    Raises:
        NotSeenError: it never did.
    """
    return times_of(run, event, subject)[0]


def times_of(run: RunDirectory, event: str, subject: object) -> list[int]:
    """Return when an event of the timeline happened, each time in order.

    Raises:
        NotSeenError: it never did.
    """
    marks = run.lines("timeline.ndjson")
    times = [mark["t_ns"] for mark in marks if (mark["event"], str(mark["subject"])) == (event, str(subject))]
    if not times:
        raise NotSeenError(f"the timeline has no {event} of {subject}")
    return times
