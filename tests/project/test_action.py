"""Does the action call the tester as it is told, end as it is told, and leave summary, badge and outputs?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from conformance.cli import main
from conformance.commands import matrix
from conformance.line import line_named
from tests.project.documents import ROOT, page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conformance.commands.matrix import MatrixRequest

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / ".github/workflows/conformance.yml").read_text(encoding="utf-8"))
SCRIPT = (ROOT / ".ci" / "action").read_text(encoding="utf-8")
TOLD = re.compile(r"\b[A-Z][A-Z_]+\b")
RECORDER = """#!{python}
import pathlib, sys
runs = pathlib.Path(sys.argv[sys.argv.index("--runs-dir") + 1])
pathlib.Path("{called}").write_text("\\0".join(sys.argv[1:]))
if {code} in (0, 1, 3):
    runs.mkdir(parents=True, exist_ok=True)
    (runs / "matrix.md").write_text("| the table |\\n")
sys.exit({code})
"""


class Acted:
    """The script in a directory of its own, with a tester that notes how it is called and ends with a code."""

    def __init__(self, directory: Path, code: int, **variables: str) -> None:
        program = directory / "bin" / "kafka-conformance"
        program.parent.mkdir()
        program.write_text(RECORDER.format(python=sys.executable, code=code, called=directory / "called"))
        program.chmod(0o755)
        given = {"PATH": f"{program.parent}:{os.environ['PATH']}", "RUNS": str(directory / "runs"), **variables}
        given |= {"GITHUB_OUTPUT": str(directory / "output"), "GITHUB_STEP_SUMMARY": str(directory / "summary")}
        done = subprocess.run([ROOT / ".ci" / "action"], env=given, capture_output=True, text=True, check=False)
        self.code, self.said, self._directory = done.returncode, done.stderr, directory

    @property
    def called(self) -> list[str]:
        return (self._directory / "called").read_text().split("\0")

    def left(self, name: str) -> str:
        path = self._directory / name
        return path.read_text() if path.exists() else ""


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Callable[[Sequence[str]], MatrixRequest]:
    """Return what the tester makes of a command line; nothing is run."""

    def take(called: Sequence[str]) -> MatrixRequest:
        asked: list[MatrixRequest] = []
        monkeypatch.setattr(matrix, "run_matrix", lambda _, request: asked.append(request) or 0)
        assert main(called) == 0
        return asked[0]

    return take


@pytest.fixture
def built(tmp_path: Path) -> str:
    """Return a directory with the names of jars that a distribution has."""
    (tmp_path / "built it" / "libs").mkdir(parents=True)
    for name in ("kafka_2.13-4.4.0.jar", "kafka-clients-4.4.0.jar"):
        (tmp_path / "built it" / "libs" / name).touch()
    return str(tmp_path / "built it")


def test_by_itself_it_runs_the_quick_profile_on_the_newest_release(
    tmp_path: Path, taken: Callable[[Sequence[str]], MatrixRequest]
) -> None:
    acted = Acted(tmp_path, 0)
    asked = taken(acted.called)
    assert [line.text for line in asked.lines] == [line_named("newest").text]
    assert (asked.choice.profile, asked.lanes, asked.runs) == ("quick", 1, tmp_path / "runs")
    assert json.loads(acted.left("runs/badge.json")) == {
        "schemaVersion": 1,
        "label": "Kafka newest",
        "message": "conforms",
        "color": "brightgreen",
    }
    assert acted.left("output") == "verdict=conforms\nexit-code=0\n"
    assert acted.left("summary") == "| the table |\n"


def test_a_kafka_of_the_users_own_reaches_the_tester(
    tmp_path: Path, built: str, taken: Callable[[Sequence[str]], MatrixRequest]
) -> None:
    given = {"KAFKA_HOME": built, "LABEL": "our-fork", "RULES_OF": "4.4.0", "LANES": "2", "ENTRIES": "TR-01  HW\nEL"}
    acted = Acted(tmp_path, 0, **given)
    asked = taken(acted.called)
    own = asked.options.own
    assert own is not None
    assert (str(own.home), own.label, own.rules_of, asked.lanes) == (built, "our-fork", "4.4.0", 2)
    assert asked.choice.globs == ("TR-01", "HW", "EL")
    assert json.loads(acted.left("runs/badge.json"))["label"] == "our-fork"


def test_schedules_are_a_line_each(tmp_path: Path, taken: Callable[[Sequence[str]], MatrixRequest]) -> None:
    own = ROOT / "examples" / "acks-1.yaml"
    acted = Acted(tmp_path, 0, SCHEDULES=f"{own}\n{tmp_path}/a folder", KAFKA="3.9.2/kraft,4.4.0", LANES="")
    asked = taken(acted.called)
    assert [str(one) for one in asked.choice.schedules] == [str(own), f"{tmp_path}/a folder"]
    assert [line.text for line in asked.lines] == ["3.9.2/kraft", "4.4.0/kraft"]


@pytest.mark.parametrize(
    ("code", "fail_on", "ends"),
    [
        *((0, on, 0) for on in ("deviates", "inconclusive", "nothing")),
        *((1, on, end) for on, end in (("deviates", 1), ("inconclusive", 1), ("nothing", 0))),
        *((3, on, end) for on, end in (("deviates", 0), ("inconclusive", 3), ("nothing", 0))),
        *((code, on, code) for code in (4, 2, 130) for on in ("deviates", "inconclusive", "nothing")),
    ],
)
def test_it_fails_on_what_it_is_told_to(code: int, fail_on: str, ends: int, tmp_path: Path) -> None:
    acted = Acted(tmp_path, code, FAIL_ON=fail_on)
    assert acted.code == ends
    assert bool(acted.left("runs/badge.json")) is (code in {0, 1, 3, 4})


def test_a_word_that_it_does_not_know_is_refused_before_anything_runs(tmp_path: Path) -> None:
    acted = Acted(tmp_path, 0, FAIL_ON="deviation")
    assert (acted.code, acted.said) == (2, "FAIL_ON is 'deviation': deviates, inconclusive or nothing\n")
    assert not acted.left("called")


def test_the_action_gives_the_script_every_variable_that_its_head_names() -> None:
    head = SCRIPT.partition("set -euo")[0]
    named = {word for word in TOLD.findall(head) if f"${{{word}" in SCRIPT}
    (step,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "conformance")
    assert set(step["env"]) == named
    assert {f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]} >= set(step["env"].values())
    assert {one["value"] for one in ACTION["outputs"].values()} == {
        f"${{{{ steps.conformance.outputs.{name} }}}}" for name in ("verdict", "exit-code")
    }


def test_the_workflow_gives_the_action_what_it_takes() -> None:
    (step,) = (one for one in WORKFLOW["jobs"]["conformance"]["steps"] if "./.kafka" in one.get("uses", ""))
    assert set(step["with"]) <= set(ACTION["inputs"])
    told = set(WORKFLOW[True]["workflow_call"]["inputs"]) - {"minutes"}
    assert {f"${{{{ inputs.{name} }}}}" for name in told - {"kafka"}} <= set(step["with"].values())


def test_actions_of_others_are_pinned_to_the_commits_of_the_other_workflows() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")}
    own = (ROOT / "action.yml").read_text(encoding="utf-8") + texts["conformance.yml"]
    used = set(re.findall(r"uses: (actions/.*)", own))
    assert used
    assert used <= set(re.findall(r"uses: (actions/.*)", texts["nightly.yml"]))


def test_the_page_uses_inputs_that_are_there(
    tmp_path: Path, built: str, taken: Callable[[Sequence[str]], MatrixRequest]
) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", page("ci").read_text(encoding="utf-8"), re.DOTALL)
    called, used, gitlab = (yaml.safe_load(block) for block in blocks)
    inputs = WORKFLOW[True]["workflow_call"]["inputs"]
    assert set(called["jobs"]["conformance"]["with"]) <= set(inputs)
    assert json.loads(called["jobs"]["conformance"]["with"]["kafka"]) == ["3.9.2/kraft", "4.4.0"]
    given = next(step["with"] for step in used if "uses" in step)
    assert set(given) <= set(ACTION["inputs"])
    (tmp_path / "acted").mkdir()
    variables = {name.upper().replace("-", "_"): value for name, value in given.items()}
    assert taken(Acted(tmp_path / "acted", 0, **variables | {"KAFKA_HOME": built}).called).choice.globs == (
        "TR",
        "EL",
        "HW",
    )
    assert set(gitlab["conformance"]["variables"]) <= set(TOLD.findall(SCRIPT))
