"""Does ``matrix`` go on where it ended, refuse what it must, and return the exit code of what is there?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.commands.matrix_cells import RequestedRuns, progress_of
from conformance.commands.matrix_table import MatrixTable
from conformance.line import line_named
from conformance.record.directory import RunDirectory
from conformance.run_options import OwnKafka
from conformance.stages.predicting import predict_entry
from fault_injection.releases import find_release, jars_of
from oracle.rules.by_version import rules_for
from oracle.schedule_format import encode
from oracle.vocabulary import MetadataMode
from tests.conformance.run_files import change_run, write_json
from tests.conformance.selected import select_scenarios
from tests.conformance.test_line import own_kafka
from tests.reports.requirement_table.small_runs import numbers, seen, write_run

if TYPE_CHECKING:
    from pathlib import Path

LINE = "4.3.1-kraft-process/round-1"


def test_only_the_table_is_written_over_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / LINE, "a")
    assert main(["matrix", "--only-table", "--runs-dir", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "4.3.1 KRaft  1 run; conforms 1; 2.5 s" in said
    assert "HW-01 2, HW-09 0, HW-10 1" in said
    assert "flakes: 0; table: " in said
    for name in ("matrix.html", "matrix.json", "matrix.md", "4.3.1-kraft-process/report.html"):
        assert (tmp_path / name).is_file()


@pytest.mark.parametrize(
    ("word", "code"), [("DEVIATES", 1), ("HARNESS_ERROR", 4), ("INCONCLUSIVE", 3), ("NOT_RUN", 0), ("CONFORMS", 0)]
)
def test_the_exit_code_is_the_worst_of_all_runs(tmp_path: Path, word: str, code: int) -> None:
    write_run(tmp_path / LINE, "a")
    write_run(tmp_path / "3.9.2-zookeeper-process" / "round-2", "b", kafka="3.9.2", conformance=word)
    assert main(["matrix", "--only-table", "--runs-dir", str(tmp_path)]) == code


def test_a_promise_that_broke_as_predicted_fails_only_if_asked(tmp_path: Path) -> None:
    write_run(tmp_path / LINE, "a", promise="BROKEN_AS_PREDICTED")
    command = ["matrix", "--only-table", "--runs-dir", str(tmp_path)]
    assert (main(command), main([*command, "--require-promise"])) == (0, 1)


def test_what_every_run_is_held_against_fails_the_matrix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / LINE, "a", observations=[seen({"1": numbers(1, 2)})])
    main(["matrix", "--only-table", "--runs-dir", str(tmp_path)])
    assert "did not hold: HW-01: after step 1: broker 1 has high watermark 2" in capsys.readouterr().out


def test_a_run_that_an_older_tester_judged_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_run(tmp_path / LINE, "a")
    verdict = json.loads((path / "verdict.json").read_text())
    (path / "verdict.json").write_text(json.dumps({k: v for k, v in verdict.items() if k != "every_run"}))
    assert main(["matrix", "--only-table", "--runs-dir", str(tmp_path)]) == 4
    said = "HW-03 on 4.3.1 KRaft, round 1: it counts nowhere in HW-01, HW-09, HW-10: an older tester judged it"
    assert said in capsys.readouterr().out


def test_a_run_that_is_a_harness_error_in_the_table_fails_the_matrix(tmp_path: Path) -> None:
    path = write_run(tmp_path / LINE, "a")
    (path / "observations.ndjson").write_text("{\n")
    assert main(["matrix", "--only-table", "--runs-dir", str(tmp_path)]) == 4
    (column,) = json.loads((tmp_path / "matrix.json").read_text(encoding="utf-8"))["columns"]
    assert column["conformance"]["HARNESS_ERROR"] == 1


def test_an_empty_directory_has_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "--only-table", "--runs-dir", str(tmp_path)]) == 2
    assert "holds no matrix" in capsys.readouterr().err


def test_a_matrix_has_one_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / LINE, "a")
    table = MatrixTable.over(tmp_path, seed=5)
    table.write()
    assert MatrixTable.seed_of(tmp_path) == 5
    command = ["matrix", "HW-03", "--kafka", "4.3.1", "--backend", "process", "--runs-dir", str(tmp_path)]
    assert main([*command, "--seed", "6"]) == 2
    assert "holds a matrix with seed 5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("there", "option", "said"),
    [
        (True, ["--no-fetch-sessions"], "with fetch sessions as brokers have them: leave out --no-fetch-sessions, or"),
        (False, [], "with fetch sessions switched off: give --no-fetch-sessions, or"),
    ],
)
def test_a_matrix_fetches_in_one_way(
    tmp_path: Path, there: bool, option: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    RequestedRuns("4.3.1/kraft", 5, ("HW-03",), fetch_sessions=there).write(tmp_path / "4.3.1-kraft-process")
    command = ["matrix", "HW-03", "--kafka", "0.10.2.2", "--backend", "process", "--runs-dir", str(tmp_path), *option]
    assert main(command) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "0.10.2.2-zookeeper-process").exists()


def test_lines_put_together_that_fetch_in_both_ways_are_no_matrix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / LINE, "a")
    RequestedRuns("4.3.1/kraft", 5, ("HW-03",)).write(tmp_path / "4.3.1-kraft-process")
    assert main(["matrix", "--only-table", "--runs-dir", str(tmp_path)]) == 0
    write_run(tmp_path / "3.9.2-kraft-process" / "round-1", "b", kafka="3.9.2")
    RequestedRuns("3.9.2/kraft", 5, ("HW-03",), fetch_sessions=False).write(tmp_path / "3.9.2-kraft-process")
    capsys.readouterr()
    assert main(["matrix", "--only-table", "--runs-dir", str(tmp_path)]) == 4
    said = capsys.readouterr().out
    assert "both ways to fetch: 4.3.1/kraft with fetch sessions as brokers have them" in said
    assert "both ways to fetch: 3.9.2/kraft with fetch sessions switched off" in said


def test_the_way_to_fetch_reaches_the_brokers_of_every_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that cannot be had is asked for all the same, and its folder says in which way it is to fetch."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("KAFKA_CONFORMANCE_MAVEN_REPOSITORY", (tmp_path / "nowhere").as_uri())
    runs = tmp_path / "runs"
    command = ["matrix", "HW-03", "--kafka", "4.3.1", "--backend", "process", "--quiet", "--runs-dir", str(runs)]
    assert main([*command, "--no-fetch-sessions"]) == 4
    asked = RequestedRuns.read(runs / "4.3.1-kraft-process")
    assert asked is not None
    assert not asked.fetch_sessions
    assert main(command) == 2


def test_what_is_finished_is_skipped_and_no_broker_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (scenario,) = select_scenarios(("HW-03",))
    run = write_run(tmp_path / LINE, "a")
    predicted = predict_entry(scenario, rules_for("4.3.1", MetadataMode.KRAFT)).as_json()
    write_json(RunDirectory(run), "schedule.json", encode(scenario.schedule))
    write_json(RunDirectory(run), "prediction/prediction.json", predicted)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no jars"))
    command = ["matrix", "HW-03", "--kafka", "4.3.1", "--backend", "process", "--runs-dir", str(tmp_path)]
    assert main([*command, "--seed", "5"]) == 0
    told = capsys.readouterr().err
    assert "4.3.1/kraft: 1 cell, 1 finished and skipped" in told
    assert "4.3.1/kraft: 1 run; conforms 1; 2.5 s; " in told
    assert not (tmp_path / "no jars").exists()


def test_a_kafka_of_the_user_s_is_a_line_of_its_own_and_run_again_when_it_is_another_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (scenario,) = select_scenarios(("HW-03",))
    own = own_kafka(tmp_path / "own", "4.5.0-SNAPSHOT").home
    assert own is not None
    run = RunDirectory(write_run(tmp_path / "runs" / "4.3.1-kraft-fork-process" / "round-1", "a", scenario="HW-03"))
    predicted = predict_entry(scenario, rules_for("4.3.1", MetadataMode.KRAFT)).as_json()
    write_json(run, "schedule.json", encode(scenario.schedule))
    write_json(run, "prediction/prediction.json", predicted)
    digests = {"jars": jars_of(find_release("4.3.1"), own).digest}
    change_run(run, label="fork", build="4.5.0-SNAPSHOT", digests=digests)
    command = ["matrix", "HW-03", "--kafka-home", str(own), "--label", "fork", "--rules-of", "4.3.1", "--seed", "5"]
    command += ["--backend", "process", "--runs-dir", str(tmp_path / "runs")]

    assert main(command) == 0
    told = capsys.readouterr()
    assert "4.3.1/kraft (fork): 1 cell, 1 finished and skipped" in told.err
    assert "4.3.1 KRaft, fork (jar 4.5.0-SNAPSHOT)  1 run; conforms 1" in told.out
    (column,) = json.loads((tmp_path / "runs" / "matrix.json").read_text(encoding="utf-8"))["columns"]
    assert (column["kafka"], column["label"], column["build"]) == ("4.3.1", "fork", "4.5.0-SNAPSHOT")
    for name in ("matrix.html", "matrix.md"):
        assert "fork (jar 4.5.0-SNAPSHOT)" in (tmp_path / "runs" / name).read_text(encoding="utf-8")

    (own / "libs" / "kafka_2.13-4.5.0-SNAPSHOT.jar").write_bytes(b"rebuilt")
    line = line_named("newest", own=OwnKafka(own, label="fork", rules_of="4.3.1"))
    (again,) = progress_of(run.path.parents[1], [scenario], 1, 5, line).unfinished
    assert again.why == "is of another build of your own Kafka"


@pytest.mark.parametrize(("ran", "why"), [(None, None), ("sha256:1", None), ("sha256:2", "is of another build")])
def test_runs_of_an_image_that_was_built_anew_do_not_count(
    ran: str | None, why: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.commands.matrix_cells.digest_of_image", lambda _image: "sha256:1")
    line = replace(line_named("4.3.1"), own=OwnKafka(image="own:1"))
    (scenario,) = select_scenarios(("HW-03",))
    run = RunDirectory(write_run(tmp_path / "round-1", "a", scenario="HW-03"))
    predicted = predict_entry(scenario, rules_for("4.3.1", MetadataMode.KRAFT)).as_json()
    write_json(run, "schedule.json", encode(scenario.schedule))
    write_json(run, "prediction/prediction.json", predicted)
    change_run(run, digests={"image": ran})

    progress = progress_of(tmp_path, [scenario], 1, 5, line)
    assert [one.why for one in progress.unfinished] == ([] if why is None else [f"{why} of your own Kafka"])


def test_a_release_whose_jars_cannot_be_had_leaves_the_others_to_be_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("KAFKA_CONFORMANCE_MAVEN_REPOSITORY", (tmp_path / "nowhere").as_uri())
    command = ["matrix", "HW-03", "--kafka", "4.3.1,0.10.2.2", "--backend", "process", "--quiet"]
    assert main([*command, "--runs-dir", str(tmp_path / "runs")]) == 4
    told = capsys.readouterr().err
    assert "4.3.1/kraft could not be run: " in told
    assert "0.10.2.2/zookeeper could not be run: " in told
    assert "could not be run" in (tmp_path / "runs" / "matrix.md").read_text(encoding="utf-8")


def test_a_line_that_could_not_be_run_is_a_harness_error_on_the_page(tmp_path: Path) -> None:
    run = write_run(tmp_path / LINE, "a")
    RequestedRuns("4.3.1/kraft", 5, ("HW-03",), problems=["4.3.1/kraft could not be run: no jars"]).write(
        run.parents[1]
    )
    table = MatrixTable.over(tmp_path)
    table.write()
    assert table.exit_code(require_promise=False) == 4
    assert "4.3.1/kraft could not be run" in (tmp_path / "matrix.html").read_text(encoding="utf-8")


def test_the_ladder_is_printed_as_the_command_takes_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "--ladder", "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)
    assert main(["matrix", "--ladder"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"--kafka {','.join(lines)}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--kafka", "9.9"], "not a supported release"),
        (["XX-99"], "no entry matches"),
        (["--repeat", "0"], "is not a whole number"),
        (["--ladder", "--only-table"], "not allowed with"),
    ],
)
def test_usage_errors_are_said(
    tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["matrix", *arguments, "--runs-dir", str(tmp_path)])
    except SystemExit as error:
        code = int(error.code or 0)
    assert code == 2
    assert said in capsys.readouterr().err
