"""Does a page tell what was asked: predicted beside measured, and what an examination did?"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from reports import write_report
from reports.answer_parts import by_step
from reports.load import load_run
from reports.model import QuestionView
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from pathlib import Path

RIGHT = {"what": "fetch offset after the restart", "predicted": "2", "measured": "2", "why_not": None, "agrees": True}
WRONG = {"what": "rounds until it is known", "predicted": "2", "measured": "3", "why_not": None, "agrees": False}
UNSEEN = {
    "what": "time of the shrink",
    "predicted": "9 to 12 ms",
    "measured": None,
    "why_not": "no shrink <b>",
    "agrees": False,
}
EXTRA = {"what": "asked by nobody", "predicted": None, "measured": "1", "why_not": None, "agrees": False}
OPEN = {"what": "connections at the end", "predicted": 3, "in_words": "3"}


@pytest.fixture
def run(tmp_path: Path, golden_paths: list[Path]) -> Path:
    return shutil.copytree(golden_paths[0], tmp_path / "run")


def written(run: Path, *compared: dict[str, Any], predicted: tuple[dict[str, Any], ...] = ()) -> str:
    (run / "reconciliation").mkdir(exist_ok=True)
    (run / "reconciliation" / "questions.json").write_text(json.dumps({"questions": compared}))
    (run / "prediction" / "questions.json").write_text(json.dumps({"questions": predicted}))
    return write_report([run], run.parent / "report.html").read_text(encoding="utf-8")


def words(page: str, name: str) -> list[str]:
    return [found.words for found in PageReader(page).named(name)]


def test_predicted_stands_beside_measured(run: Path) -> None:
    page = written(run, RIGHT)

    assert "Questions" in words(page, "h3")
    assert "fetch offset after the restart 2 2 ✓" in words(page, "tr")
    assert "✓ 1 as predicted" in words(page, "span")


def test_what_differs_is_marked_and_says_how(run: Path) -> None:
    page = written(run, RIGHT, WRONG, UNSEEN, EXTRA)

    rows = [found for found in PageReader(page).named("tr") if found.attributes.get("class") == "deviating"]
    assert [row.words for row in rows if "record" not in row.words][-3:] == [
        "rounds until it is known 2 3 ≠ differs",
        "time of the shrink 9 to 12 ms — ≠ no answer no shrink <b>",
        "asked by nobody — 1 ≠ nobody asked",
    ]
    assert "≠ 3 of 4 differ" in words(page, "span")


def test_a_run_that_never_came_so_far_says_what_was_open(run: Path) -> None:
    page = written(run, RIGHT, predicted=(RIGHT, OPEN))

    assert "connections at the end 3 never reached" in words(page, "tr")
    assert "○ 1 of 2 never reached" in words(page, "span")


def test_many_questions_are_folded_unless_one_of_them_differs(run: Path) -> None:
    many = [RIGHT | {"what": f"question {number}"} for number in range(41)]
    folded = PageReader(written(run, *many))
    opened = PageReader(written(run, *many, WRONG))

    def fold(page: PageReader) -> dict[str, str]:
        return page.named("details")[[found.words for found in page.named("summary")].index(fold_name(page))].attributes

    def fold_name(page: PageReader) -> str:
        return next(found.words for found in page.named("summary") if found.words.endswith("more"))

    assert fold_name(folded) == "9 more"
    assert "open" not in fold(folded)
    assert "open" in fold(opened)


def test_a_page_without_questions_has_no_such_section(run: Path) -> None:
    assert "Questions" not in words(write_report([run], run.parent / "r.html").read_text(encoding="utf-8"), "h3")


def test_an_examination_has_steps_and_answers_and_neither_lanes_nor_records(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "prediction").mkdir(parents=True)
    about = {
        "format": 1,
        "kind": "examination",
        "scenario": "FE-01",
        "schedule_id": "fetchers/connections",
        "requirement": "A broker opens one connection for each fetcher.",
        "steps": ["start three brokers", "count their connections"],
        "kafka": "4.3.1",
        "metadata": "kraft",
        "backend": "process",
    }
    verdict = {"conformance": "CONFORMS", "promise": "NO_PROMISE", "reason": "1 answer as predicted"}
    (run / "run.json").write_text(json.dumps(about))
    (run / "verdict.json").write_text(json.dumps(verdict))
    page = written(run, RIGHT)

    assert {"What was done", "Questions"} <= set(words(page, "h3"))
    assert not {"What happened", "Records", "Checkpoints", "The wire, frame by frame"} & set(words(page, "h3"))
    assert "count their connections" in words(page, "li")
    assert "No record is at stake here: brokers are asked, and must answer." in words(page, "p")
    assert load_run(run).is_examination


@pytest.mark.parametrize(
    ("basis", "words_shown"),
    [
        ("documented", "Did the brokers behave as documented, which the model does not cover?"),
        ("computed", "Did the brokers behave as computed by a rule outside the model?"),
        ("predicted", "Did the brokers behave as the model of 4.3.1 ZooKeeper says?"),
    ],
)
def test_what_is_not_the_models_prediction_is_not_called_so(run: Path, basis: str, words_shown: str) -> None:
    about = json.loads((run / "run.json").read_text()) | {"basis": basis, "kafka": "4.3.1"}
    (run / "run.json").write_text(json.dumps(about))

    assert words_shown in words(written(run, RIGHT), "p")


def test_machines_read_the_answers_too(run: Path) -> None:
    written(run, RIGHT, WRONG)
    told = json.loads((run.parent / "report.json").read_text())
    properties = ET.parse(run.parent / "junit.xml").getroot().iter("property")

    assert [(one["what"], one["agrees"]) for one in told["runs"][0]["questions"]] == [
        (RIGHT["what"], True),
        (WRONG["what"], False),
    ]
    assert {one.get("name"): one.get("value") for one in properties}["answers"] == "1 of 2 as predicted"


def test_questions_about_a_step_stand_below_it() -> None:
    def asked(what: str) -> QuestionView:
        return QuestionView(what, "1", "1", "", agrees=True)

    steps = ("a producer sends c", "broker 2 waits")
    whats = (
        "in all",
        "1. a producer sends c: error code",
        "1. a producer sends c: offset",
        "2. broker 3 waits: offset",
    )
    groups = by_step([asked(what) for what in whats], steps)

    assert [(group.step, [one.what for one in group.asked]) for group in groups] == [
        ("", ["in all"]),
        ("1. a producer sends c", ["error code", "offset"]),
        ("", ["2. broker 3 waits: offset"]),
    ]
