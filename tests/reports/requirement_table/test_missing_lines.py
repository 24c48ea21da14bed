"""Is a table without some of its lines known for incomplete by its heading, and are those told once?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from reports import write_report
from reports.html import TEMPLATES
from reports.requirement_table import ReleasePage, write_table
from reports.requirement_table.rows import NONE_MEANS, missing_lines, missing_words, told_problems
from tests.reports.page_reader import PageReader
from tests.reports.requirement_table.small_runs import ROWS, write_run

if TYPE_CHECKING:
    from pathlib import Path

GONE = tuple(f"{line} is not there: it has no run" for line in ("3.9.2/kraft", "4.3.1/kraft on the docker backend"))
OTHER = "2.8.2/zookeeper could not be run: no jars"


def test_lines_that_are_not_there_are_one_sentence() -> None:
    assert missing_lines([OTHER, *GONE]) == ("3.9.2/kraft", "4.3.1/kraft on the docker backend")
    both = "3.9.2/kraft, 4.3.1/kraft on the docker backend are not there: no run"
    assert told_problems([OTHER, *GONE]) == (both, OTHER)
    assert told_problems(GONE[:1]) == ("3.9.2/kraft is not there: no run",)
    assert told_problems([OTHER]) == (OTHER,)


@pytest.mark.parametrize(
    ("problems", "words"),
    [
        ((), ""),
        ((OTHER,), ""),
        (GONE[:1], "1 expected line is missing"),
        ((OTHER, *GONE), "2 expected lines are missing"),
    ],
)
def test_missing_lines_are_counted(problems: tuple[str, ...], words: str) -> None:
    assert missing_words(problems) == words


def test_the_heading_says_that_lines_are_missing_and_the_page_names_them_once(tmp_path: Path) -> None:
    run = write_run(tmp_path / "round-1", "a")
    page = write_report([run], tmp_path / "report.html")
    table = write_table([ReleasePage.read(page, [run])], ROWS, tmp_path, problems=[*GONE, OTHER])
    says = "The run behaves as modelled on 1 release line; 2 expected lines are missing"
    told = PageReader((tmp_path / "matrix.html").read_text(encoding="utf-8"))
    assert told.named("h1")[0].words == says
    assert len([item for item in told.named("li") if "not there" in item.words]) == 1
    summary = (tmp_path / "matrix.md").read_text(encoding="utf-8")
    assert summary.startswith(f"## {says}\n")
    assert summary.count("not there") == 1
    assert table.problems == (*GONE, OTHER)  # for a program, and for the exit code, each is one
    assert json.loads((tmp_path / "matrix.json").read_text())["problems"] == [*GONE, OTHER]


def test_the_page_scrolls_in_one_place_and_the_legend_reads_well() -> None:
    css = (TEMPLATES / "requirement_table.css").read_text(encoding="utf-8")
    assert "max-height" not in css
    assert NONE_MEANS.startswith("no run is about this requirement")
