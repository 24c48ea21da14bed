"""What breaks the cluster? Commands of the user's, each at its time, one after the other; what they print is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.attached import COMMANDS_FILE, CommandRun
from conformance.record.directory import AppendedLines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.record.directory import RunDirectory

ENDED_S = 5.0
POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class FaultCommand:
    """A command, and when it is started, in seconds since the first record."""

    command: str
    at_s: float


class FaultCommands:
    """Runs commands at their times.

    Args:
        commands: any order.
        run: where they are noted, with what they print.
        may_begin: asked before each: whether it may begin now; a command that is due waits for it.
        on_begin: told each command that begins.
    """

    def __init__(
        self,
        commands: Sequence[FaultCommand],
        run: RunDirectory,
        may_begin: Callable[[], bool],
        on_begin: Callable[[str], None],
    ) -> None:
        self._due = sorted(commands, key=lambda one: one.at_s)
        self._run, self._may_begin, self._on_begin = run, may_begin, on_begin
        self._noted = AppendedLines(run.path / COMMANDS_FILE)

    def run(self, is_over: Callable[[float], bool]) -> None:
        """Run what is due, until it is over.

        Args:
            is_over: waits so many seconds, or until it is over, and says whether it is.
        """
        began = time.monotonic()
        with closing(self._noted):
            for number, one in enumerate(self._due, start=1):
                if not self._await(began + one.at_s, is_over):
                    return
                self._run_one(number, one.command, is_over)

    def _await(self, due: float, is_over: Callable[[float], bool]) -> bool:
        """Wait until a command is due and may begin; return whether it does before it is over."""
        while (early_s := due - time.monotonic()) > 0 or not self._may_begin():
            if is_over(min(max(early_s, POLL_S), 1.0)):
                return False
        return True

    def _run_one(self, number: int, command: str, is_over: Callable[[float], bool]) -> None:
        self._on_begin(command)
        output, began = f"command-{number:03d}.log", time.time_ns()
        with (self._run.path / output).open("wb") as printed:
            # the user's own command line, in a group of its own, so that what it starts can be ended with it
            process = subprocess.Popen(
                ["/bin/sh", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                while process.poll() is None and not is_over(POLL_S):
                    pass
            finally:
                code = process.poll()
                if code is None:
                    _end(process)
                self._noted.append(CommandRun(command, began, time.time_ns(), code, output))


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(ENDED_S)
            return
