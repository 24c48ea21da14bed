"""Does ``--accept FILE`` have findings accepted, wherever runs are judged, and is a wrong file said at once?"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.cli import build_parser, main
from conformance.commands import judgement, matrix, running
from conformance.commands.judgement import JudgeOptions
from conformance.expectations import accepted_in, read_accepted
from conformance.interruption import AwaitedStateMissingError
from conformance.record.digests import write_digests
from conformance.record.run import HarnessFailure, update_run
from conformance.record.verdict import Conformance
from tests.conformance.ideal_runs import write_ideal_run
from tests.conformance.test_expectations import ENTRY, FORMER
from tests.conformance.test_pipeline import failing, pipeline

if TYPE_CHECKING:
    from conformance.commands.matrix import MatrixRequest
    from conformance.commands.running import RunRequest
    from conformance.pipeline import Pipeline

__all__ = ["pipeline"]  # a fixture

NEVER = HarnessFailure("DEVIATES", "broker 2 never led")


def accepting(folder: Path, release: str = "0.10.2.2") -> Path:
    """Write a file that accepts TR-01 on a release."""
    path = folder / "accepted.toml"
    path.write_text(ENTRY.replace("4.3.1", release), encoding="utf-8")
    return path


def deviating(folder: Path, day: str) -> Path:
    """Write a run of some day that ended because a state never came, and return its directory."""
    run = write_ideal_run(folder)
    update_run(run, harness_failure=NEVER, end_offset=None, scenario="TR-01", started=f"{day}T12:00:00+00:00")
    write_digests(run)
    return run.path


@pytest.mark.parametrize(
    ("release", "day", "code"),
    [("0.10.2.2", "2027-06-30", 0), ("0.10.2.2", "2027-07-01", 1), ("4.3.1", "2027-06-30", 1)],
)
def test_a_run_is_judged_in_view_of_the_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, release: str, day: str, code: int
) -> None:
    run = str(deviating(tmp_path, day))

    assert main(["judge", run]) == 1
    assert main(["judge", run, "--accept", str(accepting(tmp_path, release))]) == code
    said = capsys.readouterr().out
    assert ("accepted finding (KAFKA-1: It cuts one record too many.): " in said) is (code == 0)
    assert ("accepted until 2027-06-30 and no longer" in said) is (day == "2027-07-01")


def test_a_run_is_judged_in_view_of_the_file_when_it_ends(pipeline: Pipeline, tmp_path: Path) -> None:
    (entry,) = read_accepted(accepting(tmp_path, pipeline.cluster_pool.line.release.version))
    lost = AwaitedStateMissingError("broker 2 never led")
    name = failing(pipeline, lost).scenario
    entry = replace(entry, finding=name, expires=datetime.now(UTC).date() + timedelta(days=1))

    assert failing(pipeline, lost).verdict.counted is Conformance.DEVIATES
    assert failing(replace(pipeline, accepted=(entry,)), lost).verdict.counted is Conformance.CONFORMS


@pytest.mark.parametrize("command", ["run TR-01", "matrix TR-01 --kafka 4.3.1", "judge runs/RUN"])
@pytest.mark.parametrize(
    ("text", "complaint"),
    [(FORMER, "[[deviates]] is the former format: write [[accepted]]"), (None, "No such file or directory")],
)
def test_a_wrong_file_is_said_before_anything_is_done(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    text: str | None,
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("wrong.toml").write_text(text, encoding="utf-8")

    assert main([*command.split(), "--accept", "wrong.toml"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("kafka-conformance: wrong.toml: ")
    assert complaint in said
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("command", "module", "function"),
    [
        ("run TR-01", running, "run_scenarios"),
        ("matrix TR-01 --kafka 4.3.1", matrix, "run_matrix"),
        ("judge runs/RUN", judgement, "judge_again"),
    ],
)
def test_the_option_reaches_what_judges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, module: object, function: str
) -> None:
    asked: list[RunRequest | MatrixRequest | JudgeOptions] = []
    monkeypatch.setattr(module, function, lambda _console, options: asked.append(options) or 0)
    file = accepting(tmp_path)

    assert main([*command.split(), "--accept", str(file)]) == 0
    assert main(command.split()) == 0
    told = [one.accepted if isinstance(one, JudgeOptions) else accepted_in(one.options.accept) for one in asked]
    assert told == [read_accepted(file), ()]


@pytest.mark.parametrize("other", ["--repredict", "--rules-of 4.3.1"])
def test_another_prediction_has_no_accepted_findings(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, other: str
) -> None:
    assert main(["judge", str(tmp_path), *other.split(), "--accept", str(accepting(tmp_path))]) == 2
    assert "--accept is about the run's own verdict, not one by another prediction." in capsys.readouterr().err


def test_pytest_says_a_wrong_file_at_once(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "wrong.toml").write_text(FORMER, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--pyargs", "conformance", "--collect-only"]
    done = subprocess.run(
        [*command, "--conformance-accept", "wrong.toml"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "wrong.toml: [[deviates]] is the former format" in done.stderr


def test_the_option_is_in_the_help_of_each() -> None:
    for command in (["run"], ["matrix"], ["judge", "runs/RUN"]):
        assert build_parser().parse_args([*command, "--accept", "a.toml"]).accept == Path("a.toml")
