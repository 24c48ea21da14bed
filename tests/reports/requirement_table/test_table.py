"""Does the table count every run once, show the worst verdict, and find what differs between rounds?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.record.run import INTERRUPTED
from reports import write_report
from reports.overview import duration_words
from reports.requirement_table import ReleasePage, write_table
from reports.verdict_words import Conformance
from tests.reports.page_reader import PageReader
from tests.reports.requirement_table.small_runs import HEALTHY, ROWS, numbers, seen, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from reports.requirement_table.table import RequirementTable


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two releases; on the older one a scenario deviates in its second round, and another does not apply."""
    old, new = tmp_path / "old", tmp_path / "new"
    write_run(old / "round-1", "a", kafka="0.10.2.2", metadata="zookeeper", promise="BROKEN_AS_PREDICTED")
    write_run(old / "round-2", "b", kafka="0.10.2.2", metadata="zookeeper", conformance="DEVIATES")
    leader_fell = (*HEALTHY, seen({"1": numbers(2, 0), "2": numbers(2, 0)}))
    write_run(new / "round-1", "c", observations=leader_fell)
    write_run(new / "round-1", "d", scenario="HW-09", sources=["HW-09"], conformance="NOT_RUN", promise=None)
    write_run(new / "round-1", "e", scenario="HW-03/x", conformance="HARNESS_ERROR", promise=None)
    return tmp_path


def written(folder: Path) -> RequirementTable:
    pages = []
    for line in ("new", "old"):
        runs = sorted((folder / line).glob("round-*/*"))
        page = write_report(runs, folder / line / "report.html")
        pages.append(ReleasePage.read(page, runs, again=1 if line == "new" else 0))
    return write_table(pages, ROWS, folder, seed=5, problems=["Kafka 9.9 has no jars."])


def test_columns_are_ordered_by_age_and_totals_count_every_run(folder: Path) -> None:
    table = written(folder)
    assert [column.words for column in table.columns] == ["0.10.2.2 ZooKeeper", "4.3.1 KRaft"]
    assert [(len(t.runs), t.rounds, t.flakes, t.again, t.seconds) for t in table.totals] == [
        (2, 2, 1, 0, 5.0),
        (3, 1, 0, 1, 7.5),
    ]


def test_a_cell_has_every_scenario_that_cites_it_and_the_worst_verdict(folder: Path) -> None:
    cells = {row.requirement.id: row.cells for row in written(folder).rows}
    assert [cell.word for cell in cells["HW-03"]] == [Conformance.DEVIATES, Conformance.HARNESS_ERROR]
    assert [cell.broken_promises for cell in cells["HW-03"]] == [1, 0]
    assert [cell.word for cell in cells["HW-09"]] == [None, Conformance.NOT_RUN]
    assert "HW-10" not in cells


def test_a_verdict_that_differs_between_rounds_is_a_flake(folder: Path) -> None:
    (flake,) = written(folder).flakes
    said = "round 1: CONFORMS, BROKEN_AS_PREDICTED; round 2: DEVIATES, KEPT"
    assert flake.sentence == f"HW-03 on 0.10.2.2 ZooKeeper: {said}"


def test_a_run_that_was_cut_short_is_no_flake(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / f"round-{number}", "a") for number in (1, 2, 3, 4)]
    interrupted, killed, failed = runs[1:]
    for run, why in ((interrupted, INTERRUPTED), (failed, "a broker was lost")):
        ended_with(run, why)
    (killed / "verdict.json").unlink()
    page = write_report(runs, tmp_path / "report.html")
    table = write_table([ReleasePage.read(page, runs)], ROWS, tmp_path)
    assert [run.conformance for run in table.runs] == [Conformance.CONFORMS, *[Conformance.HARNESS_ERROR] * 3]
    (flake,) = table.flakes
    assert flake.sentence.endswith("round 1: CONFORMS, KEPT; round 4: HARNESS_ERROR, NOT_JUDGED")


def test_a_run_that_deviated_before_it_was_cut_short_is_a_flake(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / f"round-{number}", "a") for number in (1, 2)]
    ended_with(runs[1], INTERRUPTED, "DEVIATES")
    page = write_report(runs, tmp_path / "report.html")
    (flake,) = write_table([ReleasePage.read(page, runs)], ROWS, tmp_path).flakes
    assert flake.sentence.endswith("round 1: CONFORMS, KEPT; round 2: DEVIATES, NOT_JUDGED")


def ended_with(run: Path, why: str, conformance: str = "HARNESS_ERROR") -> None:
    """Make a run one that the tester could not finish."""
    about = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(about | {"harness_failure": {"kind": "HARNESS_ERROR", "message": why}}))
    verdict = {"conformance": conformance, "promise": None, "reason": why}
    (run / "verdict.json").write_text(json.dumps(verdict))


def test_what_every_run_is_held_against_is_counted_where_the_tester_did_not_fail(folder: Path) -> None:
    table = written(folder)
    held = {row.requirement.id: [(h.probes, len(h.broken)) for h in row.held] for row in table.every_run}
    assert held == {"HW-01": [(4, 0), (4, 0)], "HW-09": [(0, 0), (0, 1)], "HW-10": [(2, 0), (1, 0)]}
    assert table.broken_in_every_run == ("HW-09: after step 1: the high watermark of leader 1 fell from 1 to 0",)


def test_every_link_of_the_page_leads_somewhere(folder: Path) -> None:
    written(folder)
    page = PageReader((folder / "matrix.html").read_text(encoding="utf-8"))
    links = {item.attributes["href"] for item in page.named("a") if not item.attributes["href"].startswith("#")}
    assert len({link for link in links if "#" in link}) == 5
    for link in links:
        target, _, anchor = link.partition("#")
        ids = PageReader((folder / target).read_text(encoding="utf-8")).with_attribute("id")
        assert not anchor or anchor in ids


def test_the_page_says_why_something_was_not_run_and_what_could_not_be_tried(folder: Path) -> None:
    written(folder)
    text = (folder / "matrix.html").read_text(encoding="utf-8")
    assert "HW-09: because of d" in text
    assert "Kafka 9.9 has no jars." in text
    assert "2 of 4 runs behave as modelled on 2 release lines" in text


def test_the_table_says_which_releases_ran_with_something_that_is_not_theirs(tmp_path: Path) -> None:
    old, new = write_run(tmp_path, "a", kafka="2.0.1"), write_run(tmp_path, "b")
    about = json.loads((old / "run.json").read_text())
    (old / "run.json").write_text(json.dumps(about | {"quirks": ["ZooKeeper client 3.5.9"]}))
    page = write_report([new, old], tmp_path / "report.html")
    write_table([ReleasePage.read(page, [new, old])], ROWS, tmp_path)

    shown = PageReader((tmp_path / "matrix.html").read_text(encoding="utf-8"))
    assert "2.0.1: ZooKeeper client 3.5.9" in {item.words for item in shown.named("dd")}
    assert "### Not as released\n\n- 2.0.1: ZooKeeper client 3.5.9\n" in (tmp_path / "matrix.md").read_text()
    columns = json.loads((tmp_path / "matrix.json").read_text())["columns"]
    assert [(column["kafka"], column["quirks"]) for column in columns] == [
        ("2.0.1", ["ZooKeeper client 3.5.9"]),
        ("4.3.1", []),
    ]

    write_table([ReleasePage.read(page, [new])], ROWS, tmp_path)
    assert all("Not as released" not in (tmp_path / name).read_text() for name in ("matrix.html", "matrix.md"))


def test_an_entry_that_was_left_out_for_two_reasons_is_one_entry(tmp_path: Path) -> None:
    def left_out(name: str, kafka: str, scenario: str = "HW-09") -> Path:
        return write_run(tmp_path, name, scenario=scenario, kafka=kafka, conformance="NOT_RUN", promise=None)

    runs = [left_out("a", "4.3.1"), left_out("b", "3.9.2")]
    page = write_report(runs, tmp_path / "report.html")
    write_table([ReleasePage.read(page, runs)], ROWS, tmp_path)
    shown = PageReader((tmp_path / "matrix.html").read_text(encoding="utf-8"))
    words = {item.words for name in ("summary", "li") for item in shown.named(name)}
    assert "1 entry that does not apply to a release" in words
    assert "HW-09: because of b (3.9.2 KRaft); because of a (4.3.1 KRaft)" in words

    runs.append(left_out("c", "4.3.1", "HW-03"))
    write_report(runs, page)
    write_table([ReleasePage.read(page, runs)], ROWS, tmp_path)
    assert "2 entries that do not apply" in (tmp_path / "matrix.html").read_text(encoding="utf-8")


def test_what_is_to_be_looked_at_is_not_said_to_be_otherwise_than_predicted(folder: Path) -> None:
    written(folder)
    for name, heading in (("matrix.html", '<h2 id="bad">To be looked at</h2>'), ("matrix.md", "### To be looked at")):
        text = (folder / name).read_text(encoding="utf-8")
        assert heading in text
        assert "Not as predicted" not in text
    assert "- HARNESS_ERROR HW-03/x on 4.3.1 KRaft, round 1: because of e" in text


def test_a_problem_is_one_plain_line_of_the_summary(tmp_path: Path) -> None:
    run = write_run(tmp_path / "round-1", "a")
    page = write_report([run], tmp_path / "report.html")
    write_table([ReleasePage.read(page, [run])], ROWS, tmp_path, problems=["KeyError:\n<b>4.3</b> | x"])
    assert "\n> KeyError: &lt;b>4.3&lt;/b> \\| x\n" in (tmp_path / "matrix.md").read_text(encoding="utf-8")


def test_it_is_said_that_a_verdict_is_about_the_model(folder: Path) -> None:
    written(folder)
    for name in ("matrix.html", "matrix.json", "matrix.md"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "some releases are known not to meet one, and are predicted not to" in text
        assert "runs conform on" not in text


def test_a_run_that_an_older_tester_judged_counts_nowhere_and_is_said(tmp_path: Path) -> None:
    run = write_run(tmp_path / "round-1", "a")
    verdict = json.loads((run / "verdict.json").read_text())
    (run / "verdict.json").write_text(json.dumps(verdict | {"every_run": []}))
    page = write_report([run], tmp_path / "report.html")
    table = write_table([ReleasePage.read(page, [run])], ROWS, tmp_path)
    (problem,) = table.problems
    nowhere = "it counts nowhere in HW-01, HW-09, HW-10: an older tester judged it"
    assert problem.startswith(f"HW-03 on 4.3.1 KRaft, round 1: {nowhere}")
    assert [row.held[0].observations for row in table.every_run] == [0, 0, 0]
    assert "counts nowhere" in (tmp_path / "matrix.html").read_text(encoding="utf-8")


def test_the_json_has_what_the_page_has(folder: Path) -> None:
    written(folder)
    table = json.loads((folder / "matrix.json").read_text(encoding="utf-8"))
    assert [column["seconds_of_rounds"] for column in table["columns"]] == [[2.5, 2.5], [7.5]]
    assert ([column["entries"] for column in table["columns"]], table["seconds"]) == ([1, 3], 12.5)
    assert (table["seed"], [column["flakes"] for column in table["columns"]]) == (5, [1, 0])
    cell = next(row for row in table["requirements"] if row["id"] == "HW-03")["cells"][0]
    assert [(run["conformance"], run["round"]) for run in cell["runs"]] == [("DEVIATES", 2), ("CONFORMS", 1)]
    assert cell["runs"][0]["report"].startswith("old/report.html#run-hw-03")
    assert (folder / cell["runs"][0]["run"] / "run.json").exists()


def test_an_entry_that_the_model_does_not_predict_is_marked(tmp_path: Path) -> None:
    run = write_run(tmp_path / "line" / "round-1", "a", scenario="HW-03/files")
    (run / "run.json").write_text(json.dumps(json.loads((run / "run.json").read_text()) | {"basis": "documented"}))
    page = write_report([run], tmp_path / "line" / "report.html")
    write_table([ReleasePage.read(page, [run])], ROWS, tmp_path)

    heads = [one.words for one in PageReader((tmp_path / "matrix.html").read_text(encoding="utf-8")).named("th")]
    assert any(words.startswith("HW-03/files") and words.endswith("(documented)") for words in heads)
    told = json.loads((tmp_path / "matrix.json").read_text())["requirements"]
    assert {one["basis"] for row in told for cell in row["cells"] for one in cell["runs"]} == {"documented"}
    summary = (tmp_path / "matrix.md").read_text(encoding="utf-8")
    assert "### Not predicted by the model\n\n- documented: HW-03/files\n" in summary


def test_the_summary_is_one_grid_an_area_with_nothing_left_out(folder: Path) -> None:
    written(folder)
    summary = (folder / "matrix.md").read_text(encoding="utf-8")
    grids = [block.splitlines() for block in summary.split("\n\n") if block.startswith("|")]
    assert [len({line.count(" | ") for line in grid}) for grid in grids] == [1, 1, 1]
    assert "| HW-03 Three. | conforms 1, deviates 1; promise broken in 1 | conforms 1, harness error 1 |" in summary
    assert "- DEVIATES HW-03 on 0.10.2.2 ZooKeeper, round 2: because of b" in summary
    assert "| 0.10.2.2 ZooKeeper | process | 1 | 2 | 1 | 1 | 0 | 0 | 5.0 s (2.5 s + 2.5 s) | 2 | 1 | 0 |" in summary
    assert "> Kafka 9.9 has no jars." in summary


def test_a_run_that_cannot_be_read_is_a_harness_error_in_the_table(tmp_path: Path) -> None:
    broken = write_run(tmp_path / "round-1", "a")
    (broken / "verdict.json").write_text("{")
    page = write_report([broken], tmp_path / "report.html")
    (row, *_) = write_table([ReleasePage.read(page, [broken])], ROWS, tmp_path).rows
    assert row.cells[0].word is Conformance.HARNESS_ERROR


@pytest.mark.parametrize(
    ("seconds", "words"), [(2.54, "2.5 s"), (125, "2 min 5 s"), (5999, "99 min 59 s"), (7500, "2 h 5 min")]
)
def test_a_long_time_is_said_in_hours(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words
