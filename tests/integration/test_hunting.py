"""Does a hunt run what it has grown, and go on with its seed where it stopped?"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def hunted(directory: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "conformance", "hunt", "--kafka", "4.4.0", "--schedules", "1", *arguments]
    done = subprocess.run(
        [*command, "--backend", "process", "--runs-dir", str(directory), "--json", "--quiet"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(300)
def test_a_hunt_conforms_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    first, begun = hunted(tmp_path, "--seed", "11")
    second, more = hunted(tmp_path)

    assert (first, second) == (0, 0), (begun, more)
    assert (begun["seed"], more["seed"]) == (11, 11)
    assert [one["number"] for answer in (begun, more) for one in answer["schedules"]] == [0, 1]
    lines = (tmp_path / "hunt.ndjson").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["conformance"] for line in lines] == ["CONFORMS", "CONFORMS"]
    assert (tmp_path / "report.html").stat().st_size > 0
