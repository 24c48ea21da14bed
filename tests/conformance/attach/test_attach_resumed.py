"""What is gone on with when a ledger is resumed, and what is said of commands that never ran? No broker is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.attach.finishing import finish
from conformance.attach.rest import NotAtRestError
from conformance.cli import main
from conformance.clients.client_settings import ClientSettings
from conformance.record.attached import ATTACH_FILE, Phase, append_lines
from conformance.record.directory import RunDirectory
from conformance.record.fault_commands import COMMANDS_FILE, COMMANDS_GIVEN_FILE, CommandRun, FaultCommand
from tests.conformance.attach.test_attach_judging import ATTACHED

if TYPE_CHECKING:
    from pathlib import Path


def test_a_ledger_that_was_judged_before_the_cluster_was_at_rest_looks_at_it_again(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "attached", parts=("ledger",))
    run.write(ATTACH_FILE, replace(ATTACHED, bootstrap="127.0.0.1:1", phase=Phase.JUDGED, is_at_rest=False))
    with pytest.raises(NotAtRestError, match="no broker answers"):
        finish(run, ClientSettings(), settle_s=0.1)


def _left_at_the_second_command(path: Path, **changes: object) -> RunDirectory:
    run = RunDirectory.create(path, "attached", parts=("ledger",))
    run.write(ATTACH_FILE, replace(ATTACHED, bootstrap="127.0.0.1:1", **changes))
    append_lines(run, COMMANDS_GIVEN_FILE, [FaultCommand("one", 1), FaultCommand("two", 9)])
    append_lines(run, COMMANDS_FILE, [CommandRun("one", 0, 1, 0, "command-001.log")])
    return run


def test_commands_that_never_ran_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = _left_at_the_second_command(tmp_path)
    assert main(["attach", "--resume", str(run.path), "--settle", "1s"]) == 3
    told = capsys.readouterr().err
    assert "not run: two (due at 9 s)" in told
    assert "not run: one" not in told


def test_a_command_that_was_running_when_the_tester_ended_is_not_told_as_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = _left_at_the_second_command(tmp_path)
    append_lines(run, COMMANDS_FILE, [CommandRun("two", 0, None, None, "command-002.log")])
    assert main(["attach", "--resume", str(run.path), "--settle", "1s"]) == 3
    told = capsys.readouterr().err
    assert "begun, and its end is not known, since the tester ended first: two" in told
    assert "not run" not in told
    assert "ended first: one" not in told


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--delete-created"], "topic t was not created here, and is not deleted"),
        (["--create", "t"], "--create is about a new ledger"),
        (["--fault-command", "true", "--at", "1s"], "--fault-command is about a new ledger"),
    ],
)
def test_what_a_resumed_ledger_cannot_have_is_refused_before_it_is_judged(
    options: list[str], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = _left_at_the_second_command(tmp_path, phase=Phase.READ, is_at_rest=True)
    before = sorted(run.path.rglob("*"))
    assert main(["attach", "--resume", str(run.path), *options]) == 2
    assert why in capsys.readouterr().err
    assert sorted(run.path.rglob("*")) == before
