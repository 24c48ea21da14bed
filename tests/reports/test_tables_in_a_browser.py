"""Does a page find its runs by words and verdict, and sort its tables? With script; without it nothing is left out."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from conformance.record.verdict import Conformance
from reports import write_report
from reports.html import TEMPLATES
from reports.requirement_table import ReleasePage, write_table
from reports.verdict_words import CONFORMANCE_LOOKS, PROMISE_LOOKS
from tests.reports.browser import answered, objections
from tests.reports.page_reader import PageReader
from tests.reports.requirement_table.small_runs import Row, write_run

if TYPE_CHECKING:
    from pathlib import Path

FIND = """() => {
const box = document.querySelector("SELECTOR");
const tools = (box.closest(".scroll") || box).previousElementSibling;
const find = (words, verdict = "") => {
  const [input, select] = tools.querySelectorAll("input, select");
  input.value = words; select.value = verdict;
  input.dispatchEvent(new Event("input")); select.dispatchEvent(new Event("change"));
};
const named = (item) => (item.querySelector("th a, h3") || item.cells[0]).textContent.trim().replace(/\\s+/g, " ");
const items = () => [...box.querySelectorAll(box.dataset.finds)];
const told = () => ({
  shown: items().filter((item) => item.checkVisibility()).map(named),
  count: tools.querySelector("[role=status]").textContent,
  verdicts: [...tools.querySelectorAll("option")].map((one) => one.textContent),
  heads: [...(box.tHead ? box.tHead.rows[0].cells : [])].filter((head) => head.checkVisibility())
    .map((head) => [head.textContent, head.getAttribute("aria-sort")]),
  groups: [...box.querySelectorAll(box.dataset.groups || "none")].filter((group) => group.checkVisibility())
    .map((group) => group.querySelector("h2, th, summary").textContent.trim()),
});
tools.dispatchEvent(new Event("focusin"));
const all = [];
ACTS
return all;
}"""
BEYOND_THEIR_WORDS = """() => [...document.querySelectorAll("table.requirements th button")].map((button) => {
  const words = document.createRange();
  words.selectNodeContents(button);
  return button.getBoundingClientRect().bottom - words.getBoundingClientRect().bottom;
})"""
"""How much lower than its words does each button end, its mark included?"""
A_LINE_PX = 10
RUNS, MATRIX, REQUIREMENTS = "#verdicts", "table.matrix", "table.requirements"
ROWS = tuple(
    Row(f"{letters}-{number:02}", f"Row {number} holds.", area)
    for letters, area in (("HW", "High watermark"), ("TR", "Truncation"))
    for number in (3, 4, 5)
)


def acted(page: Path, box: str, *acts: str) -> list[dict[str, list[str]]]:
    """Return what a box shows after each of some acts, one after the other."""
    each = "\n".join(f"{act}; all.push(told());" for act in acts)
    driver = FIND.replace("SELECTOR", box).replace("ACTS", each)
    found: list[dict[str, list[str]]] = answered(page, driver)
    return found


@pytest.fixture
def page(golden_paths: list[Path], tmp_path: Path) -> Path:
    return write_report(golden_paths, tmp_path / "report.html")


@pytest.fixture
def requirement_page(tmp_path: Path) -> Path:
    """Six requirements on two releases; TR-04 deviates on the older one, HW-05 was not run on the newer."""
    for kafka, metadata in (("0.10.2.2", "zookeeper"), ("4.3.1", "kraft")):
        for row in ROWS:
            deviates = (row.id, kafka) == ("TR-04", "0.10.2.2")
            left_out = (row.id, kafka) == ("HW-05", "4.3.1")
            word = "DEVIATES" if deviates else "NOT_RUN" if left_out else "CONFORMS"
            write_run(
                tmp_path / kafka / "round-1",
                row.id,
                scenario=f"{row.id}/twice",
                sources=[row.id],
                kafka=kafka,
                metadata=metadata,
                conformance=word,
                promise=None if left_out else "KEPT",
            )
    pages = []
    for kafka in ("0.10.2.2", "4.3.1"):
        runs = sorted((tmp_path / kafka / "round-1").iterdir())
        pages.append(ReleasePage.read(write_report(runs, tmp_path / kafka / "report.html"), runs))
    write_table(pages, ROWS, tmp_path)
    return tmp_path / "matrix.html"


FOUND = {
    "find('')": 8,
    "find('tr-03')": 1,
    "find('clean ELECTIONS')": 2,
    "find('clean 2.8.2')": 1,
    "find('KIP-101, 4.3.1')": 2,
    "find('tr-01', 'Deviates')": 1,
    "find('', 'Broken, as predicted')": 3,
    "find('nobody wrote this')": 0,
    "find('tr-03'); document.querySelector('table.matrix a[href*=\"tr-01\"]').click()": 8,
}


@pytest.mark.browser
def test_runs_are_found_by_scenario_requirement_release_source_and_verdict(page: Path) -> None:
    _, *all_told = acted(page, RUNS, "box.querySelectorAll('details').forEach((one) => { one.open = true; })", *FOUND)
    for act, told in zip(FOUND, all_told, strict=True):
        assert (act, told["count"]) == (act, f"{FOUND[act]} of 8 runs")
        assert (act, len(told["shown"])) == (act, FOUND[act])


@pytest.mark.browser
def test_a_chapter_without_a_run_that_was_found_vanishes_and_a_shelf_with_one_opens(page: Path) -> None:
    before, found, after = acted(page, RUNS, "", "find('el-06')", "find('')")
    assert found["groups"] == ["EL Elections and the settings that allow them", "1 not run: it does not apply here"]
    assert found["shown"] == ["EL-06"]
    assert "EL-06" not in before["shown"]
    assert after == before


@pytest.mark.browser
def test_the_matrix_is_narrowed_to_the_releases_that_are_named(page: Path) -> None:
    every, one, none, two, no_part = acted(
        page, MATRIX, "", "find('tr 3.9')", "find('tr 4.3', 'Deviates')", "find('2.8 4.3')", "find('8.2')"
    )
    assert [words.split()[0] for words, _ in two["heads"]] == ["Scenario", "2.8.2", "4.3.1"]
    assert no_part["shown"] == []
    assert every["count"] == "6 of 6 scenarios"
    verdicts = [
        "Deviates",
        "Broken",
        "Harness error",
        "Broken, as predicted",
        "Conforms",
        "Kept",
        "Not judged",
        "Not run",
    ]
    assert every["verdicts"] == ["any", *verdicts]
    assert one["shown"] == ["TR-01 (unsafe)"]
    assert [words for words, _ in one["heads"]] == ["Scenario", "3.9.1 KRaft"]
    assert none["count"] == "0 of 6 scenarios"


@pytest.mark.browser
def test_a_column_sorts_up_down_and_as_it_was(page: Path) -> None:
    press = "box.tHead.querySelector('button').click()"
    original, *sorted_by = acted(page, MATRIX, "", press, press, press)
    rows = sorted(original["shown"])
    assert original["shown"] != rows
    assert [told["shown"] for told in sorted_by] == [rows, rows[::-1], original["shown"]]
    assert [told["heads"][0] for told in sorted_by] == [["Scenario", d] for d in ("ascending", "descending", "none")]
    assert {state for told in sorted_by for _, state in told["heads"][1:] if state} == {"none"}


@pytest.mark.browser
def test_a_column_of_verdicts_begins_with_the_gravest_and_ends_with_what_was_not_run(page: Path) -> None:
    (told,) = acted(page, MATRIX, "box.tHead.querySelectorAll('button')[1].click();")
    assert told["heads"][1] == ["0.10.2.2 ZooKeeper", "ascending"]
    assert told["shown"][:4] == ["TR-01 (unsafe)", "TR-02 (safe)", "TR-03 (unsafe)", "EL-06"]


@pytest.mark.browser
def test_requirements_are_found_and_sorted_within_their_areas(requirement_page: Path) -> None:
    finds = ("find('tr-')", "find('twice', 'Deviates')", "find('4.3.1', 'Deviates')", "find('4.3.1', 'Not run')")
    press = "find(''); box.tHead.querySelectorAll('button')[1].click()"
    area, deviates, nothing, left_out, worst_first = acted(requirement_page, REQUIREMENTS, *finds, press)
    assert (area["count"], area["shown"]) == ("3 of 6 requirements", ["TR-03", "TR-04", "TR-05"])
    assert area["groups"] == ["Truncation"]
    assert deviates["shown"] == ["TR-04"]
    assert nothing["shown"] == []
    assert left_out["shown"] == ["HW-05"]
    assert worst_first["shown"] == ["HW-03", "HW-04", "HW-05", "TR-04", "TR-03", "TR-05"]


def test_without_script_no_control_stands_in_a_page_and_every_row_does(page: Path, requirement_page: Path) -> None:
    for path, rows in ((page, 8), (requirement_page, 6)):
        reader = PageReader(path.read_text(encoding="utf-8"))
        assert not reader.named("button", "input", "select")
        assert not reader.with_attribute("hidden")
        assert len(reader.with_attribute("data-of")) == rows
        assert len([item for item in reader.named("script") if "localeCompare" in item.words]) == 1


def test_a_page_of_one_run_has_nothing_to_sort_and_no_script_for_it(golden_paths: list[Path], tmp_path: Path) -> None:
    text = write_report(golden_paths[:1], tmp_path / "one.html").read_text(encoding="utf-8")
    reader = PageReader(text)
    assert not reader.with_attribute("data-sorts")
    assert not reader.with_attribute("data-finds")
    assert len(reader.named("script")) == text.count("sha256-") == 1
    assert "localeCompare" not in text
    assert ".tools" not in text


@pytest.mark.browser
def test_the_mark_of_a_column_that_sorts_stands_beside_its_words(requirement_page: Path) -> None:
    beyond: list[float] = answered(requirement_page, BEYOND_THEIR_WORDS)
    assert len(beyond) == 3
    assert max(beyond) < A_LINE_PX


def test_the_script_ranks_every_verdict_that_a_page_can_have() -> None:
    script = (TEMPLATES / "tables.js").read_text(encoding="utf-8")
    (ranked,) = re.findall(r"GRAVEST_FIRST = (\[.*\]);", script)
    assert sorted(json.loads(ranked)) == sorted(
        look.word for look in (*CONFORMANCE_LOOKS.values(), *PROMISE_LOOKS.values())
    )
    assert json.loads(ranked)[0] == CONFORMANCE_LOOKS[Conformance.DEVIATES].word


@pytest.mark.browser
def test_nothing_can_be_objected_to_in_a_browser(requirement_page: Path) -> None:
    assert objections(requirement_page) == []
