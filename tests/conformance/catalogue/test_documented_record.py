"""Does the documented track record say what the catalogue's says? ``make docs`` writes it."""

from __future__ import annotations

import os
import re
from dataclasses import replace

import pytest

from conformance.catalogue.track_record import TRACK_RECORD
from conformance.cli import build_parser, main
from conformance.commands import versions
from conformance.commands.versions import record_in_markdown
from conformance.registry import select
from conformance.scenarios.regressions.defect import UNREACHED
from tests.project.documents import page

PAGE = page("track-record")
BEGIN, END = "<!-- generated -->\n", "<!-- end of generated -->\n"


def with_record(text: str) -> str:
    """Return the page with the record as it is now."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin
    assert end
    record = "".join(f"{line}\n" for line in record_in_markdown())
    return f"{before}{begin}{record}{end}{after}"


def rows(of: str) -> list[list[str]]:
    """Return the cells of the rows of one of the two tables."""
    known, _, unreached = "\n".join(record_in_markdown()).partition("## Out of reach")
    lines = [line for line in (known if of == "known" else unreached).splitlines() if line.startswith("| [")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_the_page_has_the_tables_of_the_record() -> None:
    text = PAGE.read_text(encoding="utf-8")
    if "REWRITE_GOLDEN" in os.environ:
        PAGE.write_text(with_record(text), encoding="utf-8")
    assert text == with_record(text), "make docs writes it anew"


def test_a_page_that_is_older_than_the_record_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REWRITE_GOLDEN", raising=False)
    first, *others = TRACK_RECORD
    monkeypatch.setattr(versions, "TRACK_RECORD", (replace(first, fixed="1.0.2"), *others))
    with pytest.raises(AssertionError):
        test_the_page_has_the_tables_of_the_record()


def test_each_defect_has_a_row_in_the_order_of_the_record() -> None:
    assert [re.findall(r"\[([^\]]+)\]", row[0])[0] for row in rows("known")] == [one.issue for one in TRACK_RECORD]
    assert [re.findall(r"\[([^\]]+)\]", row[0]) for row in rows("unreached")] == [
        one.issue.split(", ") for one in UNREACHED
    ]


@pytest.mark.parametrize("row", rows("known"), ids=lambda row: row[5])
def test_a_row_names_a_scenario_and_releases_as_the_command_takes_them(row: list[str]) -> None:
    _, _, _, broken, fixed, scenario, there, here = row
    name = scenario.strip("`")
    assert len(select([name])) == 1
    for release in (broken, fixed):
        build_parser().parse_args(["run", name, "--kafka", release])
    assert there.startswith("CONFORMS, ")
    assert there != here


def test_the_command_prints_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["track-record", "--markdown"]) == 0
    assert capsys.readouterr().out.splitlines() == list(record_in_markdown())


def test_a_release_with_two_modes_is_named_with_one() -> None:
    told = {row[5].strip("`").rpartition("/")[2]: (row[3], row[4]) for row in rows("known")}
    assert told["KAFKA-18991"] == ("3.9.0/zookeeper", "3.9.2/zookeeper")
    assert told["KAFKA-1211"] == ("0.10.2.2", "0.11.0.3")
    assert told["KIP-966"] == ("3.9.2/kraft", "4.3.1")
