"""What happened in this run, and when? Appends observations and timeline events as they occur.

Two files of one JSON value per line: ``observations.ndjson`` (numbers that probes read) and
``timeline.ndjson`` (steps, faults and broker events). Times are monotonic nanoseconds.
"""

from __future__ import annotations

import json
import time
from threading import Lock
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType


class Recorder:
    """Writes one run's observations and timeline; safe to call from the gate's threads.

    Attributes:
        directory: the run's directory.
        step: the number of the step that is taken, from 0; None between the steps.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._observations = _appender(directory / "observations.ndjson")
        self._timeline = _appender(directory / "timeline.ndjson")
        self._lock = Lock()
        self.step: int | None = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def observe(self, kind: str, **fields: Any) -> None:  # noqa: ANN401 - JSON values
        """Record what was measured."""
        self._write(self._observations, {"kind": kind, **fields})

    def mark(self, event: str, subject: object, text: str, **fields: Any) -> None:  # noqa: ANN401 - JSON values
        """Record that something happened to ``subject``, with the words a reader needs."""
        self._write(self._timeline, {"event": event, "subject": str(subject), "text": text, **fields})

    def close(self) -> None:
        """Close both files."""
        with self._lock:
            self._observations.close()
            self._timeline.close()

    def _write(self, stream: TextIO, value: dict[str, Any]) -> None:
        line = json.dumps({"t_ns": time.monotonic_ns(), "step": self.step, **value}, default=str)
        with self._lock:
            if not stream.closed:
                stream.write(line + "\n")
                stream.flush()


def _appender(path: Path) -> TextIO:
    return path.open("a", encoding="utf-8")
