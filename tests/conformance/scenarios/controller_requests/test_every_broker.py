"""Is every live broker asked whom it believes to lead, and does one that says otherwise deviate?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.questions import NotSeenError, agrees
from conformance.questions.one_row import told_leaders
from conformance.record.prediction import frozen_form
from conformance.scenarios.controller_requests.rm_04_update_metadata import HELD, TOLD, expected_leaders
from tests.conformance.questions.hand_made_runs import HandMadeRun
from tests.conformance.scenarios.ladder_predictions import LINES, kraft, predicted, rules, runs_on, zookeeper

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.catalogue.questions import Expected
    from tests.conformance.scenarios.ladder_predictions import Line

NAME = "RM-04/every-broker"
STALE, ALL_TOLD = {"2": 2, "3": 1, "100": 2}, {"2": 2, "3": 2, "100": 2}


def expected(line: Line, moment: str) -> Expected:
    return expected_leaders(moment)(rules(line), frozen_form(predicted(NAME, line).as_json()))


def measured(directory: Path, told: dict[str, int | None], moment: str) -> object:
    made = HandMadeRun(directory)
    made.observe(1, "checkpoint", name=moment, told_leaders=told)
    return told_leaders(moment)(made.run)


def test_it_exists_where_a_controller_sends_update_metadata() -> None:
    assert runs_on(NAME) == tuple(line for line in LINES if line == zookeeper(line[0]))
    assert kraft("4.3.1") not in runs_on(NAME)


@pytest.mark.parametrize("line", runs_on(NAME), ids=str)
def test_only_the_broker_that_is_kept_from_the_news_names_the_old_leader(line: Line) -> None:
    assert expected(line, HELD) == [[2, 2], [3, 1], [100, 2]]
    assert expected(line, TOLD) == [[2, 2], [3, 2], [100, 2]]


@pytest.mark.parametrize(
    ("told", "moment", "is_so"),
    [
        (STALE, HELD, True),
        (ALL_TOLD, TOLD, True),
        (ALL_TOLD, HELD, False),
        (STALE, TOLD, False),
        ({**ALL_TOLD, "100": 1}, TOLD, False),
        ({**ALL_TOLD, "2": None}, TOLD, False),
        ({"2": 2, "3": 2}, TOLD, False),
    ],
)
def test_each_broker_counts(tmp_path: Path, told: dict[str, int | None], moment: str, *, is_so: bool) -> None:
    answer = measured(tmp_path / "run", told, moment)
    assert agrees(expected(zookeeper("2.8.2"), moment), answer) is is_so  # type: ignore[arg-type]


def test_a_checkpoint_without_answers_is_no_evidence(tmp_path: Path) -> None:
    made = HandMadeRun(tmp_path / "run")
    made.observe(1, "checkpoint", name=HELD)
    with pytest.raises(NotSeenError, match="no broker was asked"):
        told_leaders(HELD)(made.run)
