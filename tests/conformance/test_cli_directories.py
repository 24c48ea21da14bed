"""Directories, files and names that a command cannot use are refused in one sentence, before anything takes long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.record.directory import RunDirectory
from fault_injection.releases import UsageError
from tests.conformance.ideal_runs import write_ideal_run
from tests.conformance.run_files import change_run, read_json

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def no_broker_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a backend was chosen before the request was checked")

    monkeypatch.setattr("conformance.session.choose_backend", refuse)


def sentence(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run the command line, require exit code 2, no answer and one sentence of complaint."""
    assert main([str(argument) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("kafka-conformance: ")
    assert said.err.count("\n") == 1
    return said.err.removeprefix("kafka-conformance: ").rstrip("\n")


@pytest.mark.parametrize("command", ["judge", "report"])
def test_a_run_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str) -> None:
    assert f"{tmp_path / 'none'} does not exist" in sentence(capsys, command, tmp_path / "none")


@pytest.mark.parametrize("command", ["judge", "report"])
def test_a_run_of_another_format_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str) -> None:
    run = RunDirectory.create(tmp_path, "one")
    change_run(run, format=9)

    assert sentence(capsys, command, run.path).endswith(
        "has format 9, this tester reads 1 and 2: use the tester that wrote it, or a newer one"
    )


def test_a_directory_without_a_run_gives_no_page(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "one.yaml").touch()
    said = sentence(capsys, "report", tmp_path / "notes", "--out", tmp_path / "page.html")

    assert said == f"{tmp_path / 'notes'} is no run directory: it has no run.json"
    assert not (tmp_path / "page.html").exists()


def test_of_all_that_a_runs_directory_holds_the_report_takes_the_runs(tmp_path: Path) -> None:
    runs, page = tmp_path / "runs", tmp_path / "page.html"
    run = write_ideal_run(runs)
    assert main(["report", str(run.path), "--out", str(runs / "report.html")]) == 0
    beside = sorted(path.name for path in runs.iterdir() if path.is_file())
    assert beside == ["junit.xml", "report.html", "report.json"]

    for given in (runs.iterdir(), [runs], [tmp_path]):
        page.unlink(missing_ok=True)
        assert main(["report", *map(str, given), "--out", str(page)]) == 0
        assert read_json(run, "run.json")["scenario"] in page.read_text(encoding="utf-8")


def test_files_alone_are_no_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "junit.xml").touch()

    said = sentence(capsys, "report", tmp_path / "junit.xml")
    assert said == f"{tmp_path / 'junit.xml'} is a file; give run directories, or a directory of runs"


def test_a_page_makes_no_directories(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "none" / "page.html"
    said = sentence(capsys, "report", write_ideal_run(tmp_path).path, "--out", out)

    assert said == f"nothing can be written to {tmp_path / 'none'}: it does not exist"
    assert not out.parent.exists()


@pytest.mark.parametrize("option", ["--runs-dir", "--report"])
def test_a_place_that_cannot_be_written_to_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str
) -> None:
    (tmp_path / "file").touch()
    monkeyed = tmp_path / "file" / "below" / "report.html"
    said = sentence(capsys, "run", "TR-01", "--runs-dir", tmp_path / "runs", option, monkeyed)

    assert said.startswith(f"nothing can be written to {tmp_path / 'file' / 'below'}")
    assert said.endswith(": Not a directory")


@pytest.mark.parametrize("command", ["judge", "report", "trace"])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "cannot be read: Expected `object`, got `array`"),
        ("null", "cannot be read: Expected `object`, got `null`"),
        ('{"format":', "cannot be read: Input data was truncated"),
        ("{}", "is of no run: it does not say format"),
        ('{"format": 1}', "cannot be read: Object missing required field `kafka`"),
        (
            '{"format": 1, "scenario": "TR-01", "kafka": 3, "metadata": "kraft"}',
            "cannot be read: Expected `str`, got `int` - at `$.kafka`",
        ),
    ],
)
def test_a_run_that_does_not_say_what_it_is_of_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, text: str, why: str
) -> None:
    (tmp_path / "run.json").write_text(text)

    assert sentence(capsys, command, tmp_path).startswith(f"{tmp_path / 'run.json'} {why}")


@pytest.mark.parametrize("command", ["judge", "trace"])
def test_the_directory_of_all_runs_is_no_run_to_judge(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    for name in "abcd":
        change_run(RunDirectory.create(tmp_path / "3.9.2", name), kafka="3.9.2")
    d, c, b = (tmp_path / "3.9.2" / name for name in "dcb")

    told = f"{tmp_path} holds no run of its own; give a run directory that is in it: {d}, {c}, {b} and 1 older ones"
    assert sentence(capsys, command, tmp_path) == told


def test_an_output_that_is_a_directory_is_refused_before_anything_takes_long(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run, said = write_ideal_run(tmp_path / "runs").path, f"nothing can be written to {tmp_path}: it is a directory; "
    for command in (
        ["run", "TR-01", "--runs-dir", tmp_path / "more", "--report", tmp_path],
        ["report", run, "--out", tmp_path],
        ["guarantees", "--regenerate", "--out", tmp_path],
        ["guarantees", "--kafka", "2.8.0", "--write-schedule", tmp_path],
        ["explore", "--model", "Brokers", "--write-schedule", tmp_path],
    ):
        assert sentence(capsys, *command).startswith(said)


def test_a_name_with_a_null_character_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["predict", "--schedule", "a\0b"])

    assert ended.value.code == 2
    assert capsys.readouterr().err == "kafka-conformance: an argument has a null character, which no name can have\n"


def test_digits_of_another_script_are_no_release(capsys: pytest.CaptureFixture[str]) -> None:
    assert sentence(capsys, "predict", "TR-01", "--kafka", "४.३.१").endswith("give one such as 3.9.2, in plain digits.")


def test_containers_without_docker_are_refused_with_what_needs_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def absent(*_: object) -> None:
        raise UsageError("Containers cannot be used: no Docker daemon answers.")

    monkeypatch.setattr("conformance.session.choose_backend", absent)
    runs = ["--runs-dir", tmp_path / "runs", "--backend", "docker"]
    said = sentence(capsys, "matrix", "TR-01", "--kafka", "4.3.1", *runs)

    assert said == "Containers cannot be used: no Docker daemon answers. --backend process needs no containers."


@pytest.mark.parametrize("text", ["[]", "null", "{}", '{"settings": 1}'])
def test_a_trace_of_a_schedule_that_is_none_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str
) -> None:
    path = write_ideal_run(tmp_path).path / "schedule.json"
    path.write_text(text)

    for form in ([], ["--json"]):
        assert sentence(capsys, "trace", path.parent, *form).startswith(f"{path} cannot be read: ")


def test_an_examination_has_frames_but_no_schedule(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "one")
    change_run(run, scenario="FE-02", kafka="3.9.2", metadata="kraft", kind="examination")
    why, which = f"{run.path} is of an examination: ", "there is no schedule to replay frames by"

    assert sentence(capsys, "trace", run.path) == f"{why}it has no wire.ndjson, and {which}"
    (run.path / "wire.ndjson").touch()
    assert sentence(capsys, "trace", run.path) == f"{why}its frames are in wire.ndjson, but {which}"
