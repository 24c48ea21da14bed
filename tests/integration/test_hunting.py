"""Does a hunt run what it has grown, go on with its seed where it stopped, and find out what is behind a difference?"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from conformance.catalogue.scenario import Scenario
from conformance.hunting.findings import FindingInquiry
from conformance.line import held_against, line_named
from conformance.record.verdict import Conformance
from conformance.run_options import RunOptions
from conformance.session import session_on
from tests.conformance.hunting.rule_sets import LONG, NEEDS_MIN_ISR, SWAPPED
from tests.integration.real_runs import ignore

if TYPE_CHECKING:
    from pathlib import Path


def hunted(directory: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "conformance", "hunt", "--kafka", "4.4.0", "--schedules", "1", *arguments]
    done = subprocess.run(
        [*command, "--backend", "process", "--runs-dir", str(directory), "--json", "--quiet"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(300)
def test_a_hunt_conforms_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    first, begun = hunted(tmp_path, "--seed", "11")
    second, more = hunted(tmp_path)

    assert (first, second) == (0, 0), (begun, more)
    assert (begun["seed"], more["seed"]) == (11, 11)
    assert [one["number"] for answer in (begun, more) for one in answer["schedules"]] == [0, 1]
    lines = (tmp_path / "hunt.ndjson").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["conformance"] for line in lines] == ["CONFORMS", "CONFORMS"]
    assert (tmp_path / "report.html").stat().st_size > 0


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(300)
def test_a_swapped_rule_is_found_named_and_shrunk(tmp_path: Path) -> None:
    rules_of = SWAPPED.version
    line = held_against(line_named("4.4.0"), rules_of)
    with session_on(line, RunOptions("process"), 7, ignore, "") as session:
        finished = session.run(Scenario(LONG.id, LONG, "known to deviate"), tmp_path)
        assert finished.verdict.conformance is Conformance.DEVIATES
        assert finished.verdict.rules_of == rules_of

        inquiry = FindingInquiry(session, LONG, finished, line.rules, tmp_path / "shrinking")
        explanations = inquiry.explanations()
        assert explanations[NEEDS_MIN_ISR].version == "4.4.0"
        shrunk = inquiry.shrunk(explanations)
    assert shrunk is not None
    assert len(shrunk.schedule.steps) < len(LONG.steps)
    assert shrunk.finished.verdict.conformance is Conformance.DEVIATES
    assert set(shrunk.finished.verdict.codes) & set(finished.verdict.codes)
