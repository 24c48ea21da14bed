"""What happened in this run, and when? Appends observations and timeline events as they occur.

The forms of both files are ``conformance.record.observations`` and ``conformance.record.timeline``.
"""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, TextIO

from conformance.record.directory import as_line
from conformance.record.observations import OBSERVATIONS_FILE
from conformance.record.timeline import TIMELINE_FILE, Event, FrameOfFault, Mark

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from conformance.record.observations import Observation
    from fault_injection.faults.fault import FaultEvent


class Recorder:
    """Writes one run's observations and timeline; safe to call from the gate's threads.

    Attributes:
        directory: the run's directory.
        step: the number of the step that is taken, from 0; None between the steps.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._observations = _appender(directory / OBSERVATIONS_FILE)
        self._timeline = _appender(directory / TIMELINE_FILE)
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
        self._write(self._observations, replace(seen, t_ns=time.monotonic_ns(), step=self.step))

    def mark(self, event: Event, subject: object, text: str, **fields: Any) -> None:  # noqa: ANN401 - those of Mark
        """Record that something happened to ``subject``, with the words a reader needs.

        Raises:
            TypeError: a mark has no such field.
        """
        self._write(self._timeline, Mark(event, str(subject), text, time.monotonic_ns(), self.step, **fields))

    def close(self) -> None:
        """Close both files."""
        with self._lock:
            self._observations.close()
            self._timeline.close()

    def _write(self, stream: TextIO, noted: Mark | Observation) -> None:
        line = as_line(noted)
        with self._lock:
            if not stream.closed:
                stream.write(line)
                stream.flush()


def _appender(path: Path) -> TextIO:
    return path.open("a", encoding="utf-8")


def on_timeline(recorder: Recorder) -> Callable[[FaultEvent], None]:
    """Return the function that puts a fault's stages on a run's timeline."""

    def mark(event: FaultEvent) -> None:
        stage = Event(f"fault_{event.stage.value}")
        frame = None if event.frame is None else FrameOfFault(**asdict(event.frame))
        recorder.mark(stage, event.fault, event.text, number=event.number, at_ns=event.at_ns, frame=frame)

    return mark
