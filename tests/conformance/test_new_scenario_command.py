"""Does ``new-scenario`` write what is predicted as it stands, say what to run, and overwrite nothing?"""

from __future__ import annotations

import json
import resource
import shlex
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.ladder import LADDER
from conformance.cli import build_parser, main
from conformance.commands.beginning import starting_text
from conformance.commands.predicted_promise import predicted_promise
from conformance.schedules.own_scenarios import read_scenarios
from oracle.predict import predict

if TYPE_CHECKING:
    from pathlib import Path

FILES = {(): "slow_follower.py", ("--yaml",): "slow-follower.yaml"}
KINDS = pytest.mark.parametrize(("options", "file"), FILES.items(), ids=["python", "yaml"])


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["new-scenario", *arguments]) == 2
    return capsys.readouterr().err


@KINDS
def test_what_it_writes_and_tells_to_run_is_predicted(
    options: tuple[str, ...],
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new-scenario", "slow-follower", "my own", *options]) == 0
    first, *told = capsys.readouterr().out.splitlines()
    assert first == f"my own/{file}: a scenario that runs as it is, to be changed"
    commands = [shlex.split(line, comments=True) for line in told if line]
    assert [words[:2] for words in commands[:2]] == [["kafka-conformance", one] for one in ("predict", "run")]
    for words in commands:
        if words[0] == "kafka-conformance":
            build_parser().parse_args(words[1:])
    assert main(commands[0][1:]) == 0
    assert "my/slow-follower" in capsys.readouterr().out


@KINDS
def test_every_release_of_the_ladder_keeps_its_records(options: tuple[str, ...], file: str, tmp_path: Path) -> None:
    assert main(["new-scenario", "slow-follower", str(tmp_path), *options]) == 0
    for scenario in read_scenarios(tmp_path / file):
        assert scenario.name == scenario.id
        assert scenario.id.startswith("my/slow-follower")
        for line in LADDER:
            prediction = predict(scenario.schedule, line.rules)
            held, _ = prediction.checkpoints
            assert held.replicas[1].log_end_offset - held.replicas[2].log_end_offset == 1
            assert predicted_promise(prediction)[0].value == "KEPT"
            assert not prediction.races


def test_both_kinds_begin_with_the_same_schedule(tmp_path: Path) -> None:
    for file in FILES.values():
        (tmp_path / file).write_text(starting_text("slow-follower", file))
    (first, _), (alone,) = (read_scenarios(tmp_path / file) for file in FILES.values())
    assert replace(first.schedule, id=alone.id) == alone.schedule


@KINDS
def test_its_comments_name_the_file_itself(options: tuple[str, ...], file: str, tmp_path: Path) -> None:
    assert main(["new-scenario", "slow-follower", str(tmp_path), *options]) == 0
    text = (tmp_path / file).read_text()
    assert f"kafka-conformance predict --schedule {file}\n" in text
    assert "starting" not in text


@KINDS
def test_pytest_collects_it(options: tuple[str, ...], file: str, tmp_path: Path) -> None:
    assert main(["new-scenario", "slow-follower", str(tmp_path), *options]) == 0
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", file, "--kafka-version", "4.4.0"]
    done = subprocess.run([*command, "--collect-only", "-q"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert f"{file}::test_brokers_conform[my/slow-follower" in done.stdout, done.stdout + done.stderr


def test_it_is_told_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new-scenario", "x", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["file"] == str(tmp_path / "x.py")
    assert told["next"][0] == f"kafka-conformance predict --schedule {tmp_path / 'x.py'}"


@KINDS
def test_a_file_that_is_there_is_left_as_it_is(
    options: tuple[str, ...], file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / file).write_text("mine")
    assert "is there already, and is left as it is" in complaint(capsys, "slow-follower", str(tmp_path), *options)
    assert (tmp_path / file).read_text() == "mine"


@pytest.mark.parametrize("name", ["", "my/x", "../x", "X", "x.yaml", "x y", "1x", "x--y", "x" * 61, "é"])
def test_what_is_no_name_is_refused_with_one_that_is(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = complaint(capsys, name, str(tmp_path))
    assert "cannot be a scenario's name: give lower-case words with hyphens between them, such as slow-follower" in said
    assert not list(tmp_path.iterdir())


def test_where_nothing_can_be_written_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file := tmp_path / "file").write_text("mine")
    assert f"nothing can be written to {file}: it is no directory" in complaint(capsys, "x", str(file))


def test_nothing_is_left_of_a_file_that_cannot_be_written_whole(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "conformance", "new-scenario", "x", str(tmp_path)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert f"{tmp_path / 'x.py'} cannot be written: File too large" in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args(["new-scenario", "--help"])
    out = capsys.readouterr().out
    examples = [line for line in out.splitlines() if line.startswith("  kafka-conformance new-scenario")]
    assert len(examples) == 2
    assert "runs as it is" in out
