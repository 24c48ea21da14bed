"""Does the nightly job's own script run a line, go on where it was, and join the lines into one table?"""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.project.documents import ROOT

if TYPE_CHECKING:
    from pathlib import Path

LINE = "4.3.1/kraft"


def nightly(runs: Path, *arguments: str) -> tuple[int, str]:
    """Run the script as the workflow does; return its exit code and what it said."""
    environment = os.environ | {"RUNS": str(runs), "GITHUB_STEP_SUMMARY": str(runs / "summary.md")}
    command = [str(ROOT / ".ci" / "nightly"), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=200)
    return done.returncode, done.stdout + done.stderr


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
    assert all(counts["probes"] > 5 and counts["frames"] > 5 and not counts["broken"] for counts in held.values())
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
