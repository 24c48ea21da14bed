"""Do the workflows parse, run the project's own commands, and cover the release lines of .ci/run?"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from conformance.cli import build_parser
from fault_injection.releases import MetadataMode, find_release
from tests.project.documents import README, ROOT

if TYPE_CHECKING:
    from pathlib import Path

WORDS = {1: "one", 2: "two", 3: "three", 4: "four"}
WORKFLOWS = tuple(sorted((ROOT / ".github" / "workflows").glob("*.yml")))
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
    include = workflow("nightly.yml")["jobs"][job]["strategy"]["matrix"]["include"]
    return [(row["kafka"], row["metadata"]) for row in include]


def steps_of(path: Path) -> list[dict[str, Any]]:
    """Return the steps of every job of a workflow."""
    return [step for job in workflow(path.name)["jobs"].values() for step in job["steps"]]


def test_nightly_covers_the_release_lines_of_ci() -> None:
    assert lines_of_ci()
    assert set(lines_of_ci()) <= set(lines_of_nightly())
    assert lines_of_ci("DOCKER_LINES")
    assert set(lines_of_ci("DOCKER_LINES")) <= set(lines_of_nightly("docker"))
    assert (len(lines_of_nightly()), len(lines_of_nightly("docker"))) == (7, 2)


@pytest.mark.parametrize(("release", "mode"), lines_of_nightly())
def test_the_release_lines_are_supported(release: str, mode: str) -> None:
    assert MetadataMode(mode) in find_release(release).metadata_modes


def test_the_readme_names_the_release_lines_that_are_run() -> None:
    limits = README.read_text(encoding="utf-8").partition("## Limits")[2]
    assert [release for release, _ in lines_of_nightly() if release not in limits] == []
    assert f"CI runs {WORDS[len(lines_of_ci())]} of them" in limits


def test_nightly_is_scheduled_and_ci_runs_on_push() -> None:
    assert workflow("nightly.yml")["on"]["schedule"][0]["cron"]
    assert "push" in workflow("ci.yml")["on"]
    assert any(".ci/run" in step.get("run", "") for step in steps_of(ROOT / "ci.yml"))


JOBS = [(job, *line) for job in ("conformance", "docker") for line in lines_of_nightly(job)]


@pytest.mark.parametrize(("job", "release", "mode"), JOBS)
def test_nightly_runs_a_command_that_exists(job: str, release: str, mode: str) -> None:
    steps = workflow("nightly.yml")["jobs"][job]["steps"]
    (command,) = [step["run"] for step in steps if "make" in step.get("run", "")]
    for name, value in (("kafka", release), ("metadata", mode)):
        command = command.replace(f"${{{{ matrix.{name} }}}}", value)
    assert "${{" not in command
    program, target, *variables = shlex.split(command)
    values = dict(variable.split("=", 1) for variable in variables)
    assert (program, target, values["KAFKA"]) == ("make", "conformance", release)
    assert build_parser().parse_args(["run", *shlex.split(values["ARGS"])]).metadata == mode


def test_nightly_searches_the_guarantee_table_anew() -> None:
    commands = [step.get("run") for step in workflow("nightly.yml")["jobs"]["guarantees"]["steps"]]
    assert commands[-1] == "make guarantees"
    assert "\nguarantees: setup\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_with_their_version(path: Path) -> None:
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    assert used
    for action in used:
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_reports_are_kept_even_when_a_scenario_fails(path: Path) -> None:
    uploads = [step for step in steps_of(path) if step.get("uses", "").startswith("actions/upload-artifact@")]
    assert uploads
    for step in uploads:
        assert step["if"] == "always()"
        assert step["with"]["if-no-files-found"] == "error"
