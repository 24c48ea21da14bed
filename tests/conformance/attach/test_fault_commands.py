"""When is a command run that breaks a cluster, and what is noted of it?"""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

from conformance.attach.fault_commands import FaultCommand, FaultCommands
from conformance.record.attached import read_commands
from conformance.record.directory import RunDirectory

if TYPE_CHECKING:
    from pathlib import Path


def test_commands_run_in_the_order_of_their_times_and_what_they_print_is_kept(tmp_path: Path) -> None:
    begun: list[str] = []
    commands = [FaultCommand("echo second >&2; false", 0.2), FaultCommand("echo first", 0)]
    FaultCommands(commands, RunDirectory(tmp_path), lambda: True, begun.append).run(Event().wait)
    assert begun == ["echo first", "echo second >&2; false"]
    first, second = read_commands(RunDirectory(tmp_path))
    assert (first.exit_code, second.exit_code) == (0, 1)
    assert [(tmp_path / one.output).read_text() for one in (first, second)] == ["first\n", "second\n"]
    assert second.began_ns - first.began_ns >= 100_000_000


def test_a_command_that_is_due_waits_until_it_may_begin(tmp_path: Path) -> None:
    asked: list[bool] = []

    def may_begin() -> bool:
        asked.append(len(asked) >= 3)
        return asked[-1]

    FaultCommands([FaultCommand("true", 0)], RunDirectory(tmp_path), may_begin, lambda _: None).run(Event().wait)
    assert asked == [False, False, False, True]
    assert len(read_commands(RunDirectory(tmp_path))) == 1


def test_a_command_that_runs_at_the_end_is_ended_with_what_it_started(tmp_path: Path) -> None:
    is_over = Event()
    command = f"trap '' TERM; sleep 300 & echo $! > {tmp_path}/child; wait; sleep 300"

    def wait(seconds: float) -> bool:
        if (tmp_path / "child").exists() and (tmp_path / "child").read_text().strip():
            is_over.set()
        return is_over.wait(seconds)

    FaultCommands([FaultCommand(command, 0)], RunDirectory(tmp_path), lambda: True, lambda _: None).run(wait)
    (ended,) = read_commands(RunDirectory(tmp_path))
    assert ended.exit_code is None
    child = (tmp_path / "child").read_text().strip()
    status = tmp_path.__class__("/proc") / child / "status"
    assert not status.exists() or "State:\tZ" in status.read_text()


def test_nothing_more_is_run_once_it_is_over(tmp_path: Path) -> None:
    is_over = Event()
    is_over.set()
    FaultCommands([FaultCommand("true", 5)], RunDirectory(tmp_path), lambda: True, lambda _: None).run(is_over.wait)
    assert read_commands(RunDirectory(tmp_path)) == []
