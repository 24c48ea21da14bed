"""Is a run directory read tolerantly, and is a broken one named instead of dropped?"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from conformance.record.verdict import Conformance, PromiseKept
from reports.checkpoint_table import checkpoint_table
from reports.load import load_run, load_runs
from reports.model import CheckpointView, ComparisonView, FinalLogs
from reports.picture.cells import draw_cells

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def run(tmp_path: Path, golden_paths: list[Path]) -> Path:
    return shutil.copytree(golden_paths[0], tmp_path / "run")


def test_the_golden_loss_is_read_whole(golden_paths: list[Path]) -> None:
    view = load_run(golden_paths[0])
    assert (view.scenario, view.kafka, view.variant) == ("TR-01", "0.10.2.2", "unsafe")
    assert view.verdict.conformance is Conformance.CONFORMS
    assert view.verdict.promise is PromiseKept.BROKEN_AS_PREDICTED
    assert [row.measured_fate for row in view.records.rows] == ["present", "lost", "present"]
    assert [(ghost.label, ghost.offset) for ghost in view.final_logs.ghosts] == [("m1", 1)]
    assert [frame.label for frame in view.story.held_frames] == ["FETCH(2) response held", "FETCH(1) request held"]
    assert [frame.ending for frame in view.story.held_frames] == ["discharged", "discharged"]


def test_released_frames_end_where_they_were_released(golden_paths: list[Path]) -> None:
    frames = load_run(golden_paths[4]).story.held_frames
    assert [frame.ending for frame in frames] == ["released"] * 3
    assert [(frame.caught.step, frame.ended.step if frame.ended else None) for frame in frames] == [
        (1, 5),
        (5, 8),
        (8, 10),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "schedule.json",
        "prediction/prediction.json",
        "observations.ndjson",
        "timeline.ndjson",
        "reconciliation/counts.json",
        "reconciliation/samples.json",
        "reconciliation/checkpoints.json",
        "replica_logs/replica_logs.parquet",
        "reconciliation/records.json",
        "reconciliation/questions.json",
    ],
)
def test_a_missing_part_leaves_the_verdict_alone(run: Path, name: str) -> None:
    (run / name).unlink(missing_ok=True)
    assert load_run(run).verdict.conformance is Conformance.CONFORMS


@pytest.mark.parametrize(
    "name",
    [
        "run.json",
        "verdict.json",
        "schedule.json",
        "prediction/prediction.json",
        "reconciliation/checkpoints.json",
        "replica_logs/replica_logs.parquet",
        "reconciliation/records.json",
    ],
)
@pytest.mark.parametrize("content", ["{ broken", "42", ""])
def test_a_broken_part_is_a_harness_error_that_names_the_file(run: Path, name: str, content: str) -> None:
    (run / name).write_text(content)
    view = load_run(run)
    assert view.verdict.conformance is Conformance.HARNESS_ERROR
    assert view.verdict.promise is None
    assert name.rpartition("/")[2] in view.verdict.reason


def test_parts_of_the_wrong_shape_are_a_harness_error(run: Path) -> None:
    (run / "schedule.json").write_text(json.dumps({"steps": [["not", "a", "step"]]}))
    view = load_run(run)
    assert view.verdict.conformance is Conformance.HARNESS_ERROR
    assert view.kafka == "0.10.2.2"


def test_an_unknown_verdict_word_is_a_harness_error(run: Path) -> None:
    (run / "verdict.json").write_text(json.dumps({"conformance": "PERFECT", "promise": "KEPT"}))
    assert "PERFECT" in load_run(run).verdict.reason


def test_a_last_line_cut_short_is_left_out_and_a_broken_middle_line_is_not(run: Path) -> None:
    path = run / "timeline.ndjson"
    whole = path.read_text()
    path.write_text(whole + '{"t_ns": 12, "ev')
    assert load_run(run).verdict.conformance is Conformance.CONFORMS
    path.write_text('{"t_ns"\n' + whole)
    assert "timeline.ndjson, line 1" in load_run(run).verdict.reason


def test_no_directory_at_all_is_a_harness_error(tmp_path: Path) -> None:
    view = load_run(tmp_path / "nowhere")
    assert view.scenario == "nowhere"
    assert "no run.json" in view.verdict.reason


def test_a_run_that_was_never_judged_says_what_stopped_it(golden_paths: list[Path]) -> None:
    verdict = load_run(golden_paths[6]).verdict
    assert verdict.conformance is Conformance.HARNESS_ERROR
    assert "caught nothing" in verdict.reason


def test_without_a_judge_no_checkpoint_is_compared(run: Path) -> None:
    (run / "reconciliation" / "checkpoints.json").unlink()
    assert load_run(run).checkpoints == ()


def test_a_run_of_format_1_has_its_classes_from_the_samples(run: Path) -> None:
    records = json.loads((run / "reconciliation" / "records.json").read_text())
    (run / "reconciliation" / "records.json").unlink()
    samples: dict[str, list[object]] = {"deviations": [], "divergences": []}
    for one in records:
        row = {"record_id": one["record_id"], "first_offset": one["offset"], "copies": one["copies"]}
        samples.setdefault(one["measured"], []).append(row | {"outcome": one["outcome"], "error": one["error"]})
    (run / "reconciliation" / "samples.json").write_text(json.dumps(samples))
    assert [row.measured_fate for row in load_run(run).records.rows] == ["present", "lost", "present"]


def test_anchors_of_equal_runs_differ(golden_paths: list[Path]) -> None:
    anchors = [view.anchor for view in load_runs([golden_paths[0]] * 3)]
    assert len(set(anchors)) == 3


def test_a_new_leader_that_no_event_announced_is_marked_all_the_same(run: Path) -> None:
    path = run / "timeline.ndjson"
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if "elected" not in line))
    elected = [mark for mark in load_run(run).story.marks if mark.kind == "elected"]
    assert [(mark.broker, mark.at.step) for mark in elected] == [(2, 9)]


CAUGHT = '"text": "refetch: caught"'


def test_a_held_frame_shows_the_offset_that_was_really_caught(run: Path) -> None:
    path = run / "timeline.ndjson"
    path.write_text(
        path.read_text().replace("hold caught refetch", "refetch: caught").replace(CAUGHT, f'{CAUGHT}, "offset": 7')
    )
    assert load_run(run).story.held_frames[1].label == "FETCH(7) request held"


def test_a_variant_is_named_once(golden_paths: list[Path]) -> None:
    view = load_run(golden_paths[0])
    assert (view.name, view.scenario, view.variant) == ("TR-01/unsafe", "TR-01", "unsafe")


def test_the_judges_words_become_columns() -> None:
    whats = ("broker 1 log end offset", "broker 1 alive", "isr", "remote log end offset of broker 2 (derived)")
    rows = tuple(ComparisonView(what, "1", "1", agrees=True) for what in whats)
    table = checkpoint_table([CheckpointView(1, "end", rows)])
    assert [(head.title, head.columns) for head in table.heads] == [
        ("broker 1", ("LEO", "alive")),
        ("partition", ("ISR",)),
        ("remote LEO (derived)", ("of 2",)),
    ]


@pytest.mark.parametrize(
    ("before", "after"), [('"t_ns": 5', '"t_ns": "soon", "was": 5'), ('"leader": 1', '"leader": "one"')]
)
def test_words_where_numbers_belong_are_a_harness_error(run: Path, before: str, after: str) -> None:
    for name in ("timeline.ndjson", "observations.ndjson"):
        (run / name).write_text((run / name).read_text().replace(before, after))
    verdict = load_run(run).verdict
    assert verdict.conformance is Conformance.HARNESS_ERROR
    assert "Expected `int" in verdict.reason


def test_replicas_that_hold_nothing_are_shown_as_empty(run: Path) -> None:
    table = pq.read_table(run / "replica_logs" / "replica_logs.parquet")
    pq.write_table(table.slice(0, 0), run / "replica_logs" / "replica_logs.parquet")
    final = load_run(run).final_logs
    assert final.measured
    assert [(log.broker, log.entries) for log in final.logs] == [(1, ()), (2, ())]
    assert "broker 2" in draw_cells(FinalLogs(final.logs, measured=True), "p")


def test_a_run_names_the_runs_before_it_on_its_cluster_and_what_became_of_that(run: Path) -> None:
    about = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(about | {"cluster_runs": ["one", "two"], "not_healed": "broker 2 ended"}))
    identity = load_run(run).identity

    assert identity["Runs before on its cluster"] == "one, two"
    assert identity["The cluster afterwards"] == "broker 2 ended"
