"""Does every catalogue scenario predict what it predicted before, on every release line?

``REWRITE_GOLDEN=1`` writes today's predictions; a new scenario needs that once.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.steps.frames import Hold
from tests.conformance.selected import select_scenarios
from tests.oracle.golden_text import RELEASES, golden_text
from tests.oracle.schedules import without_holds

if TYPE_CHECKING:
    from conformance.catalogue.scenario import Scenario

FOUNDATION = select_scenarios(profile="quick")
GOLDEN = Path(__file__).parent / "golden"


def golden_path(scenario: Scenario) -> Path:
    return GOLDEN / f"{scenario.name.replace('/', '-')}.txt"


@pytest.fixture(scope="module", autouse=True)
def _rewrite_if_asked() -> None:
    if os.environ.get("REWRITE_GOLDEN"):
        for scenario in FOUNDATION:
            golden_path(scenario).write_text(golden_text(scenario.schedule))


@pytest.mark.parametrize("scenario", FOUNDATION, ids=lambda scenario: scenario.name)
def test_scenario_predicts_what_it_did(scenario: Scenario) -> None:
    path = golden_path(scenario)
    assert path.exists(), "no golden prediction yet: run once with REWRITE_GOLDEN=1 and read the file"
    assert path.read_text() == golden_text(scenario.schedule)


def test_no_golden_file_is_left_over() -> None:
    assert {path.name for path in GOLDEN.glob("*.txt")} == {golden_path(scenario).name for scenario in FOUNDATION}


@pytest.mark.parametrize("scenario", FOUNDATION, ids=lambda scenario: scenario.name)
def test_every_release_is_in_the_file(scenario: Scenario) -> None:
    text = golden_path(scenario).read_text()
    assert all(text.count(f"{version} {metadata.value}") == 1 for version, metadata in RELEASES)


GATED = [scenario for scenario in FOUNDATION if any(isinstance(step, Hold) for step in scenario.schedule.steps)]


@pytest.mark.parametrize("scenario", GATED, ids=lambda scenario: scenario.name)
def test_without_its_holds_a_scenario_predicts_something_else(scenario: Scenario) -> None:
    ungated = replace(without_holds(scenario.schedule), id=scenario.schedule.id)
    assert golden_text(ungated) != golden_text(scenario.schedule)
