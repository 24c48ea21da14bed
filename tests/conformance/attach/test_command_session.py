"""Does what a command started end with it when it is ended, and live on when it ended by itself?"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.attach import command_session
from conformance.attach.fault_commands import FaultCommands
from conformance.record.directory import RunDirectory
from conformance.record.fault_commands import FaultCommand, read_commands
from tests.conformance.attach.test_fault_commands import until_there

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHILD_KNOWN = "echo $! > {0}/child; mv {0}/child {0}/its-child;"
"""The end of what starts a process in the background: its number is in a file, whole."""


@contextmanager
def its_child(directory: Path) -> Iterator[Callable[[], int]]:
    """Return what tells the number of the process that a command starts, and leave none."""

    def pid() -> int:
        return int((directory / "its-child").read_text())

    try:
        yield pid
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid(), signal.SIGKILL)


def kill_alone(leader: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(leader.pid, number)


def is_running(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


@pytest.mark.parametrize(
    "child",
    ["(trap '' TERM; exec sleep 300) &", "timeout 300 sleep 300 &", "(kill -STOP $(exec sh -c 'echo $PPID')) &"],
    ids=["ignores SIGTERM", "has a group of its own", "stands still"],
)
@pytest.mark.parametrize("shell", ["trap '' TERM;", ""], ids=["stubborn", "ends at once"])
def test_one_that_does_not_end_is_ended_with_what_it_started(
    child: str, shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_session, "ENDED_S", 0.5)
    told: list[str] = []
    command = f"{shell} {child} {CHILD_KNOWN.format(tmp_path)} wait; sleep 300"
    commands = FaultCommands([FaultCommand(command, 0)], RunDirectory(tmp_path), told.append, limit_s=0.2)
    with its_child(tmp_path) as pid, commands.beside():
        until_there(tmp_path, "its-child")
    (ended,) = read_commands(RunDirectory(tmp_path))
    assert ended.exit_code is None
    assert ended.is_end_known
    assert told[-1].endswith("which has not ended within 0.2 s")
    assert not is_running(pid())


def test_what_is_ended_may_mend_before_it_ends(tmp_path: Path) -> None:
    child = "(trap 'sleep 0.5; echo mended; exit' TERM; while :; do sleep 0.05; done) &"
    given = [FaultCommand(f"{child} {CHILD_KNOWN.format(tmp_path)} wait", 0)]
    commands = FaultCommands(given, RunDirectory(tmp_path), lambda _: None, limit_s=0.5)
    with its_child(tmp_path), commands.beside():
        until_there(tmp_path, "its-child")
    assert "mended" in (tmp_path / "command-001.log").read_text()


def test_what_a_command_that_ended_by_itself_has_started_lives_on(tmp_path: Path) -> None:
    given = [FaultCommand(f"sleep 300 & {CHILD_KNOWN.format(tmp_path)} sleep 0.5", 0)]
    commands = FaultCommands(given, RunDirectory(tmp_path), lambda _: None, limit_s=5)
    with its_child(tmp_path) as pid:
        with commands.beside():
            until_there(tmp_path, "its-child")
        assert [one.exit_code for one in read_commands(RunDirectory(tmp_path))] == [0]
        assert is_running(pid())


def test_what_cannot_be_ended_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_session, "ENDED_S", 0.1)
    monkeypatch.setattr(command_session, "_signal", kill_alone)  # as if the others were another user's
    told: list[str] = []
    given = [FaultCommand(f"sleep 300 & {CHILD_KNOWN.format(tmp_path)} wait", 0)]
    commands = FaultCommands(given, RunDirectory(tmp_path), told.append, limit_s=0.1)
    with its_child(tmp_path), commands.beside():
        until_there(tmp_path, "its-child")
    assert told[-1].endswith("is another user's, or cannot end: end it yourself")


@pytest.mark.parametrize("is_of_another_namespace", [False, True])
def test_without_a_proc_of_ours_the_first_group_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, is_of_another_namespace: bool
) -> None:
    monkeypatch.setattr(command_session, "PROC", tmp_path)
    if is_of_another_namespace:
        (tmp_path / "4711").mkdir()
        (tmp_path / "4711/stat").write_text("4711 (sh) S 1 4711 4711 0")
        (tmp_path / "self").symlink_to("4711")
    with subprocess.Popen(["/bin/sh", "-c", "sleep 300 & wait"], start_new_session=True) as process:
        assert command_session.ended_whole(process)
    assert process.returncode == -signal.SIGTERM
