"""Is a page of many runs an overview first: by area, what needs to be looked at open, the rest folded away?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.record.verdict import Conformance, PromiseKept
from reports import write_report
from reports.chapters import FAILING, OTHER, TITLES, area_of, chapters_of, is_printed
from reports.load import load_runs
from reports.overview import place_words, tally_words, varying
from reports.promises import lost_records
from tests.reports.page_reader import PageReader
from tests.reports.requirement_table.small_runs import write_run

if TYPE_CHECKING:
    from pathlib import Path

    from reports.model import RunView


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    cells = [
        write_run(tmp_path / "round-1", f"cell-{number}", scenario=f"EL-03/{number}", conformance=word)
        for number, word in enumerate(["CONFORMS"] * 11 + ["DEVIATES"])
    ]
    return [
        write_run(tmp_path / "round-1", "a", scenario="HW-03"),
        *cells,
        write_run(tmp_path / "round-1", "b", scenario="EL-01", promise="BROKEN_AS_PREDICTED"),
        write_run(tmp_path / "round-1", "c", scenario="HW-09", conformance="NOT_RUN", promise=None),
        write_run(tmp_path / "round-1", "d", scenario="my/own"),
        write_run(tmp_path / "round-2", "e", scenario="HW-03"),
    ]


@pytest.fixture
def runs(paths: list[Path]) -> tuple[RunView, ...]:
    return load_runs(paths)


@pytest.fixture
def page(paths: list[Path], tmp_path: Path) -> PageReader:
    return PageReader(write_report(paths, tmp_path / "report.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("scenario", "area"), [("HW-03", "HW"), ("EL-03/acks=1", "EL"), ("regressions/KAFKA-1", "regressions"), ("x", "")]
)
def test_an_entry_s_name_begins_with_its_area(scenario: str, area: str) -> None:
    assert area_of(scenario) == area


def test_runs_of_one_area_and_of_one_entry_stand_together(runs: tuple[RunView, ...]) -> None:
    chapters = chapters_of(runs)

    assert [chapter.title for chapter in chapters] == [TITLES["HW"], TITLES["EL"], OTHER]
    assert [run.run for run in chapters[0].shelves[0].tally.runs] == ["a", "e"]
    assert [run.run for run in chapters[0].not_run] == ["c"]
    assert [(shelf.title, len(shelf.tally.runs)) for shelf in chapters[1].shelves] == [("", 1), ("EL-03", 12)]


def test_runs_stand_in_the_order_of_their_names_whatever_was_run_first(tmp_path: Path) -> None:
    names = ["regressions/KAFKA-13141", "regressions/KAFKA-7128", "HW-11", "HW-02/leader", "HW-02"]
    paths = [write_run(tmp_path, str(number), scenario=name) for number, name in enumerate(names)]
    told = [run.name for chapter in chapters_of(load_runs(paths)) for run in chapter.tally.runs]

    assert told == ["HW-02", "HW-02/leader", "HW-11", "regressions/KAFKA-7128", "regressions/KAFKA-13141"]


def test_no_run_is_lost_or_told_twice(runs: tuple[RunView, ...], page: PageReader) -> None:
    told = [item.attributes["id"] for item in page.named("article")]

    assert sorted(told) == sorted(run.anchor for run in runs)
    ids = page.with_attribute("id")
    assert len(ids) == len(set(ids))


def is_fold(classes: str | None) -> bool:
    return bool({"run", "shelf"}.intersection((classes or "").split()))


def test_only_a_run_that_fails_is_open_and_so_is_its_shelf(page: PageReader) -> None:
    folds = [item for item in page.named("details") if is_fold(item.attributes.get("class"))]
    opened = [item.words for item in folds if "open" in item.attributes]

    assert len(folds) == 16 + 2
    assert [words[:8] for words in opened] == ["EL-03: 1", "EL-03/11"]


def test_what_fails_stands_first(page: PageReader) -> None:
    titles = [item.words for item in page.named("h2")]
    links = [item for item in page.named("a") if item.parents[-2:] == ("ul", "li") and "header" not in item.parents]

    assert titles[:2] == ["Look here first", "By area"]
    assert links[0].words == "EL-03/11"


def test_the_overview_counts_every_run_once(page: PageReader) -> None:
    (table,) = [item for item in page.named("table") if item.attributes.get("class") == "areas"]

    assert "Elections and the settings that allow them EL 13 12 1 \N{EN DASH} 12 1 32.5 s" in table.words
    assert table.words.endswith("All 17 15 1 1 15 1 42.5 s")


def test_a_page_without_failures_says_so(paths: list[Path], tmp_path: Path) -> None:
    reader = PageReader(write_report([paths[0], paths[-1]], tmp_path / "good.html").read_text(encoding="utf-8"))

    assert "Nothing deviates: what was run went as the model of its release predicts." in [
        item.words for item in reader.named("p")
    ]


def test_a_run_is_told_from_its_like_by_what_differs(runs: tuple[RunView, ...]) -> None:
    assert place_words(runs[0], varying(runs)) == "round 1"
    assert place_words(runs[0], varying(runs[:1])) == ""


def test_a_tally_says_what_broke(runs: tuple[RunView, ...]) -> None:
    elections = chapters_of(runs)[1].tally

    words = "13 runs: conforms 12, deviates 1, promise broken, as predicted: 1; 32.5 s"
    assert tally_words(elections) == words


def test_on_paper_stand_the_runs_that_deviate_or_lost_records(golden_paths: list[Path], tmp_path: Path) -> None:
    runs = load_runs(golden_paths)
    reader = PageReader(write_report(golden_paths, tmp_path / "p.html").read_text(encoding="utf-8"))
    classes = [item.attributes.get("class", "").split() for item in reader.named("details")]
    folded = [each for each in classes if "run" in each]
    taken = [run for run in runs if run.verdict.conformance is not Conformance.NOT_RUN]
    assert len(folded) == len(taken)
    assert sum("unprinted" in each for each in folded) == sum(not is_printed(run) for run in taken) > 0
    assert [is_printed(run) for run in runs if run.verdict.promise is PromiseKept.KEPT] == [False] * 2
    assert all(is_printed(run) for run in runs if run.verdict.conformance in FAILING or lost_records(run))


def test_a_run_alone_is_printed_whole(golden_paths: list[Path], tmp_path: Path) -> None:
    reader = PageReader(write_report(golden_paths[1:2], tmp_path / "p.html").read_text(encoding="utf-8"))
    assert not [item for item in reader.named("details") if "run" in item.attributes.get("class", "").split()]
    assert not [item for item in reader.named("p") if item.attributes.get("class", "").startswith("on-paper")]
