"""Does README's track record say what the catalogue's says?"""

from __future__ import annotations

import re

from conformance.scenarios.regressions.track_record import TRACK_RECORD
from conformance.scenarios.regressions.unreached import UNREACHED
from tests.project.documents import ROOT

ISSUES_MIN = 12
SECTION = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## Track record\n")[1].split("\n## ")[0]
LINES = [line for line in SECTION.splitlines() if line.startswith("| [")]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES]


def test_every_row_is_in_the_record_with_its_releases_and_its_scenario() -> None:
    defects = {defect.issue: defect for defect in TRACK_RECORD}
    for issue_cell, symptom, broken, fixed, command, *shown in ROWS:
        (issue,) = re.findall(r"\[([^\]]+)\]", issue_cell)
        defect = defects[issue]
        assert symptom == defect.symptom
        assert (broken.split()[0], fixed.split()[0]) == (defect.broken, defect.fixed)
        assert f"run {defect.scenario} --kafka" in command
        assert len(shown) == 2
        assert all(cell.startswith("CONFORMS") for cell in shown)
        assert shown[0] != shown[1]


def test_there_are_enough_of_them_each_once() -> None:
    issues = [row[0] for row in ROWS]
    assert len(set(issues)) == len(issues) >= ISSUES_MIN


def test_what_is_out_of_reach_is_named() -> None:
    assert [issue for one in UNREACHED for issue in one.issue.split(", ") if issue not in SECTION] == []
