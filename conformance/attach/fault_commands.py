"""What breaks the cluster? Commands of the user's, each at its time, one after the other; what they print is kept.

One that runs when the ledger ends goes on to its own end, since it may be what mends the cluster again.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import closing, contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

from conformance.record.attached import append_lines
from conformance.record.directory import AppendedLines
from conformance.record.fault_commands import COMMANDS_FILE, COMMANDS_GIVEN_FILE, CommandRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.attach.one_at_a_time import OneAtATime
    from conformance.record.directory import RunDirectory
    from conformance.record.fault_commands import FaultCommand

ENDED_S = 5.0
POLL_S = 0.1
LIMIT_S = 120.0
"""So long a command may go on after the ledger."""
TOLD_AFTER_S = 30.0
"""A command that is due and waits so long for its turn is told of."""


class FaultCommands:
    """Runs commands at their times.

    Args:
        commands: any order.
        run: where they are noted, with what they print.
        tell: told what a person should know: which command begins, and what one waits for.
        one_at_a_time: a command that is due waits for its turn; None if it need not.
        limit_s: how long a command may go on after the ledger.

    Attributes:
        failure: what ended the running of commands before its time.
    """

    def __init__(
        self,
        commands: Sequence[FaultCommand],
        run: RunDirectory,
        tell: Callable[[str], None],
        one_at_a_time: OneAtATime | None = None,
        limit_s: float = LIMIT_S,
    ) -> None:
        self._due = sorted(commands, key=lambda one: one.at_s)
        self._run, self._tell, self._one_at_a_time, self._limit_s = run, tell, one_at_a_time, limit_s
        self.failure: BaseException | None = None
        append_lines(run, COMMANDS_GIVEN_FILE, self._due)

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Run commands at their times while the block lasts; one that runs at its end is waited for.

        Raises:
            BaseException: what ended the running of commands before its time.
        """
        is_over = Event()
        thread = Thread(target=self._keep_failure, args=(is_over.wait,), name="attach-commands")
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()
        if self.failure is not None:
            raise self.failure

    def _keep_failure(self, is_over: Callable[[float], bool]) -> None:
        try:
            self.run(is_over)
        except BaseException as failure:  # noqa: BLE001 - raised again where the block ends
            self.failure = failure

    def run(self, is_over: Callable[[float], bool]) -> None:
        """Run what is due, until it is over.

        Args:
            is_over: waits so many seconds, or until it is over, and says whether it is.
        """
        began = time.monotonic()
        with closing(AppendedLines(self._run.path / COMMANDS_FILE)) as noted:
            for number, one in enumerate(self._due, start=1):
                if not self._await(one, began, is_over):
                    return
                noted.append(self._run_one(number, one.command, is_over))

    def _await(self, one: FaultCommand, began: float, is_over: Callable[[float], bool]) -> bool:
        """Wait until a command is due and its turn has come; return whether it does before all is over."""
        due, is_told = began + one.at_s, False
        while not is_over(0):
            early_s = due - time.monotonic()
            if early_s <= 0 and self._is_next():
                return True
            is_over(min(max(early_s, POLL_S), 1.0))
            if early_s < -TOLD_AFTER_S and not is_told:
                is_told = True
                self._tell(
                    f"{one.command} waits for every replica to be in sync, as --one-at-a-time asks: if it is to mend "
                    "what the command before has broken, both must be one: 'docker kill b; sleep 20; docker start b'"
                )
        return False

    def _is_next(self) -> bool:
        return self._one_at_a_time is None or self._one_at_a_time.is_next()

    def _run_one(self, number: int, command: str, is_over: Callable[[float], bool]) -> CommandRun:
        self._tell(f"runs {command}")
        output, began = f"command-{number:03d}.log", time.time_ns()
        if self._one_at_a_time is not None:
            self._one_at_a_time.begin()
        with (self._run.path / output).open("wb") as printed:
            # the user's own command line, in a group of its own: no Ctrl-C ends it, and what it starts ends with it
            process = subprocess.Popen(
                ["/bin/sh", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            code = self._ended(process, command, is_over)
        if self._one_at_a_time is not None:
            self._one_at_a_time.end()
        return CommandRun(command, began, time.time_ns(), code, output)

    def _ended(self, process: subprocess.Popen[bytes], command: str, is_over: Callable[[float], bool]) -> int | None:
        """Wait until a command ends, so long after the ledger at most; return its exit code, None if it was ended."""
        while process.poll() is None and not is_over(POLL_S):
            if self._one_at_a_time is not None:
                self._one_at_a_time.look()
        if process.poll() is None:
            self._tell(f"waits for {command} to end, {self._limit_s:g} s at most")
            with suppress(subprocess.TimeoutExpired):
                process.wait(self._limit_s)
        code = process.poll()
        if code is None:
            self._tell(f"ends {command}, which has not ended within {self._limit_s:g} s")
            _end(process)
        return code


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(ENDED_S)
            return
