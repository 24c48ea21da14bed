"""Does the settings matrix put each run into its cell, with what was sent and lost?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.record.verdict import PromiseKept
from reports.html import render_html
from reports.load import load_run
from reports.operators import operator_rows
from reports.settings_table import settings_tables
from tests.reports.golden_runs import kept, loss
from tests.reports.golden_writer import write_golden

if TYPE_CHECKING:
    from pathlib import Path

    from reports.model import RunView

NAME = "EL-03/acks={},min={},unclean={},replicas={}"


def views(folder: Path) -> tuple[RunView, RunView, RunView]:
    lost, fine = load_run(write_golden(loss(), folder)), load_run(write_golden(kept(), folder))
    return (
        replace(lost, name=NAME.format("all", 1, "on", 2)),
        replace(fine, name=NAME.format(0, 3, "off", 3), kafka=lost.kafka, metadata=lost.metadata),
        fine,
    )


def test_every_run_of_the_matrix_has_its_cell_and_no_other_run_has_one(tmp_path: Path) -> None:
    (table,) = settings_tables(views(tmp_path))
    assert [len(row.cells) for row in table.rows] == [4, 4]  # rows without a run are left out
    filled = {
        (row.name, column): [(cell.crash, cell.sends, cell.lost) for cell in cells]
        for row in table.rows
        for column, cells in zip(table.columns, row.cells, strict=True)
        if cells
    }
    nothing = ("kills", "", ())  # nothing was sent with acks=0
    assert filled == {
        ("acks=all, min.insync.replicas=1", "2 replicas, unclean election on"): [("kills", "3 acknowledged", ("m1",))],
        ("acks=0, min.insync.replicas=3", "3 replicas, unclean election off"): [nothing],
    }


def test_a_power_failure_stands_in_the_cell_of_its_settings_below_the_kills(tmp_path: Path) -> None:
    lost, fine, _ = views(tmp_path)
    after_kills = replace(fine, name=NAME.format("all", 1, "off", 2))
    after_power = replace(lost, name=after_kills.name.replace("/", "/power-failure,"))
    (table,) = settings_tables([after_power, after_kills])
    filled = [cells for row in table.rows for cells in row.cells if cells]
    assert [[(cell.crash, cell.lost) for cell in cells] for cells in filled] == [
        [("kills", ()), ("power failure", ("m1",))]
    ]
    assert "power failure: 3 acknowledged; lost <strong>m1</strong>" in render_html([after_power], tmp_path)


def test_releases_have_tables_of_their_own_and_the_page_shows_them(tmp_path: Path) -> None:
    runs = views(tmp_path)[:2]
    both = (*runs, replace(runs[1], kafka="9.9.9", anchor="other"))
    assert [table.kafka for table in settings_tables(both)] == ["0.10.2.2 ZooKeeper", "9.9.9 ZooKeeper"]
    page = render_html(both, tmp_path)
    assert "What the settings are worth on 9.9.9 ZooKeeper" in page
    assert "lost <strong>m1</strong>" in page


def test_runs_of_other_scenarios_make_no_table(tmp_path: Path) -> None:
    others = views(tmp_path)[2:]
    assert settings_tables(others) == ()
    assert "What the settings are worth" not in render_html(others, tmp_path)


def test_a_loss_of_acks_1_alone_is_not_held_against_settings_that_keep_acks_all(tmp_path: Path) -> None:
    run = views(tmp_path)[0]
    lost = replace(run, verdict=replace(run.verdict, promise=PromiseKept.ALLOWED_BY_SETTINGS))
    by_leader = replace(lost.records, acks=("1",), rows=tuple(replace(row, acks="1") for row in lost.records.rows))
    (of_all,) = operator_rows([lost])
    (of_one,) = operator_rows([replace(lost, records=by_leader)])
    assert "trade acknowledged records" in of_all.advice
    assert of_one.advice == "Only records sent with acks=1 were lost, which survive no longer than their leader."
    assert [lost.words for lost in of_one.lost] == ["m1 (acks=1)"]


def test_acks_all_kept_its_own_only_where_it_was_sent(tmp_path: Path) -> None:
    run = views(tmp_path)[0]
    lost = replace(run, verdict=replace(run.verdict, promise=PromiseKept.ALLOWED_BY_SETTINGS))
    rows = tuple(replace(row, acks="1" if row.label == "m1" else "all") for row in lost.records.rows)
    (of_both,) = operator_rows([replace(lost, records=replace(lost.records, rows=rows, acks=("all", "1")))])
    assert of_both.settings[0] == "acks=all and 1"
    assert of_both.advice.endswith("acks=all kept its own.")


def test_runs_with_other_acks_are_another_row(tmp_path: Path) -> None:
    kept_all = views(tmp_path)[0]
    lost = replace(kept_all, verdict=replace(kept_all.verdict, promise=PromiseKept.ALLOWED_BY_SETTINGS))
    by_leader = replace(lost, records=replace(lost.records, acks=("1",)))
    of_all = replace(kept_all, verdict=replace(kept_all.verdict, promise=PromiseKept.KEPT))
    worst = {row.settings[0]: row.worst for row in operator_rows([of_all, by_leader])}
    assert worst == {"acks=all": PromiseKept.KEPT, "acks=1": PromiseKept.ALLOWED_BY_SETTINGS}
