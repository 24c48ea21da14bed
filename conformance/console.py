"""How does the tester speak? Answers to standard output, progress to standard error, as JSON if asked."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Console:
    """Where the command line writes."""

    as_json: bool = False
    quiet: bool = False
    started: float = field(default_factory=time.monotonic)

    def answer(self, text: str) -> None:
        """Write a line of the answer."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def answer_json(self, value: object) -> None:
        """Write the answer as JSON."""
        self.answer(json.dumps(value, indent=1, default=str))

    def progress(self, text: str) -> None:
        """Write what is going on, with the seconds since the start."""
        if not self.quiet:
            sys.stderr.write(f"{time.monotonic() - self.started:7.1f} s  {text}\n")
            sys.stderr.flush()

    def complain(self, text: str) -> None:
        """Write an error."""
        sys.stderr.write(f"kafka-conformance: {text}\n")
        sys.stderr.flush()
