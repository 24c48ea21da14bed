"""Does ``explore --model Brokers`` search a release's brokers, and write what it finds as a schedule?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from conformance.cli import main
from conformance.schedule_file import read_schedule

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SMALL = ["explore", "--model", "Brokers", "--records", "1", "--epochs", "2", "--quiet"]


def test_a_hole_is_told_step_by_step_and_written_as_a_schedule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "found.yaml"
    named = ["--kafka", "2.8.0", "--invariant", "AcknowledgedSurvives", "--write-schedule", str(out)]
    assert main(["explore", "--model", "Brokers", *named]) == 1
    printed = capsys.readouterr()
    assert "AcknowledgedSurvives is VIOLATED" in printed.out
    assert "broker 2: [m1/1] high watermark 1, down" in printed.out
    assert f"wrote {out}: 13 steps" in printed.err
    assert read_schedule(out).schedule.id == "found/found"


def test_a_release_without_the_hole_holds_and_has_nothing_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "found.yaml"
    named = ["--kafka", "2.8.1", "--write-schedule", str(out), "--json", "--stops", "--late-joins"]
    assert main(["explore", "--model", "Brokers", "--records", "1", "--epochs", "1", *named]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "holds"
    assert (told["constants"]["kafka"], told["constants"]["stops"]) == ("2.8.1", True)
    assert not out.exists()


def test_a_power_failure_loses_what_no_promise_covers(capsys: pytest.CaptureFixture[str]) -> None:
    named = ["--kafka", "3.9.2", "--power-failure", "--without-checkpoint", "--unclean", "--min-isr", "2", "--json"]
    assert main([*SMALL, *named, "--invariant", "NothingAcknowledgedIsLost"]) == 1
    assert json.loads(capsys.readouterr().out)["invariant"] == "NothingAcknowledgedIsLost"


def test_replicas_are_not_alike(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--symmetry"]) == 2
    assert "not alike" in capsys.readouterr().err
