"""Does the picture of transactions show who sent what, what came late, and what differs from the rules?"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from conformance.line import line_named
from conformance.record.answers import ComparedAnswer, write_compared
from conformance.record.directory import RunDirectory
from conformance.record.run import EXAMINATION, Run, write_run
from conformance.record.transaction_course import COURSE_FILE
from conformance.record.verdict import Conformance, PromiseKept, Verdict, write_verdict
from conformance.registry import CATALOGUE
from conformance.stages.predicting import freeze_answers, predict_entry
from reports import write_report
from reports.html import TEMPLATES
from reports.load import load_run
from reports.transaction_picture.course import CourseView
from reports.transaction_picture.layout import lay_out_course
from reports.transaction_picture.sheet import draw_course
from reports.transaction_picture.story import course_table, told_story
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BY_NAME = {entry.name: entry for entry in CATALOGUE if entry.name.startswith("TX")}
LATE_ABORT = "TX-05/late-abort"
DRAWN = [(name, line) for name in BY_NAME for line in ("3.5.2/kraft", "4.4.0")]


def run_of(folder: Path, name: str, line: str, instead: Mapping[str, str] | None = None) -> Path:
    """Write a run whose brokers answered as predicted, but for some questions."""
    told = predict_entry(BY_NAME[name], line_named(line).rules)
    path = folder / f"{name}-{line}".replace("/", "-")
    (path / "prediction").mkdir(parents=True)
    (path / "reconciliation").mkdir()
    run = RunDirectory(path)
    about = Run(run=path.name, scenario=name, kafka=line.partition("/")[0], metadata="kraft", kind=EXAMINATION)
    write_run(run, replace(about, steps=BY_NAME[name].subject.steps()))  # type: ignore[union-attr]
    freeze_answers(run, told.answers, told.course)
    write_compared(run, [_compared(one.what, one.predicted.in_words, instead or {}) for one in told.answers])
    write_verdict(run, Verdict(Conformance.CONFORMS, PromiseKept.KEPT, "answers as predicted"))
    return path


def _compared(what: str, predicted: str, instead: Mapping[str, str]) -> ComparedAnswer:
    return ComparedAnswer(what, predicted, instead.get(what, predicted), None, what not in instead)


def view_of(folder: Path, name: str, line: str, instead: Mapping[str, str] | None = None) -> CourseView:
    run = load_run(run_of(folder, name, line, instead))
    assert run.course is not None
    return CourseView.of(run.course, run.asked)


def predicted_view(name: str, line: str) -> CourseView:
    course = predict_entry(BY_NAME[name], line_named(line).rules).course
    assert course is not None
    return CourseView.of(course)


def words(view: CourseView, css: str = "") -> list[str]:
    root = ET.fromstring(draw_course(view, "p"))
    return ["".join(one.itertext()) for one in root.iter("text") if css in (one.get("class") or "")]


def drawn(view: CourseView, name: str, css: str) -> list[ET.Element]:
    found = ET.fromstring(draw_course(view, "p")).iterfind(f"./g//{name}")
    return [one for one in found if (one.get("class") or "") == css]


@pytest.mark.parametrize(("name", "line"), DRAWN)
def test_every_script_is_drawn_on_its_sheet_with_title_and_description(name: str, line: str) -> None:
    if predict_entry(BY_NAME[name], line_named(line).rules).not_run is not None:
        return
    view = predicted_view(name, line)
    root = ET.fromstring(draw_course(view, "p"))
    assert [child.tag for child in root][:2] == ["title", "desc"]
    assert len(root[1].text or "") > 80
    ids = [one.get("id") for one in root.iter() if one.get("id")]
    assert ids == ["p-title", "p-desc"]
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    assert width < 1240
    for one in root.iter("line"):
        assert min(float(one.get("x1", 0)), float(one.get("x2", 0))) >= 0
        assert max(float(one.get("x1", 0)), float(one.get("x2", 0))) <= width
        assert max(float(one.get("y1", 0)), float(one.get("y2", 0))) <= height
    assert set(re.findall(r"url\(#area-([a-z]+)\)", draw_course(view, "p"))) <= PATTERNS


PATTERNS = {"uncommitted", "held", "lost", "diverged", "sent", "late"}


def test_rows_of_one_act_lie_below_each_other_in_its_block() -> None:
    layout = lay_out_course(predicted_view(LATE_ABORT, "3.9.2/kraft"))
    tops = [row.top for row in layout.rows]
    assert tops == sorted(set(tops))
    for act, top, bottom in layout.blocks:
        assert all(top < row.arrow < bottom for row in layout.rows if row.act is act)
    lanes = list(layout.bands.values())
    assert all(one.right < other.left for one, other in pairwise(lanes))


def test_a_late_request_waits_and_comes_from_where_it_waited() -> None:
    view = predicted_view(LATE_ABORT, "3.9.2/kraft")
    layout = lay_out_course(view)
    (bar,) = layout.bars
    assert (bar.begin.act.number, bar.end and bar.end.act.number) == (3, 6)
    (arrow, *_) = drawn(view, "line", "request late")
    assert float(arrow.get("x1", 0)) == bar.x < layout.bands["producer"].left
    assert float(arrow.get("y1", 0)) == bar.end.arrow  # type: ignore[union-attr]
    assert len(drawn(view, "line", "request kept")) == 1
    assert "kept back as “the first one”" in words(view)
    assert not drawn(predicted_view("TX-03", "3.9.2/kraft"), "line", "request late")


def test_a_marker_that_is_written_again_comes_late_from_the_coordinator() -> None:
    layout = lay_out_course(predicted_view("TX-07/in-the-next", "4.4.0"))
    (bar,) = layout.bars
    assert (bar.begin.act.number, bar.end and bar.end.act.number) == (3, 5)
    assert layout.bands["coordinator"].right < bar.x < layout.bands["partition 0"].left


def test_markers_states_and_epochs_have_words() -> None:
    view = predicted_view(LATE_ABORT, "4.4.0")
    assert words(view, "request-words marker") == ["ABORT, epoch 1", "COMMIT, epoch 2", "COMMIT, epoch 2"]
    phases = [one for one in words(view, "strip-words phase") if not one.startswith("epoch")]
    ended = ("PrepareAbort", "CompleteAbort", "Ongoing", "PrepareCommit", "CompleteCommit")
    assert phases == ["Empty", "Empty", "Ongoing", *ended]
    assert words(view, "strip-words producer-epoch") == ["epoch 0", "epoch 1", "epoch 2"]
    assert "← PRODUCER_FENCED" in "".join(words(view, "answer-words refused"))


def test_only_the_release_that_loses_a_record_has_it_marked() -> None:
    old, new = (predicted_view(LATE_ABORT, line) for line in ("3.9.2/kraft", "4.4.0"))
    assert len(drawn(old, "rect", "batch aborted lost")) >= 2
    assert not drawn(new, "rect", "batch aborted lost")
    assert "✕ lost" in words(old)
    assert "✕ lost" not in words(new)
    assert "a2, acknowledged and committed, is lost." in told_story(old)[2]
    assert told_story(new)[2] == "The promise is kept: consumers of committed records are given a2 and b2."


def test_a_record_that_nobody_asked_to_commit_is_marked() -> None:
    view = predicted_view("TX-05/late-commit", "3.9.2/kraft")
    assert "! wrongly given" in words(view)
    assert "nobody asked to commit a2." in told_story(view)[2]


def test_a_partition_that_is_read_no_further_is_told() -> None:
    view = predicted_view("TX-06/after-its-abort", "3.5.2/kraft")
    assert "‖ read no further" in words(view)
    assert "partition 0 is read no further" in told_story(view)[2]
    assert "a1 stands in partition 0 and is open there" in told_story(view)[1]


def test_a_batch_that_is_taken_for_another_one_is_not_appended() -> None:
    assert words(predicted_view("TX-06/in-the-next", "3.9.2/kraft")).count("not appended") == 1
    assert "not appended" not in words(predicted_view("TX-06/in-the-next", "4.4.0"))


def test_what_is_late_and_what_comes_of_it_are_two_sentences() -> None:
    late, taken, _ = told_story(predicted_view(LATE_ABORT, "4.4.0"))
    assert late.startswith("“the first one”, EndTxn (abort, epoch 0), is kept back in act 3 and arrives in act 6; ")
    assert taken == (
        "The coordinator's epoch has moved from 0 to 1: it is refused, PRODUCER_FENCED, and changes nothing."
    )
    offset = told_story(predicted_view("TX-08/after-its-abort", "3.5.2/kraft"))[1]
    assert offset.endswith("it is taken; offset 1 stands among the group's offsets and is open there.")
    assert told_story(predicted_view("TX-03", "4.4.0"))[0].endswith(
        "none is late; the coordinator's epoch goes from 0 to 3."
    )


LATE_ANSWER = "6. what was kept back as 'the first one' arrives: answer"
GIVEN = "9. both partitions are read: at the end: records of partition 0 to read_committed"
LOG = "9. both partitions are read: at the end: log of partition 0"
MISSING = "promised: acknowledged records of committed transactions that consumers are not given"


def test_answers_as_predicted_have_a_sign_and_those_of_nobody_have_none(tmp_path: Path) -> None:
    measured, asked = view_of(tmp_path, LATE_ABORT, "3.9.2/kraft"), predicted_view(LATE_ABORT, "3.9.2/kraft")
    assert measured.is_measured
    assert sum("✓" in one for one in words(measured, "answer-words")) == 10
    assert words(measured, "measured-so") == ["✓ measured"] * 2
    assert "as measured" in words(measured)
    assert not asked.is_measured
    assert not [one for one in words(asked, "answer-words") if "✓" in one]
    assert not words(asked, "instead")


def test_an_answer_that_differs_is_marked_where_it_is_drawn(tmp_path: Path) -> None:
    instead = {LATE_ANSWER: "PRODUCER_FENCED", LOG: "[a1, ABORT, a2]"}
    view = view_of(tmp_path, LATE_ABORT, "3.9.2/kraft", instead)
    assert words(view, "instead")[:2] == ["≠ measured: PRODUCER_FENCED", "≠ a1 A a2"]
    assert "2 of 20 answers of brokers differ from what is drawn." in told_story(view)[2]
    row = next(one for one in course_table(view) if "late, kept back" in one.request)
    assert row.measured == "≠ measured: PRODUCER_FENCED"


def test_what_consumers_are_given_is_drawn_as_it_was_measured(tmp_path: Path) -> None:
    view = view_of(tmp_path, LATE_ABORT, "3.9.2/kraft", {GIVEN: "[a2]", MISSING: "[]"})
    assert view.given()["partition 0"] == ("a2",)
    assert view.broken_by("missing") == ()
    assert "✕ lost" not in words(view)
    assert told_story(view)[2].startswith("The promise is kept: consumers of committed records are given a2 and b2.")


def test_the_page_of_a_run_has_story_picture_and_table_above_the_answers(tmp_path: Path) -> None:
    path = run_of(tmp_path, LATE_ABORT, "3.9.2/kraft")
    page = write_report([path], tmp_path / "report.html").read_text(encoding="utf-8")
    heads = [one.words for one in PageReader(page).named("h3")]
    assert heads.index("What happened") < heads.index("Questions")
    assert heads.count("What happened") == 1
    pictures = [one for one in PageReader(page).named("svg") if "transactions" in one.attributes.get("class", "")]
    assert [one.attributes["role"] for one in pictures] == ["img"]
    captions = [one.words for one in PageReader(page).named("caption")]
    assert "Every request with its answer, and what coordinator and leaders have then" in captions
    used = set(re.findall(r"url\(#([^)]+)\)", page))
    assert used <= set(PageReader(page).with_attribute("id"))


def test_both_releases_in_one_report_have_a_picture_each(tmp_path: Path) -> None:
    paths = [run_of(tmp_path, LATE_ABORT, line) for line in ("3.9.2/kraft", "4.4.0")]
    page = write_report(paths, tmp_path / "report.html").read_text(encoding="utf-8")
    pages = page + "".join(one.read_text(encoding="utf-8") for one in tmp_path.glob("*/*.html"))
    assert pages.count('class="timeline transactions"') == 2
    ids = PageReader(page).with_attribute("id")
    assert len(ids) == len(set(ids))


def test_a_run_without_the_file_has_its_answers_and_no_picture(tmp_path: Path) -> None:
    path = run_of(tmp_path, LATE_ABORT, "3.9.2/kraft")
    (path / COURSE_FILE).unlink()
    page = write_report([path], tmp_path / "report.html").read_text(encoding="utf-8")
    assert load_run(path).course is None
    assert 'class="timeline transactions"' not in page
    assert "✓ all 20 as predicted" in [one.words for one in PageReader(page).named("span")]


def test_a_broken_file_is_named_on_the_page(tmp_path: Path) -> None:
    path = run_of(tmp_path, LATE_ABORT, "3.9.2/kraft")
    (path / COURSE_FILE).write_text("{}")
    assert f"{COURSE_FILE} cannot be read" in load_run(path).verdict.reason


def test_the_table_has_every_request_with_what_is_known_then() -> None:
    view = predicted_view(LATE_ABORT, "3.9.2/kraft")
    rows = course_table(view)
    requests = sum(len(act.requests) or 1 for act in view.course.acts)
    assert len(rows) == requests
    assert [row.act for row in rows if row.act][2] == "3. the producer aborts, which is kept back as 'the first one'"
    assert rows[-1].coordinator == "CompleteCommit with epoch 0"
    assert rows[-1].logs == (
        "a1 (aborted), ABORT, a2 (aborted), ABORT; last stable offset 4",
        "b2 (committed), COMMIT; last stable offset 2",
    )


def test_no_letters_are_small() -> None:
    css = (TEMPLATES / "transactions.css").read_text(encoding="utf-8")
    sizes = [float(size) for size in re.findall(r"(?:font-size: |font: \d+ )([\d.]+)px", css)]
    assert len(sizes) > 8
    assert min(sizes) >= 12
