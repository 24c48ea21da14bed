"""How does the tester speak? Answers to standard output, progress to standard error, as JSON if asked."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from typing import TextIO


@dataclass(frozen=True, slots=True)
class Console:
    """Where the command line writes."""

    as_json: bool = False
    quiet: bool = False
    started: float = field(default_factory=time.monotonic)

    def answer(self, text: str) -> None:
        """Write a line of the answer, unless standard output was closed before the start."""
        _write(sys.stdout, f"{text}\n")

    def answer_json(self, value: object) -> None:
        """Write the answer as JSON."""
        self.answer(json.dumps(value, indent=1, default=str))

    def progress(self, text: str) -> None:
        """Write what is going on, with the seconds since the start."""
        if not self.quiet:
            _write(sys.stderr, f"{time.monotonic() - self.started:7.1f} s  {text}\n")

    def complain(self, text: str) -> None:
        """Write an error."""
        _write(sys.stderr, f"kafka-conformance: {text}\n")


def _write(stream: TextIO | None, text: str) -> None:
    if stream is not None:
        stream.write(text)
        stream.flush()
