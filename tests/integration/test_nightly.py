"""Does the nightly job's own script run a line, go on where it was, and join the lines into one table?"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fault_injection.waiting import until
from tests.project.documents import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LINE = "4.3.1/kraft"
BIN = Path(sys.executable).parent
"""The environment of these tests: the script must use it, and not set up one of its own in the checkout."""
LINE_DEADLINE_S = 200.0
GRACE_S = 30.0


def nightly(runs: Path, *arguments: str) -> tuple[int, str]:
    """Run the script as the workflow does; return its exit code and what it said."""
    environment = os.environ | {"RUNS": str(runs), "GITHUB_STEP_SUMMARY": str(runs / "summary.md"), "BIN": str(BIN)}
    return ended([str(ROOT / ".ci" / "nightly"), *arguments], environment, LINE_DEADLINE_S)


def ended(command: Sequence[str], environment: Mapping[str, str], deadline_s: float) -> tuple[int, str]:
    """Run a command in a process group of its own; if it is late, all of it is ended: the tester ends its brokers."""
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            said, _ = process.communicate(timeout=deadline_s)
        except BaseException:
            end_group(process)
            raise
    return process.returncode, said


def end_group(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=GRACE_S)  # until everybody who could write has ended
        os.killpg(process.pid, signal.SIGKILL)


def test_a_command_that_is_late_is_ended_with_what_it_started(tmp_path: Path) -> None:
    script = f'sleep 60 & echo $! >"{tmp_path}/pid"; wait'
    with pytest.raises(subprocess.TimeoutExpired):
        ended(["bash", "-c", script], os.environ, 1.0)
    sleeper = Path("/proc") / (tmp_path / "pid").read_text().strip()
    until(lambda: is_gone(sleeper), deadline_s=5.0, what="the command's child to end")


def is_gone(process: Path) -> bool:
    try:
        return ") Z " in (process / "stat").read_text()
    except OSError:
        return True


@pytest.mark.broker
@pytest.mark.spark
def test_a_line_is_run_once_and_its_table_is_in_the_summary(tmp_path: Path) -> None:
    code, said = nightly(tmp_path, LINE, "HW-03")
    assert (code, "4.3.1/kraft: 1 cell\n" in said) == (0, True), said
    (run,) = (tmp_path / "4.3.1-kraft-process" / "round-1").iterdir()
    assert (run / "wire.ndjson").is_file()
    assert (run.parents[1] / "junit.xml").is_file()
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "## The run behaves as modelled on 1 release line" in summary

    again = nightly(tmp_path, LINE, "HW-03")
    assert again[0] == 0
    assert "4.3.1/kraft: 1 cell, 1 finished and skipped" in again[1]
    assert list(run.parent.iterdir()) == [run]

    assert nightly(tmp_path, "--join", LINE)[0] == 0
    table = json.loads((tmp_path / "matrix.json").read_text(encoding="utf-8"))
    held = {row["id"]: row["held"][0] for row in table["every_run"]}
    assert sorted(held) == ["HW-01", "HW-09", "HW-10"]
    assert all(counts["probes"] > 5 and not counts["broken"] for counts in held.values())
    assert {row for row, counts in held.items() if counts["frames"] > 5} == {"HW-01", "HW-09"}, (
        "no frame shows five offsets"
    )
    (cell,) = next(row["cells"] for row in table["requirements"] if row["id"] == "HW-03")
    assert [found["conformance"] for found in cell["runs"]] == ["CONFORMS"]


def test_a_release_that_is_not_there_fails_the_job(tmp_path: Path) -> None:
    code, said = nightly(tmp_path, "9.9/kraft")
    assert (code, "not a supported release" in said) == (2, True), said
    assert not (tmp_path / "summary.md").exists()


def test_without_a_line_the_script_says_how_it_is_used(tmp_path: Path) -> None:
    code, said = nightly(tmp_path)
    assert code == 2
    assert said.startswith("One line of the nightly job") or ".ci/nightly 3.9.2/kraft" in said
