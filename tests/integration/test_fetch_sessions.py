"""Followers that list every partition in every fetch are what was asked for, not a gap in the evidence."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(240)
def test_a_run_without_fetch_sessions_conforms(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance", "run", "HW-03", "--kafka", "4.4.0", "--backend", "process"]
    options = ["--no-fetch-sessions", "--json", "--runs-dir", str(tmp_path)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    (told,) = json.loads(done.stdout)["runs"]
    (file,) = tmp_path.glob("*/run.json")
    about = json.loads(file.read_text(encoding="utf-8"))

    assert (done.returncode, told["conformance"]) == (0, "CONFORMS"), told["reason"]
    assert about["no_fetch_sessions"] is True
    assert about["settings"]["imposed"]["max.incremental.fetch.session.cache.slots"] == "0"
