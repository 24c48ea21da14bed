"""What is gone on with when a ledger is resumed, and what is said of commands that never ran? No broker is needed."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from conformance.attach.fault_commands import FaultCommand
from conformance.attach.finishing import finish
from conformance.attach.rest import NotAtRestError
from conformance.clients.client_settings import ClientSettings
from conformance.commands.attaching import _complain_of_unrun
from conformance.console import Console
from conformance.record.attached import ATTACH_FILE, COMMANDS_FILE, CommandRun, Phase, append_lines
from conformance.record.directory import RunDirectory
from tests.conformance.attach.test_attach_judging import ATTACHED

if TYPE_CHECKING:
    from pathlib import Path


def test_a_ledger_that_was_judged_before_the_cluster_was_at_rest_looks_at_it_again(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "attached", parts=("ledger",))
    run.write(ATTACH_FILE, replace(ATTACHED, bootstrap="127.0.0.1:1", phase=Phase.JUDGED, is_at_rest=False))
    with pytest.raises(NotAtRestError, match="no broker answers"):
        finish(run, ClientSettings(), settle_s=0.1)


def test_commands_that_never_ran_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = RunDirectory.create(tmp_path, "attached", parts=("ledger",))
    append_lines(run, COMMANDS_FILE, [CommandRun("one", 0, 1, 0, "command-001.log")])
    ledger = SimpleNamespace(run=run)
    _complain_of_unrun(Console(), [FaultCommand("one", 1)], ledger)  # type: ignore[arg-type]
    assert capsys.readouterr().err == ""
    _complain_of_unrun(Console(), [FaultCommand("one", 1), FaultCommand("two", 9)], ledger)  # type: ignore[arg-type]
    assert "1 of 2 commands were never run" in capsys.readouterr().err
