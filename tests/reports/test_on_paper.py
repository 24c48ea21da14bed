"""Does a report fit on paper? Nothing is wider than a sheet, no words are small, and few sheets are needed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from reports import write_report
from tests.reports.browser import opened

if TYPE_CHECKING:
    from pathlib import Path

SHEETS_PX = {"A4": 710, "Letter": 733}
"""How wide words can be between the margins."""
SMALLEST_PX = 12
"""9 pt."""
MARGIN = "margin: 11mm;"
TOO_WIDE_AND_TOO_SMALL = """(smallest) => {
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const small = [];
  while (words.nextNode()) {
    const holder = words.currentNode.parentElement;
    const size = parseFloat(getComputedStyle(holder).fontSize);
    const isRead = words.currentNode.data.trim() && holder.checkVisibility() && !holder.closest("svg, script, style");
    if (isRead && size < smallest) small.push(`${size} px: ${holder.className} ${words.currentNode.data.trim()}`);
  }
  return [wide, ...small];
}"""


@pytest.fixture
def page(golden_paths: list[Path], tmp_path: Path) -> Path:
    return write_report(golden_paths, tmp_path / "report.html")


@pytest.mark.browser
@pytest.mark.parametrize("sheet", SHEETS_PX)
def test_nothing_is_wider_than_a_sheet_and_no_words_are_below_nine_points(page: Path, sheet: str) -> None:
    with opened(page, width_px=SHEETS_PX[sheet]) as tab:
        tab.emulate_media(media="print")
        wide, *small = tab.evaluate(TOO_WIDE_AND_TOO_SMALL, SMALLEST_PX)
    assert wide == 0
    assert small == []


@pytest.mark.browser
def test_a_run_takes_less_than_two_sheets(page: Path, golden_paths: list[Path]) -> None:
    with opened(page) as tab:
        printed = tab.pdf(prefer_css_page_size=True)
    assert MARGIN in page.read_text(encoding="utf-8")
    sheets = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 0 < sheets < 2 * len(golden_paths), sheets


@pytest.mark.browser
def test_a_folded_run_tells_its_verdicts_once_and_its_requirement(page: Path) -> None:
    shown = """() => [...document.querySelectorAll("details.run[open]")].map((run) => {
      const seen = [...run.querySelectorAll(".asks, .requirement, .verdict")].filter((one) => one.checkVisibility());
      return seen.map((one) => one.className.split(" ")[0]);
    })"""
    with opened(page, width_px=SHEETS_PX["A4"]) as tab:
        tab.emulate_media(media="print")
        told = tab.evaluate(shown)
    assert told
    assert {tuple(one) for one in told} == {("asks", "verdict", "verdict")}
