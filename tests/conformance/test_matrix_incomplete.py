"""Does a matrix know what is missing, keep its seed, and go on when one line or one cell of it fails?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cli import main
from conformance.commands import matrix
from conformance.commands.matrix_cells import RequestedRuns
from conformance.commands.matrix_table import MatrixTable
from tests.reports.requirement_table.small_runs import write_run

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.console import Console

LINE = "4.3.1-kraft-process"
OTHER = "0.10.2.2-zookeeper-process"
MISSING = "4.3.1/kraft on the process backend is incomplete: 1 of 2 cells have no run: TR-01, round 1"


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """A matrix that was to run two entries on one line, and was interrupted after the first."""
    write_run(tmp_path / LINE / "round-1", "a")
    RequestedRuns("4.3.1/kraft", 5, ("HW-03", "TR-01")).write(tmp_path / LINE)
    return tmp_path


def only_table(folder: Path, *arguments: str) -> int:
    return main(["matrix", "--only-table", "--runs-dir", str(folder), *arguments])


def test_cells_that_have_no_run_are_said_and_fail_the_matrix(half: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert only_table(half) == 4
    assert MISSING in capsys.readouterr().out
    for name in ("matrix.html", "matrix.json", "matrix.md"):
        assert MISSING in (half / name).read_text(encoding="utf-8")
    write_run(half / LINE / "round-1", "b", scenario="TR-01")
    assert only_table(half) == 0
    assert "incomplete" not in (half / "matrix.json").read_text(encoding="utf-8")


def test_a_line_that_is_incomplete_on_both_backends_is_said_of_each(half: Path) -> None:
    for folder in (half / "4.3.1-kraft-docker", half / "put-together"):
        RequestedRuns("4.3.1/kraft", 5, ("TR-01",)).write(folder)
    assert only_table(half) == 4
    problems = json.loads((half / "matrix.json").read_text())["problems"]
    assert [problem.partition(" is incomplete")[0] for problem in problems] == [
        "4.3.1/kraft on the docker backend", "4.3.1/kraft on the process backend", "4.3.1/kraft",
    ]  # fmt: skip


def test_every_round_that_was_asked_for_must_be_there(tmp_path: Path) -> None:
    write_run(tmp_path / LINE / "round-1", "a")
    RequestedRuns("4.3.1/kraft", 5, ("HW-03",), rounds=8).write(tmp_path / LINE)
    assert only_table(tmp_path) == 4
    (problem,) = json.loads((tmp_path / "matrix.json").read_text())["problems"]
    assert problem.endswith(
        "7 of 8 cells have no run: " + "; ".join(f"HW-03, round {n}" for n in range(2, 7)) + " and 2 more"
    )


def test_a_line_that_must_be_there_is_said_if_it_is_not(half: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(half / LINE / "round-1", "b", scenario="TR-01")
    assert only_table(half, "--kafka", "4.3.1") == 0
    assert only_table(half, "--kafka", "4.3.1", "--backend", "docker") == 4
    capsys.readouterr()
    assert only_table(half, "--kafka", "4.3.1,0.10.2.2") == 4
    assert "0.10.2.2/zookeeper is not there: it has no run" in capsys.readouterr().out
    assert only_table(half, "--kafka", "ladder") == 4
    assert len(json.loads((half / "matrix.json").read_text())["problems"]) == len(matrix.LADDER) - 1


def test_writing_the_table_keeps_the_seed_and_what_could_not_be_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("KAFKA_CONFORMANCE_MAVEN_REPOSITORY", (tmp_path / "nowhere").as_uri())
    runs = tmp_path / "runs"
    command = ["matrix", "HW-03", "--kafka", "4.3.1", "--backend", "process", "--quiet", "--runs-dir", str(runs)]
    assert main([*command, "--seed", "5"]) == 4
    assert only_table(runs) == 4
    assert "4.3.1/kraft could not be run: " in capsys.readouterr().out
    assert MatrixTable.seed_of(runs) == 5
    assert main(command) == 4
    assert MatrixTable.seed_of(runs) == 5
    assert main([*command, "--seed", "6"]) == 2


def test_the_lines_know_the_seed_if_the_table_is_lost(half: Path) -> None:
    assert MatrixTable.seed_of(half) == 5
    RequestedRuns("0.10.2.2/zookeeper", 6, ()).write(half / OTHER)
    assert MatrixTable.seed_of(half) is None


def test_lines_of_several_seeds_are_not_all_run_again(half: Path, capsys: pytest.CaptureFixture[str]) -> None:
    RequestedRuns("0.10.2.2/zookeeper", 6, ()).write(half / OTHER)
    assert main(["matrix", "HW-03", "--kafka", "4.3.1", "--backend", "process", "--runs-dir", str(half)]) == 2
    assert "holds lines of several seeds" in capsys.readouterr().err


def test_a_line_that_fails_in_any_way_leaves_the_others_to_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_console: Console, options: Any, line: Any, problems: list[str]) -> None:  # noqa: ANN401
        if line.text != "4.3.1/kraft":
            raise RuntimeError("Spark did not start")
        problems.append("4.3.1/kraft: a cell")
        write_run(options.folder(line) / "round-1", "a")

    monkeypatch.setattr(matrix, "run_line", broken)
    command = ["matrix", "HW-03", "--kafka", "0.10.2.2,4.3.1", "--backend", "process", "--quiet"]
    assert main([*command, "--runs-dir", str(tmp_path)]) == 4
    assert "0.10.2.2/zookeeper could not be run: RuntimeError('Spark did not start')" in capsys.readouterr().err
    table = json.loads((tmp_path / "matrix.json").read_text())
    assert [column["kafka"] for column in table["columns"]] == ["4.3.1"]
    assert "4.3.1/kraft: a cell" in table["problems"]


def test_an_interruption_ends_the_matrix_with_its_table_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(matrix, "run_line", interrupted)
    command = ["matrix", "HW-03", "--kafka", "4.3.1", "--backend", "process", "--quiet"]
    assert main([*command, "--runs-dir", str(tmp_path)]) == 130
    assert only_table(tmp_path) == 4


def test_a_line_whose_report_cannot_be_written_leaves_the_others_in_the_table(tmp_path: Path) -> None:
    write_run(tmp_path / LINE / "round-1", "a")
    write_run(tmp_path / OTHER / "round-1", "b", kafka="0.10.2.2", metadata="zookeeper")
    (tmp_path / OTHER / "report.html").mkdir()
    assert only_table(tmp_path) == 4
    table = json.loads((tmp_path / "matrix.json").read_text())
    assert [column["kafka"] for column in table["columns"]] == ["4.3.1"]
    assert table["problems"][0].startswith(f"{OTHER} could not be read: IsADirectoryError")
