"""What breaks the cluster? Commands of the user's, each at its time, one after the other; what they print is kept.

One that runs when the ledger ends goes on to its own end, since it may be what mends the cluster again.
"""

from __future__ import annotations

import subprocess
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from threading import Event, Thread
from typing import TYPE_CHECKING

from conformance.attach.command_session import ended_whole
from conformance.record.attached import append_lines
from conformance.record.directory import AppendedLines
from conformance.record.fault_commands import COMMANDS_FILE, COMMANDS_GIVEN_FILE, CommandRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.attach.one_at_a_time import OneAtATime
    from conformance.record.directory import RunDirectory
    from conformance.record.fault_commands import FaultCommand

POLL_S = 0.1
LIMIT_S = 120.0
"""So long a command may go on after the ledger."""
TOLD_AFTER_S = 30.0
"""A command that is due and has waited so long for its turn is told of."""


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
                self._run_one(number, one.command, is_over, noted)

    def _await(self, one: FaultCommand, began: float, is_over: Callable[[float], bool]) -> bool:
        """Wait until a command is due and its turn has come; return whether it does before all is over."""
        due, told = max(began + one.at_s, time.monotonic()), set[str]()
        while not is_over(0):
            early_s = due - time.monotonic()
            why_not = self._why_not() if early_s <= 0 else ""
            if why_not is None:
                return True
            if early_s < -TOLD_AFTER_S and why_not not in told:
                told.add(why_not)
                self._tell(f"{one.command} waits, as --one-at-a-time asks: {why_not}")
            is_over(min(max(early_s, POLL_S), 1.0))
        return False

    def _why_not(self) -> str | None:
        """Return why the next command may not begin; None if it may."""
        return None if self._one_at_a_time is None else self._one_at_a_time.why_not()

    def _run_one(self, number: int, command: str, is_over: Callable[[float], bool], noted: AppendedLines) -> None:
        """Run a command to its end, and note it at both: the tester may end meanwhile."""
        self._tell(f"runs {command}")
        begun = CommandRun(command, time.time_ns(), None, None, f"command-{number:03d}.log")
        if self._one_at_a_time is not None:
            self._one_at_a_time.begin()
        with (self._run.path / begun.output).open("wb") as printed:
            noted.append(begun)
            # the user's own command line, in a session of its own: no Ctrl-C ends it
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
        noted.append(replace(begun, ended_ns=time.time_ns(), exit_code=code))

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
            if not ended_whole(process):
                self._tell(f"something that {command} started is another user's, or cannot end: end it yourself")
        return code
