"""Does the documented track record say what the catalogue's says?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from conformance.catalogue.questions import in_words
from conformance.catalogue.signs import Promise
from conformance.catalogue.track_record import TRACK_RECORD
from conformance.scenarios.regressions.defect import UNREACHED
from tests.project.documents import page

if TYPE_CHECKING:
    from conformance.record.answers import Value
    from conformance.scenarios.regressions.defect import Defect

TEXT = page("track-record").read_text(encoding="utf-8")
LINES = [line for line in TEXT.splitlines() if line.startswith("| [")]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES]


def test_every_row_is_in_the_record_with_its_releases_and_its_scenario() -> None:
    defects = {defect.issue: defect for defect in TRACK_RECORD}
    for issue_cell, kind, symptom, broken, fixed, command, *shown in ROWS:
        (issue,) = re.findall(r"\[([^\]]+)\]", issue_cell)
        defect = defects[issue]
        assert (kind, symptom) == (defect.kind.value, defect.symptom)
        assert (broken.split()[0], fixed.split()[0]) == (defect.broken, defect.fixed)
        assert f"run {defect.scenario} --kafka" in command
        assert shown == [_verdict(defect, defect.there), _verdict(defect, defect.here)]
        assert shown[0] != shown[1]


def _verdict(defect: Defect, value: Value) -> str:
    """Return what a run that conforms has shown."""
    return (
        f"CONFORMS, {value}" if isinstance(defect.sign, Promise) else f"CONFORMS, {defect.sign.text}: {in_words(value)}"
    )


def test_each_is_there_once_in_the_order_of_the_record() -> None:
    assert [re.findall(r"\[([^\]]+)\]", row[0])[0] for row in ROWS] == [defect.issue for defect in TRACK_RECORD]


def test_what_is_out_of_reach_is_named() -> None:
    assert [issue for one in UNREACHED for issue in one.issue.split(", ") if issue not in TEXT] == []
