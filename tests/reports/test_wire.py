"""Does a report tell what the wire trace showed: how much held, what was never exercised, what is not allowed?"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from reports import write_report
from reports.load import load_run
from reports.verdict_words import Conformance
from reports.wire import WireAnswer
from tests.reports.golden_traces import allowed, not_checked, violated
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from pathlib import Path

RULES = "0.10.2.2 zookeeper"


@pytest.fixture
def run(tmp_path: Path, golden_paths: list[Path]) -> Path:
    return shutil.copytree(golden_paths[0], tmp_path / "run")


def written(run: Path, checked: dict[str, Any] | None) -> str:
    path = run / "trace_check.json"
    if checked is None:
        path.unlink()
    else:
        path.write_text(json.dumps(checked))
    return write_report([run], run.parent / "report.html").read_text(encoding="utf-8")


def words(page: str, name: str) -> list[str]:
    return [found.words for found in PageReader(page).named(name)]


def test_an_allowed_trace_says_how_much_held_and_what_was_never_exercised(run: Path) -> None:
    page = written(run, allowed(RULES))
    assert "The wire, frame by frame" in words(page, "h3")
    (sentence,) = [text for text in words(page, "p") if text.startswith("Between the nodes passed")]
    assert "passed 1,652 frames; 1,410 of them bear on replication (2 AlterPartition, 1,408 Fetch)" in sentence
    assert sentence.endswith("by the rules of 0.10.2.2 ZooKeeper: 3,345 events.")
    rows = words(page, "tr")
    assert "16 a follower fetches at its log end offset 102" in rows
    assert any(text.endswith("nothing in this run bears on 22") for text in words(page, "caption"))
    assert "What was looked at: 2 of 3 wire invariants" in words(page, "summary")
    assert "✓ allowed Every one of them is an event that these rules allow." in words(page, "p")


def test_a_violation_stands_between_its_frames(run: Path) -> None:
    page = written(run, violated(RULES))
    assert "✕ not allowed Frame 12: broker 2 fetches from offset 1" in words(page, "p")
    assert "Allowed would have been: from its log end offset, 2" in words(page, "p")
    rows = words(page, "tr")
    assert "9 4.500 node 2 to node 1, Fetch v17: from offset 2" in rows
    assert "12 6.000 node 2 to node 1, Fetch v17: from offset 1 ✕ not allowed" in rows
    (caption,) = [text for text in words(page, "caption") if text.startswith("Wire invariants")]
    assert (
        ", up to the event that is not allowed; the check stopped there, and looked at nothing that bears on" in caption
    )


def test_a_moment_without_a_frame_is_named_by_its_time(run: Path) -> None:
    checked = violated(RULES)
    checked["violation"]["frame"] = None
    assert "✕ not allowed At 6.250 s: broker 2 fetches from offset 1" in words(written(run, checked), "p")


def test_a_trace_that_was_not_checked_says_why(run: Path) -> None:
    page = written(run, not_checked(RULES, "wire.ndjson is cut short"))
    assert "✕ not checked wire.ndjson is cut short" in words(page, "p")
    assert "What must hold" not in page


def test_a_run_that_was_never_checked_has_no_such_part(run: Path) -> None:
    assert "The wire, frame by frame" not in written(run, None)
    assert load_run(run).wire is None


@pytest.mark.parametrize(
    ("checked", "answer", "says"),
    [
        (allowed(RULES), "allowed", "Every one of 3,345 events on the wire is one that the rules of"),
        (violated(RULES), "violated", "Frame 12: broker 2 fetches from offset 1; allowed: from its log end offset, 2."),
        (not_checked(RULES, "it is cut short"), "not checked", "The wire trace was not checked: it is cut short."),
    ],
)
def test_machines_read_the_same(run: Path, checked: dict[str, Any], answer: str, says: str) -> None:
    written(run, checked)
    wire = json.loads((run.parent / "report.json").read_text())["runs"][0]["wire"]
    assert (wire["answer"], wire["frames"]) == (answer, checked["frames"])
    assert wire["says"].startswith(says)
    assert wire["held"]["14"] == checked["invariants"][0]["held"]
    case = ET.parse(run.parent / "junit.xml").getroot().find("testsuite/testcase")
    assert case is not None
    properties = {each.get("name"): each.get("value") for each in case.iter("property")}
    assert (properties["wire"], properties["wire.events"]) == (answer, str(checked["events"]))
    assert properties["wire.held"] == " ".join(f"{each['number']}:{each['held']}" for each in checked["invariants"])
    assert f"wire: {says}" in (case.findtext("system-out") or "")


def test_a_broken_file_is_a_harness_error_that_names_it(run: Path) -> None:
    written(run, {"rules_of": 3})
    verdict = load_run(run).verdict
    assert verdict.conformance is Conformance.HARNESS_ERROR
    assert "trace_check.json cannot be read: Expected `str`, got `int`" in verdict.reason


def test_what_a_frame_says_is_shown_and_never_obeyed(run: Path) -> None:
    checked = violated(RULES)
    checked["violation"]["observed"] = checked["violation"]["frames"][0]["text"] = "<script>alert(1)</script>"
    assert "<script>alert" not in written(run, checked)


def test_the_answer_of_the_golden_runs(golden_paths: list[Path]) -> None:
    answers = [wire.answer if (wire := load_run(path).wire) else None for path in golden_paths]
    assert answers.count(WireAnswer.VIOLATED) == 1
    assert answers.count(None) == 2
