"""Does a reader find every requirement once, the entries that make it up, and what each release line came to?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reports import write_report
from reports.requirement_table import ReleasePage, write_table
from reports.requirement_table.rows import (
    EVERY_RUN,
    NONE,
    flake_words,
    groups_of,
    share_words,
    time_words,
    without_runs,
)
from tests.reports.page_reader import PageReader
from tests.reports.requirement_table.small_runs import ROWS, Row, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from reports.requirement_table.table import RequirementTable

SILENT = Row("TR-01", "Nobody asked.", "Another area")


@pytest.fixture
def table(tmp_path: Path) -> RequirementTable:
    """Two rounds of one release, of which one deviates; HW-01 is cited as well, TR-01 by nobody."""
    runs = [
        write_run(tmp_path / "line" / "round-1", "a"),
        write_run(tmp_path / "line" / "round-1", "b", scenario="HW-03/x", conformance="DEVIATES"),
        write_run(tmp_path / "line" / "round-2", "c", promise="BROKEN_AS_PREDICTED"),
    ]
    page = write_report(runs, tmp_path / "line" / "report.html")
    return write_table([ReleasePage.read(page, runs)], [*ROWS, SILENT], tmp_path)


@pytest.fixture
def page(table: RequirementTable, tmp_path: Path) -> PageReader:
    assert table.rows
    return PageReader((tmp_path / "matrix.html").read_text(encoding="utf-8"))


def test_every_requirement_with_a_run_is_one_row(table: RequirementTable, page: PageReader) -> None:
    shown = [(title, [row.requirement.id for row in rows]) for title, rows in groups_of(table)]

    assert shown == [(EVERY_RUN, ["HW-01", "HW-09", "HW-10"]), ("An area", ["HW-03"])]
    assert without_runs(table) == ("TR-01",)
    heads = [item.words for item in page.named("th") if item.attributes.get("scope") == "row"]
    assert len([words for words in heads if words.startswith("HW-01")]) == 1
    assert "No run is about TR-01." in [item.words for item in page.named("p")]


def test_what_is_held_in_every_run_stands_beside_the_entries_about_it(
    table: RequirementTable, page: PageReader
) -> None:
    first = groups_of(table)[0][1][0]
    row = next(item for item in page.named("tr") if item.words.startswith("HW-01 One."))

    assert row.words == f"HW-01 One. {first.held[0].observations} 1/3 1"
    assert [entry.scenario for entry in first.entries] == ["HW-03", "HW-03/x"]


def test_an_entry_has_its_runs_round_by_round(table: RequirementTable) -> None:
    (row,) = groups_of(table)[1][1]

    assert [[[run.round for run in runs] for runs in entry.runs] for entry in row.entries] == [[[1, 2]], [[1]]]
    assert share_words(row.cells[0]) == "1/3"


def test_a_cell_leads_to_its_entries_and_those_to_their_runs(page: PageReader) -> None:
    links = [item.attributes["href"] for item in page.named("a")]
    ids = page.with_attribute("id")

    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert links.count("#row-hw-03") == 2  # the row's head and its one cell
    assert (
        len([link for link in links if link.startswith("line/report.html#")]) == 2 + 2 * 3
    )  # a promise broken, a deviation, two rows


def test_every_table_names_itself_and_its_heads(page: PageReader) -> None:
    assert len(page.named("table")) == len(page.named("caption"))
    assert all("scope" in head.attributes for head in page.named("th"))


def test_a_line_says_its_entries_verdicts_time_and_flakes(table: RequirementTable, page: PageReader) -> None:
    (total,) = table.totals
    row = next(item for item in page.named("tr") if item.words.startswith("4.3.1 KRaft process"))

    assert time_words(total) == "7.5 s (5.0 s + 2.5 s)"
    assert row.words == "4.3.1 KRaft process 2 3 2 1 1 2 1 \N{EM DASH} 7.5 s (5.0 s + 2.5 s) report"


def test_one_round_cannot_tell_of_flakes(tmp_path: Path) -> None:
    run = write_run(tmp_path / "round-1", "a")
    page = write_report([run], tmp_path / "report.html")
    table = write_table([ReleasePage.read(page, [run])], ROWS, tmp_path)

    assert flake_words(table.totals[0]) == NONE
    assert "one round cannot tell" in (tmp_path / "matrix.html").read_text(encoding="utf-8")


def test_what_does_not_apply_is_no_part_of_a_share(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path, "a"),
        write_run(tmp_path, "b", scenario="HW-03/x", conformance="NOT_RUN", promise=None),
        write_run(tmp_path, "c", kafka="3.9.2", conformance="NOT_RUN", promise=None),
    ]
    page = write_report(runs, tmp_path / "report.html")
    table = write_table([ReleasePage.read(page, runs)], ROWS, tmp_path)

    assert [share_words(cell) for cell in table.rows[1].cells] == ["1", "1"]


def test_a_broken_promise_is_on_the_first_screen_with_release_cause_and_link(tmp_path: Path, page: PageReader) -> None:
    said = "Kafka 4.3.1 KRaft breaks its durability promise: 1 way shown"
    (item,) = [item for item in page.named("li") if "header" in item.parents]
    (link,) = [item.attributes["href"] for item in page.named("a") if "header" in item.parents]

    assert page.named("h1")[0].words == f"{said}; 2 of 3 runs behave as modelled on 1 release line"
    assert item.words == "Broken, as predicted Kafka 4.3.1 KRaft: because of c HW-03"
    told, _, anchor = link.partition("#")
    assert anchor in PageReader((tmp_path / told).read_text(encoding="utf-8")).with_attribute("id")
    assert "- BROKEN_AS_PREDICTED 4.3.1 KRaft, HW-03: because of c" in (tmp_path / "matrix.md").read_text()


def test_a_table_without_a_broken_promise_tells_of_none(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / "round-1", "a")]
    page = write_report(runs, tmp_path / "report.html")
    write_table([ReleasePage.read(page, runs)], ROWS, tmp_path)

    assert "promise" not in (tmp_path / "matrix.md").read_text().splitlines()[0]
    assert not [
        item for item in PageReader((tmp_path / "matrix.html").read_text()).named("li") if "header" in item.parents
    ]
