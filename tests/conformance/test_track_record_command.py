"""Does ``track-record`` tell of every known defect what it is, where it shows, and why others do not?"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from conformance.catalogue.track_record import TRACK_RECORD
from conformance.cli import build_parser, main
from conformance.line import line_named
from conformance.scenarios.regressions.defect import OPEN, UNREACHED
from conformance.schedules.schedule_file import read_schedule
from oracle.predict import predict
from tests.project.documents import ROOT


def test_what_is_open_is_told_with_its_page_and_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["track-record", "--open"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert main(["track-record", "--open", "--json"]) == 0
    told_json = json.loads(capsys.readouterr().out)["open"]
    assert [one["issue"] for one in told_json] == [one.issue for one in OPEN]
    for one in OPEN:
        assert (ROOT / one.document).is_file()
        assert f"{one.issue or 'not reported'} {one.symptom}" in told
        assert Path(one.document).name in (ROOT / "docs" / "track-record.md").read_text(encoding="utf-8")
        assert one.command in told
        build_parser().parse_args(shlex.split(one.command)[1:])


def test_markdown_has_no_table_of_what_is_open(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["track-record", "--open", "--markdown"]) == 2
    assert "--open is none of the tables" in capsys.readouterr().err


@pytest.mark.parametrize(("line", "flaps"), [("4.4.0/kraft", True), ("3.9.2/kraft", True), ("3.6.2/kraft", False)])
def test_a_replica_that_lacks_a_record_flaps_where_the_high_watermark_stands_still(line: str, *, flaps: bool) -> None:
    schedule = read_schedule(ROOT / "docs" / "findings" / "isr-flaps.yaml").schedule
    isr = {moment.name: moment.isr for moment in predict(schedule, line_named(line).rules).checkpoints}
    assert isr["it lags and has left"] == isr["it has left again"] == (1,)
    entered = [set(isr[name]) for name in ("it still lacks m1 and is in sync", "and it is in sync again")]
    assert entered == [{1, 2} if flaps else {1}] * 2


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
