"""Is what a release does not have said once, or left out, instead of standing empty everywhere?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from oracle.vocabulary import ELIGIBLE_LEADER_REPLICAS
from reports.checkpoint_table import checkpoint_table
from reports.html import render_html
from reports.load import load_run
from reports.model import CheckpointView, ComparisonView, EntryView, FinalLogs, ReplicaLogView
from reports.picture.cells import WITH_EPOCHS, WITHOUT_EPOCHS, draw_cells, log_caption
from tests.reports.golden_runs import kept, loss
from tests.reports.golden_writer import write_golden

if TYPE_CHECKING:
    from pathlib import Path


def columns(*measured: str, has_elr: bool) -> tuple[str, ...]:
    """Return the columns of checkpoints at which nobody was predicted to be eligible, and these were measured."""
    views = [
        CheckpointView(
            number,
            "",
            (ComparisonView("isr", "{1}", "{1}", agrees=True), ComparisonView("elr", "{}", elr, agrees=elr == "{}")),
        )
        for number, elr in enumerate(measured, start=1)
    ]
    (head,) = checkpoint_table(views, has_elr=has_elr).heads
    return head.columns


@pytest.mark.parametrize(
    ("has_elr", "measured", "expected"),
    [
        (False, ("{}", "{}"), ("ISR",)),
        (False, ("{}", "{2}"), ("ISR", "ELR")),  # what cannot be is shown
        (True, ("{}",), ("ISR", "ELR")),
    ],
)
def test_the_elr_has_a_column_where_there_is_one(
    has_elr: bool, measured: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert columns(*measured, has_elr=has_elr) == expected


@pytest.mark.parametrize(
    ("rules", "has_elr"), [(["truncate-on-fetch"], False), (["truncate-on-fetch", ELIGIBLE_LEADER_REPLICAS], True)]
)
def test_the_rules_of_the_prediction_tell_whether_there_is_an_elr(
    tmp_path: Path, rules: list[str], has_elr: bool
) -> None:
    path = write_golden(kept(), tmp_path)
    file = path / "prediction" / "prediction.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"rules": rules}))
    assert load_run(path).has_elr is has_elr


def test_the_page_asks_for_what_its_cluster_has(tmp_path: Path) -> None:
    run = load_run(write_golden(kept(), tmp_path))
    elr = ComparisonView("elr", "{}", "{}", agrees=True)
    shown = replace(run, checkpoints=(replace(run.checkpoints[0], rows=(*run.checkpoints[0].rows, elr)),))
    assert '<th scope="col">ELR</th>' in render_html([replace(shown, has_elr=True)], tmp_path)
    assert '<th scope="col">ELR</th>' not in render_html([replace(shown, has_elr=False)], tmp_path)


def logs(*epochs: int | None) -> FinalLogs:
    entries = tuple(EntryView(offset, f"m{offset}", epoch) for offset, epoch in enumerate(epochs))
    return FinalLogs((ReplicaLogView(1, entries, len(epochs)),), measured=True)


def test_a_format_without_epochs_says_so_once() -> None:
    assert "epoch" not in draw_cells(logs(None, None), "p")
    assert log_caption(logs(None, None)) == WITHOUT_EPOCHS
    assert "This format has no epochs" in WITHOUT_EPOCHS


def test_a_record_without_an_epoch_among_others_is_remarkable() -> None:
    drawn = draw_cells(logs(None, 3), "p")
    assert "no epoch" in drawn
    assert "epoch 3" in drawn
    assert log_caption(logs(None, 3)) == log_caption(logs()) == WITH_EPOCHS


def test_what_was_not_measured_says_so(tmp_path: Path) -> None:
    assert log_caption(replace(logs(None), note="Not measured.")) == "Not measured."
    page = render_html([load_run(write_golden(loss(), tmp_path))], tmp_path)
    assert page.count("This format has no epochs") == 1
    assert "no epoch<" not in page
