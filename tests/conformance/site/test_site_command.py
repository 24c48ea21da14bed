"""``site`` and ``explain --page``: the same files each time, nothing overwritten unasked, runs told beside."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.commands.site.measured import newest_runs
from conformance.commands.site.writing import write_site
from conformance.console import Console
from reports.site.pages import MARK
from tests.conformance.site.conftest import of_catalogue, options_in
from tests.reports.golden_runs import deviation, loss
from tests.reports.golden_writer import write_golden
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from pathlib import Path


def files_of(directory: Path) -> dict[str, bytes]:
    return {
        file.relative_to(directory).as_posix(): file.read_bytes() for file in directory.rglob("*") if file.is_file()
    }


def test_a_second_time_gives_the_same_bytes_and_takes_away_what_is_no_more(site: Path) -> None:
    first = files_of(site)
    assert len(first) > 100
    former = site / "requirements" / "XX-99.html"
    former.write_text(f"<html>{MARK}</html>", encoding="utf-8")
    foreign = site / "requirements" / "notes.html"
    foreign.write_text("mine", encoding="utf-8")
    assert write_site(Console(quiet=True), options_in(site.parent, lanes=2)) == 0
    assert foreign.read_text(encoding="utf-8") == "mine"
    foreign.unlink()
    assert files_of(site) == first


def test_a_page_does_not_depend_on_the_order_of_sets(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        command = (sys.executable, "-m", "conformance.cli", "explain", "AC-05", "--page", str(tmp_path / seed))
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_a_directory_of_other_files_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "index.html").write_text("mine", encoding="utf-8")
    assert main(["site", str(tmp_path)]) == 2
    assert "it holds files, and none of them is a site that was written here" in capsys.readouterr().err
    assert files_of(tmp_path) == {"index.html": b"mine"}


def test_a_file_is_no_directory_for_a_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    assert main(["site", str(tmp_path / "file")]) == 2
    assert "it is no directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["TR-99"], "no entry matches 'TR-99'; did you mean"),
        (["TR-*"], "--page is about one requirement or known defect, and TR-* is of TR-01, TR-02"),
        (["TR-01", "--full"], "--full is about the text"),
        (["TR-01", "--kafka", "4.4.0"], "--kafka is about the text: --page has every release line"),
        (["TR-01", "--runs", "no-such-runs"], "no-such-runs does not exist"),
    ],
)
def test_what_is_no_page_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert main(["explain", *arguments, "--page", str(tmp_path / "page.html")]) == 2
    assert says in capsys.readouterr().err
    assert not files_of(tmp_path)


def test_a_page_alone_is_one_file_without_ways_to_others(tmp_path: Path) -> None:
    assert main(["explain", "TR-01", "--page", str(tmp_path / "page.html")]) == 0
    told = PageReader((tmp_path / "page.html").read_text(encoding="utf-8"))
    here = [href for href in told.with_attribute("href") if href.startswith("#")]
    assert here
    assert {href.partition("/")[0] for href in told.with_attribute("href") if href not in here} == {"https:"}
    assert "no runs were given" in " ".join(one.words for one in told.named("p"))


def test_a_page_alone_tells_how_the_newest_runs_have_ended(tmp_path: Path) -> None:
    write_golden(of_catalogue(loss()), tmp_path / "runs")
    page = tmp_path / "page.html"
    assert main(["explain", "TR-01", "--page", str(page), "--runs", str(tmp_path / "runs")]) == 0
    told = PageReader(page.read_text(encoding="utf-8"))
    assert [row.words.split()[:2] for row in told.named("tr") if "/zookeeper" in row.words] == [
        ["0.10.2.2/zookeeper", "Conforms"]
    ]
    assert "no runs were given" not in " ".join(one.words for one in told.named("p"))


def test_runs_are_told_on_a_page_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "TR-01", "--runs", "runs"]) == 2
    assert "--runs is about the page, which tells how runs have ended: give --page too" in capsys.readouterr().err


def test_a_row_without_entries_of_its_own_has_a_page_too(tmp_path: Path) -> None:
    assert main(["explain", "hw-09", "--page", str(tmp_path / "page.html")]) == 0
    told = PageReader((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "held against every replica and every frame of every run" in " ".join(one.words for one in told.named("p"))


def test_one_entry_of_a_row_is_shown_alone(tmp_path: Path) -> None:
    assert main(["explain", "AC-05/back-in-time", "--page", str(tmp_path / "page.html")]) == 0
    told = PageReader((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "AC-05/back-in-time" in told.with_attribute("id")
    assert len([one for one in told.named("section") if one.attributes.get("class") == "scenario"]) == 1


def test_the_newest_run_of_a_line_is_told_with_its_report(site: Path) -> None:
    told = PageReader((site / "requirements" / "TR-01.html").read_text(encoding="utf-8"))
    rows = [row.words for row in told.named("tr") if "/zookeeper" in row.words or "/kraft" in row.words]
    assert [row.split()[:2] for row in rows] == [
        ["0.10.2.2/zookeeper", "Conforms"],
        ["3.9.1/kraft", "Deviates"],
        ["4.3.1/kraft", "Conforms"],
    ]
    assert told.with_attribute("href").count("../../runs/report.html") == 3
    assert "no runs were given" not in " ".join(one.words for one in told.named("p"))


def test_of_two_runs_of_a_line_the_later_one_is_taken(tmp_path: Path) -> None:
    for golden, started in ((loss(), "2026-11-20T10:00:00Z"), (deviation(), "2026-11-22T10:00:00Z")):
        run = golden.run | {"kafka": "4.3.1", "metadata": "kraft", "started": started}
        write_golden(of_catalogue(replace(golden, run=run)), tmp_path / started[:10])
    found = newest_runs([tmp_path])
    assert list(found) == [("TR-01", "4.3.1/kraft")]
    assert found["TR-01", "4.3.1/kraft"].path.parent.name == "2026-11-22"


def test_a_directory_without_runs_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["site", str(tmp_path / "site"), "--runs", str(tmp_path / "none")]) == 2
    assert "none does not exist" in capsys.readouterr().err
    assert not (tmp_path / "site" / "index.html").exists()


def test_a_run_that_cannot_be_read_is_left_out_and_named(tmp_path: Path) -> None:
    for golden, folder in ((loss(), "whole"), (deviation(), "damaged")):
        write_golden(of_catalogue(replace(golden, run=golden.run | {"kafka": "4.3.1"})), tmp_path / folder)
    (damaged,) = (tmp_path / "damaged").glob("*/run.json")
    damaged.write_text("{")
    complaints: list[str] = []
    (damaged.parent).rename(tmp_path / "whole" / "damaged")
    assert len(newest_runs([tmp_path / "whole"], complaints.append)) == 1
    assert len(complaints) == 1
    assert "damaged" in complaints[0]
