"""Does a page of many runs stay small? All but a few runs have a page of their own, and every link leads to one."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from conformance.record.verdict import Conformance
from reports import run_pages, write_report
from reports.html import OPENED_MAX
from reports.load import load_runs
from reports.run_pages import RUNS_IN_PAGE_MAX, folder_name, runs_apart
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from pathlib import Path

KEPT, DEVIATION, LOST_AS_PREDICTED = 1, 5, 0
KEPT_RUNS, DEVIATIONS = RUNS_IN_PAGE_MAX, OPENED_MAX + 1


@pytest.fixture(scope="module")
def many(golden_paths: list[Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """More runs than one page tells: nine deviate, all others conform and lost nothing."""
    folder = tmp_path_factory.mktemp("many")
    paths = []
    for golden, times in ((KEPT, KEPT_RUNS), (DEVIATION, DEVIATIONS)):
        for number in range(times):
            paths.append(folder / f"{golden}-{number:03}")
            shutil.copytree(golden_paths[golden], paths[-1])
    return paths


@pytest.fixture(scope="module")
def written(many: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(many, tmp_path_factory.mktemp("written") / "report.html")


def read(page: Path) -> PageReader:
    return PageReader(page.read_text(encoding="utf-8"))


def test_few_runs_are_told_in_one_page(many: list[Path]) -> None:
    runs = load_runs(many)
    assert runs_apart(runs[:RUNS_IN_PAGE_MAX]) == ()
    assert len(runs_apart(runs)) == len(runs) - OPENED_MAX


def test_the_first_runs_that_need_to_be_looked_at_stay_in_the_page_and_every_run_is_listed_there(written: Path) -> None:
    reader = read(written)
    told = [item for item in reader.named("details") if item.attributes.get("class", "").startswith("run")]
    listed = [item for item in reader.named("div") if item.attributes.get("class", "").startswith("line apart")]
    assert (len(told), len(listed)) == (OPENED_MAX, KEPT_RUNS + 1)
    assert all("open" in item.attributes for item in told)
    assert reader.named("main")[0].attributes == {"class": "many"}
    anchors = {href[1:] for href in reader.with_attribute("href") if href.startswith("#")}
    assert anchors <= set(reader.with_attribute("id"))


def test_runs_that_were_not_run_have_no_page_and_those_that_deviate_stay_first(
    many: list[Path], golden_paths: list[Path]
) -> None:
    runs = load_runs(many)
    not_run = replace(runs[0], verdict=replace(runs[0].verdict, conformance=Conformance.NOT_RUN))
    assert runs_apart([*runs[:RUNS_IN_PAGE_MAX], *[not_run] * 9]) == ()
    (lost,) = load_runs([golden_paths[LOST_AS_PREDICTED]])
    apart = runs_apart([*[replace(lost, anchor=f"lost-{n}") for n in range(OPENED_MAX)], *runs, not_run])
    assert {run.anchor for run in apart if run.anchor.startswith("lost")} == {f"lost-{n}" for n in range(OPENED_MAX)}
    assert len([run for run in apart if run.verdict.conformance is Conformance.DEVIATES]) == DEVIATIONS - OPENED_MAX
    assert not_run not in apart


def test_a_run_leads_to_its_page_and_from_there_back_and_to_its_evidence(written: Path) -> None:
    pages = [href for href in read(written).with_attribute("href") if href.startswith("report-runs/")]
    assert len(pages) == len(set(pages)) == KEPT_RUNS + 1
    assert {page.name for page in (written.parent / "report-runs").iterdir()} == {one.split("/")[1] for one in pages}
    page = written.parent / pages[0]
    own = read(page)
    (back,) = (href for href in own.with_attribute("href") if href.startswith("../report.html#"))
    assert back.partition("#")[2] in read(written).with_attribute("id")
    files = [href for href in own.with_attribute("href") if href.endswith(("prediction.json", "server.log"))]
    assert files
    assert all((page.parent / unquote(href)).exists() for href in files)
    assert [item for item in own.named("details") if item.attributes.get("class") == "stills"]


def test_pages_beside_each_other_have_folders_of_their_own(
    many: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("a.html", "a.htm", "a.htm.html", "a", ".html", "a.html.html")
    assert folder_name("a.html") == "a-runs"
    assert len(set(map(folder_name, names))) == len(names)
    monkeypatch.setattr(run_pages, "RUNS_IN_PAGE_MAX", 2)
    first, second = (
        write_report(many[start : start + 3], tmp_path / f"a.{end}") for start, end in ((0, "html"), (3, "htm"))
    )
    for page in (first, second):
        pages = [href for href in read(page).with_attribute("href") if href.startswith("a") and href.endswith(".html")]
        assert len(pages) == 3
        assert all((tmp_path / href).is_file() for href in pages)


def test_a_shorter_report_removes_the_pages_of_a_longer_one_and_leaves_nothing_half_written(
    many: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_pages, "RUNS_IN_PAGE_MAX", 2)
    out = write_report(many[:4], tmp_path / "all.html")
    note = tmp_path / "all-runs" / "note.txt"
    note.write_text("mine", encoding="utf-8")
    assert len(list(note.parent.iterdir())) == 5
    write_report(many[:2], out)
    assert [path.name for path in note.parent.iterdir()] == ["note.txt"]
    note.unlink()
    write_report(many[:2], out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all-runs", "all.html", "junit.xml", "report.json"]
    (tmp_path / "all-runs" / "run-of-mine.html").write_text("mine")
    write_report(many[:2], out)
    assert (tmp_path / "all-runs" / "run-of-mine.html").exists(), "only pages of ours are removed"


def test_a_link_stays_a_link_and_what_is_no_file_stays_what_it_is(golden_paths: list[Path], tmp_path: Path) -> None:
    (tmp_path / "link.html").symlink_to(tmp_path / "there.html")
    write_report(golden_paths[:1], tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink()
    assert "</html>" in (tmp_path / "there.html").read_text(encoding="utf-8")

    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    run_pages._put(tmp_path / "pipe", "a page")
    assert os.read(reading, 99) == b"a page"
    os.close(reading)
    assert (tmp_path / "pipe").is_fifo()
