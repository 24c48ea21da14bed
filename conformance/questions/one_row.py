"""What did one broker answer, ask or wait for? Measures that one row alone asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError, Took
from conformance.notes import checkpoints, marks, outcome_at, step_began
from conformance.record.timeline import Event
from conformance.wire_trace.partition import requests

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.record.answers import Value
    from conformance.record.directory import RunDirectory


def told_leaders(moment: str) -> Callable[[RunDirectory], Value]:
    """Measure whom every live broker named as leader at a checkpoint."""

    def measured(run: RunDirectory) -> Value:
        for seen in checkpoints(run):
            if seen.name == moment and seen.told_leaders is not None:
                return [[broker, leader] for broker, leader in sorted(seen.told_leaders.items())]
        raise NotSeenError(f"no broker was asked for the leader at checkpoint {moment!r}")

    return measured


def offset_of_held_fetch(run: RunDirectory, hold: str) -> int:
    """Return the fetch offset of broker 2's held fetch to broker 1, from the wire trace.

    Raises:
        NotSeenError: the hold caught none.
    """
    for frame, entry in requests(run, source=2, destination=1):
        if frame.hold == hold:
            return int(entry.fetch_offset)
    raise NotSeenError(f"no fetch of broker 2 was held as {hold!r}")


def waited(run: RunDirectory, label: str) -> Took:
    """Return how long a producer waited from the step that sends to the outcome.

    Raises:
        NotSeenError: it was never sent, or has no outcome.
    """
    sent = marks(run, Event.RECORD_SENT, label)[0]
    return Took(step_began(run, sent.step), outcome_at(run, label))
