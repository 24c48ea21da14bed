"""How does the tester speak? Answers to standard output, progress to standard error, as JSON if asked.

What a person reads on a terminal is laid out for it. What is piped is plain, and so is all if NO_COLOR or ``TERM=dumb``
ask for it.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO, TypeGuard

from conformance.layout import fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.terminal import EntryBar

PLAIN_TERMINALS = ("", "dumb", "unknown")


def silence_libraries() -> None:
    """Show nothing of what libraries log: our errors and evidence say it in words. Each process of the tester needs it.

    py4j logs at the root, with a traceback, what a JVM that ends leaves unanswered.
    """
    logging.getLogger().addHandler(logging.NullHandler())


@dataclass(slots=True)
class Console:
    """Where the command line writes.

    Attributes:
        bar: what shows how far the entries are, while they run on a terminal.
    """

    as_json: bool = False
    quiet: bool = False
    started: float = field(default_factory=time.monotonic)
    bar: EntryBar | None = field(default=None, init=False)

    def answer(self, text: str, *, as_it_is: bool = False) -> None:
        """Write a line of the answer, unless standard output was closed before the start."""
        if as_it_is:
            _write(sys.stdout, f"{text}\n")
        else:
            self._write(sys.stdout, text)

    def prose(self, text: str) -> None:
        """Write paragraphs of the answer; on a terminal they fill its width."""
        self.answer(fill(text, shutil.get_terminal_size().columns) if self._lays_out(sys.stdout) else text)

    def width(self, otherwise: int) -> int:
        """Return how many columns an answer may have: on a terminal those that it has, if they are fewer."""
        return min(otherwise, shutil.get_terminal_size().columns) if self._lays_out(sys.stdout) else otherwise

    def answer_json(self, value: object) -> None:
        """Write the answer as JSON."""
        self.answer(json.dumps(value, indent=1, default=str))

    def progress(self, text: str) -> None:
        """Write what is going on, with the seconds since the start."""
        if not self.quiet:
            self._write(sys.stderr, f"{time.monotonic() - self.started:7.1f} s  {text}")

    def complain(self, text: str) -> None:
        """Write an error."""
        self._write(sys.stderr, f"kafka-conformance: {text}")

    @contextmanager
    def entries(self, total: int) -> Iterator[None]:
        """While entries run, show on a terminal how far they are and how long the others will take."""
        if not self._lays_out(sys.stderr):
            yield
            return
        from conformance.terminal import EntryBar, Terminal  # noqa: PLC0415 - who has a terminal pays

        with EntryBar(Terminal(sys.stderr), total) as bar:
            self.bar = bar
            try:
                yield
            finally:
                self.bar = None

    def begin(self, entry: str) -> None:
        """Begin the next entry; the one before is done."""
        if self.bar is not None:
            self.bar.begin(entry)

    def leave_out(self, number: int) -> None:
        """Do not count entries that need not be run."""
        if self.bar is not None:
            self.bar.leave_out(number)

    def _write(self, stream: TextIO | None, line: str) -> None:
        if self.bar is not None and stream is sys.stderr:
            self.bar.write(line)
        elif self._lays_out(stream):
            from conformance.terminal import Terminal  # noqa: PLC0415 - who has a terminal pays

            _write(stream, Terminal(stream).rendered(line))
        else:
            _write(stream, f"{line}\n")

    def _lays_out(self, stream: TextIO | None) -> TypeGuard[TextIO]:
        return not self.as_json and not self.quiet and is_terminal(stream)


def is_terminal(stream: TextIO | None) -> TypeGuard[TextIO]:
    """Return whether a person reads a stream, on a terminal that can do more than plain lines, and wants more."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "") in PLAIN_TERMINALS:
        return False
    return stream is not None and stream.isatty()


def _write(stream: TextIO | None, text: str) -> None:
    if stream is not None:
        stream.write(text)
        stream.flush()
