"""Do the workflows parse, run the project's own commands, and cover the ladder and the release lines of .ci/run?"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from conformance.catalogue.ladder import LADDER
from conformance.cli import build_parser
from conformance.coverage.covered import covered_file
from conformance.hunting.journal import JOURNAL, RUNS
from fault_injection.releases import MetadataMode, find_release
from oracle.rules.by_version import rules_for
from tests.conftest import AT_NIGHT, ONE_IN_THREE, is_for_the_night, says_what_it_starts
from tests.project.documents import ROOT, page

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

WORDS = {1: "one", 2: "two", 3: "three", 4: "four"}
WORKFLOWS = tuple(sorted((ROOT / ".github" / "workflows").glob("*.yml")))
OWN_ACTION = "./.kafka-conformance"
"""Where a workflow that is called from elsewhere has checked this repository out; its action keeps the reports."""
CI_RUN = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def workflow(name: str) -> dict[str, Any]:
    """Read a workflow; ``on`` is a word of YAML 1.1 and therefore the key True."""
    document: dict[Any, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in document.items()}


def lines_of_ci(name: str = "LINES") -> list[tuple[str, str]]:
    """Return the (release, metadata mode) pairs of a list in .ci/run."""
    (listed,) = re.findall(rf"^{name}=\((.*)\)$", CI_RUN, re.MULTILINE)
    return [(release, mode) for release, mode in map(str.split, shlex.split(listed))]


def lines_of_nightly(job: str = "conformance") -> list[tuple[str, str]]:
    """Return the (release, metadata mode) pairs of a nightly job's matrix."""
    lines = workflow("nightly.yml")["jobs"][job]["strategy"]["matrix"]["line"]
    return [(release, mode) for release, _, mode in (line.partition("/") for line in lines)]


def steps_of(path: Path) -> list[dict[str, Any]]:
    """Return the steps of every job of a workflow."""
    return [step for job in workflow(path.name)["jobs"].values() for step in job["steps"]]


def test_nightly_covers_the_release_lines_of_ci() -> None:
    assert lines_of_ci()
    assert set(lines_of_ci()) <= set(lines_of_nightly())
    assert lines_of_ci("DOCKER_LINES")
    assert set(lines_of_ci("DOCKER_LINES")) <= set(lines_of_nightly("docker"))
    assert len(lines_of_nightly("docker")) == 2


def test_nightly_runs_the_whole_ladder_one_job_a_line() -> None:
    assert [f"{release}/{mode}" for release, mode in lines_of_nightly()] == [line.text for line in LADDER]


@pytest.mark.parametrize(("release", "mode"), lines_of_nightly())
def test_the_release_lines_are_supported(release: str, mode: str) -> None:
    assert MetadataMode(mode) in find_release(release).metadata_modes


def test_the_limits_count_only_lines_that_nightly_runs() -> None:
    limits = page("limits").read_text(encoding="utf-8")
    (measured,) = re.findall(r"was measured on six \((.*?)\. CI", limits, re.DOTALL)
    named = re.findall(r"\d+(?:\.\d+){2,3}", measured)
    assert named
    assert set(named) <= {release for release, _ in lines_of_nightly()}
    assert f"CI runs {WORDS[len(lines_of_ci())]} of them" in limits


def test_nightly_is_scheduled_and_ci_runs_on_push() -> None:
    assert workflow("nightly.yml")["on"]["schedule"][0]["cron"]
    assert "push" in workflow("ci.yml")["on"]
    assert any(".ci/run" in step.get("run", "") for step in steps_of(ROOT / "ci.yml"))


JOBS = [(job, *line) for job in ("conformance", "docker") for line in lines_of_nightly(job)]
NIGHTLY = (ROOT / ".ci" / "nightly").read_text(encoding="utf-8")


@pytest.mark.parametrize(("job", "release", "mode"), JOBS)
def test_a_job_of_nightly_is_the_script_that_a_test_runs(job: str, release: str, mode: str) -> None:
    steps = workflow("nightly.yml")["jobs"][job]["steps"]
    (command,) = [step["run"] for step in steps if ".ci/nightly" in step.get("run", "")]
    program, line, *names = shlex.split(command.replace("${{ matrix.line }}", f"{release}/{mode}"))
    assert (program, line) == (".ci/nightly", f"{release}/{mode}")
    assert names == ([] if job == "conformance" else ["HW-03", "TR-01"])
    assert {"line"} == set(workflow("nightly.yml")["jobs"][job]["strategy"]["matrix"])


def test_the_nightly_script_gives_the_command_line_options_that_it_has() -> None:
    commands = [
        " ".join(found.split()) for found in re.findall(r"kafka-conformance (matrix .*?) \|\|", NIGHTLY, re.DOTALL)
    ]
    assert len(commands) == 2
    for command in commands:
        words = shlex.split(
            re.sub(r'"?\$@"?|\\n', "", command).replace("$PROFILE", "full").replace("$BACKEND", "process")
        )
        assert build_parser().parse_args(words).globs == []
    assert 'cat "$RUNS/matrix.md" >>"$GITHUB_STEP_SUMMARY"' in NIGHTLY


@pytest.mark.parametrize(("release", "mode"), lines_of_nightly("hunt"))
def test_nightly_hunts_on_lines_that_are_there_and_keeps_the_journal(release: str, mode: str) -> None:
    assert MetadataMode(mode) in find_release(release).metadata_modes
    steps = workflow("nightly.yml")["jobs"]["hunt"]["steps"]
    assert ".ci/nightly --hunt ${{ matrix.line }} 60m 20m" in [step.get("run") for step in steps]
    (kept,) = [step["with"]["path"] for step in steps if "actions/cache" in step.get("uses", "")]
    assert kept.split() == [f"runs/{JOURNAL}", "runs/coverage/*.json"]


def nightly_command(name: str) -> Namespace:
    """Return a command of the nightly's hunt as the command line reads it, with values for its variables."""
    (command,) = re.findall(rf"kafka-conformance ({name} --kafka .*?) \|\|", NIGHTLY, re.DOTALL)
    values = {
        "${SEED:-$(date -u +%Y%m%d)}": "7",
        "${guided[@]}": "--guided-by=runs/coverage/4.4.0-kraft.json",
        "${3:-60m}": "60m",
        "${4:-20m}": "20m",
        "${LANES:-2}": "2",
        "$covered": "runs/coverage/4.4.0-kraft.json",
        "$2": "4.4.0/kraft",
        "$BACKEND": "process",
        "$RUNS": "runs",
    }
    for variable, value in values.items():
        command = command.replace(variable, value)
    return build_parser().parse_args(shlex.split(command.replace("\\\n", " ")))


def test_the_hunt_of_the_nightly_script_is_a_command_line() -> None:
    parsed = nightly_command("hunt")
    assert (parsed.kafka, parsed.time, parsed.seed, str(parsed.runs_dir)) == ("4.4.0/kraft", 3600, 7, "runs")
    assert (parsed.lanes, str(parsed.guided_by)) == (2, "runs/coverage/4.4.0-kraft.json")


def test_the_cover_of_the_nightly_script_is_one_and_its_file_is_that_of_the_release() -> None:
    parsed = nightly_command("coverage")
    assert (parsed.kafka, parsed.time, parsed.lanes) == ("4.4.0/kraft", 1200, 2)
    assert [str(path) for path in parsed.count] == [f"runs/{RUNS}"]
    assert parsed.file == covered_file(parsed.runs_dir, rules_for("4.4.0", MetadataMode.KRAFT))


def test_nightly_joins_the_tables_of_all_lines() -> None:
    job = workflow("nightly.yml")["jobs"]["table"]
    assert (job["needs"], job["if"]) == (["conformance", "docker"], "always()")
    (download,) = [step for step in job["steps"] if "download-artifact" in step.get("uses", "")]
    names = [
        step["with"]["name"] for step in steps_of(ROOT / "nightly.yml") if "upload-artifact" in step.get("uses", "")
    ]
    assert [name.startswith(download["with"]["pattern"].rstrip("*")) for name in names] == [
        *(True, True),
        *(False, False),
    ]
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/nightly --join"]


def test_nightly_searches_the_guarantee_table_anew() -> None:
    commands = [step.get("run") for step in workflow("nightly.yml")["jobs"]["guarantees"]["steps"]]
    assert commands[-1] == "make guarantees"
    assert "\nguarantees: setup\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_every_part_of_the_suite_leaves_a_junit_file_of_its_own() -> None:
    (run,) = [step["run"] for step in steps_of(ROOT / "ci.yml") if ".ci/run" in step.get("run", "")]
    (folder,) = re.findall(r"JUNIT=(\S+)", run)
    (upload,) = [step for step in steps_of(ROOT / "ci.yml") if "upload-artifact" in step.get("uses", "")]
    assert upload["with"]["path"] == f"{folder}/"
    told = ["make", "--dry-run", "--old-file=setup-dev", "test"]
    outside = {"PATH": os.environ["PATH"]}  # this test may itself be run by make
    commands = [
        subprocess.check_output([*told, *more], cwd=ROOT, env=outside, text=True) for more in ([f"JUNIT={folder}"], [])
    ]
    parts = commands[0].count(" -m pytest ")
    assert len(set(re.findall(rf"--junitxml={folder}/(\w+)\.xml", commands[0]))) == parts == 4
    assert "junitxml" not in commands[1]


def test_every_test_is_in_one_part_of_the_suite() -> None:
    told = ["make", "--dry-run", "--old-file=setup-dev", "test-oracle", "test-pure", "test-lanes", "test-alone"]
    said = subprocess.check_output(told, cwd=ROOT, env={"PATH": os.environ["PATH"]}, text=True)
    of_oracle, *others = [line for line in said.replace("\\\n", "").splitlines() if " -m pytest " in line]
    starts = "broker or docker or spark"

    assert " tests/oracle " in of_oracle
    assert " -m " not in of_oracle.partition(" -m pytest ")[2]
    starting = sorted(
        str(file.relative_to(ROOT))
        for file in (ROOT / "tests").rglob("test_*.py")
        if ROOT / "tests/oracle" not in file.parents and says_what_it_starts(file)
    )
    assert " --ignore=tests/oracle " in others[0]
    assert [re.findall(r" (tests/\S+\.py)", line) for line in others] == [[], starting, starting]
    expressions = [re.findall(r'-m "([^"]+)"', line)[-1] for line in others]
    assert expressions == [f"not ({starts})", f"({starts}) and not alone", f"({starts}) and alone"]


def test_a_test_that_starts_something_says_so_in_its_own_file(tmp_path: Path) -> None:
    for number, text in enumerate(("pytestmark = pytest.mark.broker\n", "pytestmark = STARTS_BROKERS\n")):
        (tmp_path / f"test_{number}.py").write_text(text)
    assert [says_what_it_starts(file) for file in sorted(tmp_path.iterdir())] == [True, False]


def test_ci_runs_every_part_of_the_suite() -> None:
    assert "\nmake --no-print-directory test NIGHTLY=no\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_what_ci_leaves_out_is_a_job_of_the_nightly() -> None:
    left, lanes, pure, alone, searched, nightly = (
        subprocess.check_output(
            ["make", "--dry-run", "--old-file=setup-dev", *more], cwd=ROOT, env={"PATH": os.environ["PATH"]}, text=True
        )
        for more in (
            *(
                ["test-oracle", "NIGHTLY=no"],
                ["test-lanes", "NIGHTLY=no"],
                ["test-pure", "NIGHTLY=no"],
                ["test-alone", "NIGHTLY=no"],
            ),
            *(["test-oracle"], ["test-nightly"]),
        )
    )
    jobs = workflow("nightly.yml")["jobs"]

    assert [jobs[name]["steps"][-1]["run"] for name in ("searches", "others")] == [
        "make test-oracle",
        "make test-nightly",
    ]
    assert ' and not alone and not nightly"' in lanes
    assert ' and not nightly"' in pure
    assert ' and alone and not nightly"' in alone
    assert '-m "nightly and not alone"' in nightly
    assert '-m "nightly and alone"' in nightly
    assert ' tests/oracle  -m "not (slow and no_cover) and not nightly"' in left
    assert " tests/oracle " in searched
    assert " -m " not in searched.partition(" -m pytest ")[2]
    assert ("--cov-fail-under=100" in left, "--cov-fail-under=100" in searched) == (False, True)
    assert nightly.count(" --ignore=tests/oracle ") == 2


def test_the_night_has_what_the_day_has_the_like_of() -> None:
    """A pattern that marks nothing is out of date; a test of which every case is marked is one of whole runs."""
    ids = _collected(*AT_NIGHT)
    whole = {test for test in map(_function, ids) if all(map(is_for_the_night, _cases(ids, test)))}

    assert [path for path, pattern in AT_NIGHT.items() if not any(_has(one, path, pattern) for one in ids)] == []
    assert {test.partition("::")[0] for test in whole} <= {path for path, what in AT_NIGHT.items() if "::" in what}


def test_one_in_three_runs_every_time() -> None:
    """Of each kind, whatever its cases are called."""
    ids = _collected(*{test.partition("::")[0] for test in ONE_IN_THREE})
    for test in ONE_IN_THREE:
        of_kind = [one for one in ids if one.startswith(test)]
        assert 0.15 < sum(not is_for_the_night(one) for one in of_kind) / len(of_kind) < 0.5, test


def _collected(*paths: str) -> list[str]:
    """Return the ids of the tests below paths."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *sorted(paths)]
    return [line for line in subprocess.check_output(command, cwd=ROOT, text=True).splitlines() if "::" in line]


def _has(nodeid: str, path: str, pattern: str) -> bool:
    return nodeid.startswith(path) and re.search(pattern, nodeid) is not None


def _function(nodeid: str) -> str:
    return nodeid.partition("[")[0]


def _cases(ids: list[str], function: str) -> list[str]:
    return [one for one in ids if _function(one) == function]


def test_a_red_ci_run_tells_its_minutes_by_part_too(tmp_path: Path) -> None:
    """The script itself, with programs that do nothing, and a suite that fails."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "bin").mkdir()
    script = tmp_path / ".ci" / "run"
    script.write_text(CI_RUN, encoding="utf-8")
    for name in ("dockerd", "docker-compose", "debootstrap", "iptables", "docker", "make", "zsh", "fish", "chromium"):
        program = tmp_path / "bin" / name
        program.write_text('#!/bin/sh\n[ "$*" != "--no-print-directory test NIGHTLY=no" ]\n', encoding="utf-8")
        program.chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", str(script)], env={"PATH": path}, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert set(re.findall(r"^ +\d+\.\d minutes  (.*)$", done.stdout, re.MULTILINE)) == {"rest", "make test"}
    assert "=== done" not in done.stdout


def test_nightly_predicts_the_catalogue_on_the_whole_ladder() -> None:
    job = workflow("nightly.yml")["jobs"]["predictions"]
    (test,) = re.findall(r"tests/\S+\.py", job["steps"][-1]["run"])
    (name,) = job["env"]
    assert f'os.environ.get("{name}") == "{job["env"][name]}"' in (ROOT / test).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_with_their_version(path: Path) -> None:
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    assert used
    for action in used:
        assert action == OWN_ACTION or re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_reports_are_kept_even_when_a_scenario_fails(path: Path) -> None:
    steps = steps_of(path)
    if any(step.get("uses") == OWN_ACTION for step in steps):
        steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    uploads = [step for step in steps if step.get("uses", "").startswith("actions/upload-artifact@")]
    assert uploads
    for step in uploads:
        assert step["if"].startswith("always()")
        assert step["with"]["if-no-files-found"] == "error"
