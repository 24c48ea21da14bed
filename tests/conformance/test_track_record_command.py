"""Does ``track-record`` tell of every known defect what it is, where it shows, and why others do not?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from conformance.catalogue.track_record import TRACK_RECORD
from conformance.cli import main
from conformance.scenarios.regressions.defect import UNREACHED

if TYPE_CHECKING:
    import pytest


def test_every_defect_is_told_with_both_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["track-record"]) == 0
    told = capsys.readouterr().out
    for defect in TRACK_RECORD:
        for release in (defect.broken, defect.fixed):
            assert defect.command(release) in told
        assert f"{defect.issue}, {defect.kind.value}\n" in told
        assert all(rule in told for rule in defect.rules)
    reasons = told.split("Out of reach:")[1]
    assert [one.issue for one in UNREACHED if one.issue not in reasons] == []


def test_as_json_each_defect_has_both_releases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["track-record", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["issue"] for one in told["defects"]] == [defect.issue for defect in TRACK_RECORD]
    kafka_1211 = told["defects"][0]
    assert kafka_1211["scenario"] == "regressions/KAFKA-1211"
    assert kafka_1211["sign"] == "promise"
    assert (kafka_1211["kind"], kafka_1211["rules"]) == ("repaired defect", ["truncate-by-leader-epoch"])
    assert kafka_1211["broken"] == {"release": "0.10.2.2", "shows": "BROKEN_AS_PREDICTED"}
    assert kafka_1211["fixed"] == {"release": "0.11.0.3", "shows": "KEPT"}
    assert all(one["reason"] for one in told["unreached"])
