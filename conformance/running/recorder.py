"""What happened in this run, and when? Appends observations and timeline events as they occur.

The forms of both files are ``conformance.record.observations`` and ``conformance.record.timeline``.
"""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from conformance.record.directory import AppendedLines
from conformance.record.observations import OBSERVATIONS_FILE
from conformance.record.timeline import TIMELINE_FILE, Event, FileOfFault, FrameOfFault, ProcessOfFault, TimelineMark
from conformance.running.holding import place_of
from fault_injection.faults.fault import FaultStage
from fault_injection.faults.gate_faults import frame_of
from fault_injection.wire.gate_events import HoldStatus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from conformance.record.observations import Observation
    from fault_injection.faults.fault import FaultEvent
    from fault_injection.wire.gate_events import GateEvent


class Recorder:
    """Writes one run's observations and timeline; safe to call from the gate's threads.

    Attributes:
        directory: the run's directory.
        step: the number of the step that is taken, from 0; None between the steps. A line's time and step are of one
            moment, and lines are in the order of time.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._observations = AppendedLines(directory / OBSERVATIONS_FILE)
        self._timeline = AppendedLines(directory / TIMELINE_FILE)
        self._lock = Lock()
        self.step: int | None = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def observe(self, seen: Observation) -> None:
        """Record what was measured, now and in this step."""
        with self._lock:
            self._observations.append(replace(seen, t_ns=time.monotonic_ns(), step=self.step))

    def mark(self, event: Event, subject: object, text: str, **fields: Any) -> None:  # noqa: ANN401 - those of Mark
        """Record that something happened to ``subject``, with the words a reader needs.

        Raises:
            TypeError: a mark has no such field.
        """
        with self._lock:
            self._mark(event, str(subject), text, **fields)

    def begin(self, step: int, word: str, text: str) -> None:
        """Record that a step begins: what comes from now on is of it."""
        with self._lock:
            self.step = step
            self._mark(Event.STEP_STARTED, word, text)

    def finish(self, word: str, text: str) -> None:
        """Record that the step has been taken: what comes from now on is of none."""
        with self._lock:
            self._mark(Event.STEP_FINISHED, word, text)
            self.step = None

    def close(self) -> None:
        """Close both files."""
        with self._lock:
            self._observations.close()
            self._timeline.close()

    def _mark(self, event: Event, subject: str, text: str, **fields: Any) -> None:  # noqa: ANN401 - those of Mark
        self._timeline.append(TimelineMark(event, subject, text, time.monotonic_ns(), self.step, **fields))


# Faults and holds on the timeline
#
# The gate tells of holds, the moment something happens to one; the account, which looks later, of every other fault.


def hold_marks(recorder: Recorder) -> Callable[[GateEvent], None]:
    """Return the function that puts what happens to a hold on a run's timeline."""

    def mark(event: GateEvent) -> None:
        caught, is_new = event.caught, event.status is HoldStatus.CAUGHT
        offset = None if caught is None else caught.fetch_offset
        frame = None if caught is None or not is_new else FrameOfFault(**asdict(frame_of(caught)))
        recorder.mark(
            Event(f"hold_{event.status.value}"),
            event.name,
            _told(event, offset),
            offset=offset,
            **asdict(place_of(event.point)),
            point=event.point.name,
            action=event.action,
            at_ns=event.at_ns,
            frame=frame,
        )

    return mark


def _told(event: GateEvent, offset: int | None) -> str:
    if event.status is HoldStatus.ARMED:
        return f"{event.name}: armed for {event.point.text}"
    return f"{event.name}: {event.status.value}" + ("" if offset is None else f" at fetch offset {offset}")


def fault_marks(recorder: Recorder) -> Callable[[FaultEvent], None]:
    """Return the function that puts a fault's stages on a run's timeline."""

    def mark(event: FaultEvent) -> None:
        if event.hold is not None and event.stage is not FaultStage.HEAL_FAILED:
            return
        processes = () if event.proof is None else event.proof.processes
        file = None if event.proof is None else event.proof.file
        recorder.mark(
            Event(f"fault_{event.stage.value}"),
            event.fault,
            event.text,
            number=event.number,
            at_ns=event.at_ns,
            frame=None if event.frame is None else FrameOfFault(**asdict(event.frame)),
            processes=tuple(ProcessOfFault(**asdict(one)) for one in processes) or None,
            file=None if file is None else FileOfFault(**asdict(file)),
        )

    return mark
