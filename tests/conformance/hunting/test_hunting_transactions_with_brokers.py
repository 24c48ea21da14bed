"""``hunt --transactions`` on real brokers: what is predicted is so, what is swapped is found, named and made short."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cli import main
from conformance.schedules.own_scenarios import read_scenarios

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.broker, pytest.mark.timeout(500)]


def hunted(capsys: pytest.CaptureFixture[str], runs: Path, *asked: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code and the answer of a hunt."""
    common = ["hunt", "--transactions", "--backend", "process", "--seed", "1", "--quiet", "--json"]
    code = main([*common, "--runs-dir", str(runs), *asked])
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, answer


def test_brokers_answer_scripts_that_nobody_wrote_as_predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, answer = hunted(capsys, tmp_path, "--kafka", "4.4.0", "--schedules", "15")
    assert (code, answer["summary"]) == (0, {"CONFORMS": 15})
    assert answer["answers"] > 200
    code, answer = hunted(capsys, tmp_path, "--kafka", "4.4.0", "--schedules", "1")
    assert [one["number"] for one in answer["scripts"]] == [15], "it goes on where it stopped"


def test_a_swapped_rule_is_found_and_named_and_its_script_made_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    swapped = "3.9.2~transaction-is-verified"
    asked = ("--kafka", "3.9.2/kraft", "--rules-of", swapped, "--until-found", "--schedules", "60", "--seed", "34")
    code, answer = hunted(capsys, tmp_path, *asked)
    found = answer["scripts"][-1]
    assert (code, found["conformance"], found["tries"], found["came_back"]) == (1, "DEVIATES", 3, 3)
    assert "transaction-is-verified" in found["explained_by"]
    (entry,) = read_scenarios(tmp_path / found["finding"])
    assert found["shrunk_steps"] == len(entry.subject.steps()) - 1 < len(found["steps"])  # type: ignore[union-attr]
