"""Do real brokers go where the model does, and is the next run another one?"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from oracle.brokers.edge_schedule import claims
from oracle.schedule_format import decode

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(300)]


def covered(directory: Path, *arguments: str) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "conformance",
        "coverage",
        "--kafka",
        "4.4.0",
        "--epochs",
        "1",
        "--json",
        "--quiet",
    ]
    done = subprocess.run(
        [*command, "--backend", "process", "--runs-dir", str(directory), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_what_is_run_is_covered_and_is_not_run_again(tmp_path: Path) -> None:
    first = covered(tmp_path, "--schedules", "1")
    second = covered(tmp_path, "--schedules", "1")

    runs = [one["run"] for answer in (first, second) for one in answer["schedules"]]
    schedules = [decode(json.loads((tmp_path / "runs" / run / "schedule.json").read_text())) for run in runs]
    one, other = (set(claims(schedule)) for schedule in schedules)
    assert one
    assert other - one
    assert first["whole"]["held"] >= len(one)
    assert second["whole"]["held"] >= len(one | other)
    assert not (one | other) & {edge["id"] for edge in second["missing"]}
    assert (tmp_path / "4.4.0-kraft.html").read_text().count("<html") == 1
