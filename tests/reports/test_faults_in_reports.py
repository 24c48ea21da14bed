"""Are lossy disks, the controller, lag time and open races shown, and only where they were?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from reports import write_report
from reports.load import load_run
from reports.picture.layout import lay_out
from reports.picture.scale import TimeScale
from reports.picture.status import status_of
from reports.story import CONTROLLER
from reports.timeline_svg import describe_story, draw_timeline, picture_table
from reports.verdict_words import decision
from tests.reports import golden_faults
from tests.reports.golden_runs import loss
from tests.reports.golden_writer import write_golden
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reports.model import RunView
    from tests.reports.golden_writer import GoldenRun


@pytest.fixture
def view(tmp_path: Path) -> Callable[[GoldenRun], RunView]:
    return lambda golden: load_run(write_golden(golden, tmp_path))


def drawn(view: RunView) -> ET.Element:
    return ET.fromstring(draw_timeline(view.story, "p"))


def words(view: RunView, css: str = "") -> list[str]:
    texts = [item for item in drawn(view).iter("text") if css in (item.get("class") or "").split() or not css]
    return [item.text or "" for item in texts]


def boxes(view: RunView, css: str) -> list[dict[str, float]]:
    rects = [item for item in drawn(view).iter("rect") if item.get("class") == css]
    return [{name: float(rect.get(name, 0)) for name in ("x", "y", "width", "height")} for rect in rects]


def page(golden: GoldenRun, folder: Path) -> PageReader:
    return PageReader(write_report([write_golden(golden, folder)], folder / "r.html").read_text(encoding="utf-8"))


def test_a_lost_tail_is_marked_with_its_offsets_and_is_no_truncation(view: Callable[[GoldenRun], RunView]) -> None:
    run = view(golden_faults.lost_tail())
    assert words(run, "tail-lost") == ["⌫ lost 1 to 2"]
    assert words(run, "truncated") == ["✂ cut to 1"]


def test_the_records_of_a_lost_tail_are_struck_through_where_they_lay(view: Callable[[GoldenRun], RunView]) -> None:
    run = view(golden_faults.lost_tail())
    lane = lay_out(run.story, TimeScale.of(run.story)).lanes[0]
    assert sorted(words(run, "gone")) == ["m1", "m2"]
    assert len([line for line in drawn(run).iter("line") if line.get("class") == "strike"]) == 2
    block = boxes(run, "vanished")[0]
    assert block["y"] == pytest.approx(lane.offsets.y(3), abs=0.01)
    assert block["y"] + block["height"] == pytest.approx(lane.offsets.y(1), abs=0.01)
    assert "lost by the disk" in words(run)


def test_a_lost_tail_of_format_1_says_from_where_on(tmp_path: Path) -> None:
    path = write_golden(golden_faults.lost_tail(), tmp_path)
    timeline = path / "timeline.ndjson"
    timeline.write_text(timeline.read_text().replace(', "last_offset": 2', ""))
    assert words(load_run(path), "tail-lost") == ["⌫ lost 1 on"]


def test_a_lost_checkpoint_says_how_far_the_high_watermark_fell(view: Callable[[GoldenRun], RunView]) -> None:
    run = view(golden_faults.lost_checkpoint())
    assert words(run, "checkpoint-lost") == ["⊘ lost its HW"]
    assert words(run, "fallen-high-watermark") == ["HW 2 → 0"]
    assert not words(run, "gone")


@pytest.mark.parametrize(
    ("event", "css", "said"),
    [
        ("broker_ended", "ended", "■ ended itself"),
        ("broker_paused", "paused", "‖ paused"),
        ("broker_resumed", "resumed", "▶ resumed"),
        ("broker_isolated", "isolated", "⊗ isolated"),
        ("broker_rejoined", "rejoined", "⊕ rejoined"),
        ("link_cut", "link-cut", "⊗ link cut"),
        ("link_healed", "link-healed", "⊕ link healed"),
    ],
)
def test_own_ends_pauses_and_cut_links_are_marked(tmp_path: Path, event: str, css: str, said: str) -> None:
    path = write_golden(loss(), tmp_path)
    timeline = path / "timeline.ndjson"
    timeline.write_text(timeline.read_text().replace("broker_killed", event))
    assert set(words(load_run(path), css)) == {said}


def test_a_run_without_faults_of_the_disk_shows_none(view: Callable[[GoldenRun], RunView]) -> None:
    run = view(loss())
    assert not boxes(run, "vanished")
    assert not {"controller", "lag time passes", "lost by the disk"} & set(words(run))


def test_the_controller_has_a_lane_with_what_it_decided_and_was_asked_for(view: Callable[[GoldenRun], RunView]) -> None:
    run = view(golden_faults.zombie_leader())
    assert "controller" in words(run, "lane-name")
    assert words(run, "decided") == ["leader 2, ISR {1, 2}", "leader 1, epoch 2, ISR {1, 2}"]
    assert words(run, "election-requested") == ["☆ preferred election asked for"]


def test_a_frame_of_the_controller_lies_between_its_lane_and_the_brokers(view: Callable[[GoldenRun], RunView]) -> None:
    story = view(golden_faults.zombie_leader()).story
    layout = lay_out(story, TimeScale.of(story))
    (bar,) = layout.bars
    controller, broker = layout.lane_of(CONTROLLER), layout.lane_of(2)
    assert controller is not None
    assert broker is not None
    assert broker.bottom < bar.y < controller.top
    assert (bar.frame.label, bar.frame.ends) == ("LeaderAndIsr held", (CONTROLLER, 2))
    assert layout.bottom == controller.bottom


@pytest.mark.parametrize(
    ("point", "ends", "label"),
    [
        ("alter_partition_request", (2, CONTROLLER), "AlterPartition request held"),
        ("alter_partition_response", (CONTROLLER, 2), "AlterPartition response held"),
        ("controller_fetch_response", (CONTROLLER, 2), "metadata FETCH response held"),
    ],
)
def test_frames_to_and_from_the_controller_are_told_apart(
    tmp_path: Path, point: str, ends: tuple[int, int], label: str
) -> None:
    path = write_golden(golden_faults.zombie_leader(), tmp_path)
    schedule = path / "schedule.json"
    schedule.write_text(schedule.read_text().replace("leader_and_isr", point))
    (frame,) = load_run(path).story.held_frames
    assert (frame.ends, frame.label) == (ends, label)


def test_a_leader_that_has_not_heard_of_its_successor_believes_it_leads(view: Callable[[GoldenRun], RunView]) -> None:
    run = view(golden_faults.zombie_leader())
    assert words(run, "believes") == ["★ believes it leads"]
    rows = picture_table(run.story)
    assert [row.number for row in rows if "believes it leads" in row.replicas[1]] == [2, 3, 4, 5]


def test_what_the_deposed_leader_wrote_is_cut_though_no_number_shows_it(view: Callable[[GoldenRun], RunView]) -> None:
    run = view(golden_faults.zombie_leader())
    assert words(run, "truncated") == ["✂ cut z0"]


def test_the_time_that_lag_passes_is_a_band_with_its_seconds(view: Callable[[GoldenRun], RunView]) -> None:
    run = view(golden_faults.lag())
    scale = TimeScale.of(run.story)
    band, sample = boxes(run, "lag")
    assert (band["x"], band["width"]) == (
        pytest.approx(scale.left_of(2), abs=0.01),
        pytest.approx(scale.column, abs=0.01),
    )
    assert sample["width"] < band["width"]
    assert words(run, "lag-words") == ["◷ 5.5 s"]
    assert words(run, "silent") == ["◷ silent"]


def test_new_marks_are_in_the_description_and_in_the_table(view: Callable[[GoldenRun], RunView]) -> None:
    tail, zombie = view(golden_faults.lost_tail()), view(golden_faults.zombie_leader())
    assert "Step 4: broker 1 lost offsets 1 to 2; proof: " in describe_story(tail.story)
    assert "Step 2: preferred election asked for." in describe_story(zombie.story)
    assert "LeaderAndIsr held between broker 2 and the controller, released; proof: " in describe_story(zombie.story)
    assert "LeaderAndIsr held between broker 2 and the controller" in picture_table(zombie.story)[1].events


def test_the_outcome_of_an_open_race_stands_beside_the_verdict(tmp_path: Path) -> None:
    reader = page(golden_faults.open_race(), tmp_path)
    assert "A race was open: the brokers took outcome 2 of 2" in [item.words for item in reader.named("h3")]
    outcomes = [item for item in reader.named("li") if item.attributes.get("class", "").startswith("outcome")]
    assert ["taken" in item.attributes["class"] for item in outcomes] == [False, True]
    assert "✓ measured in this run" in outcomes[1].words
    assert [item.words.rpartition("ends with ")[2] for item in outcomes] == ["m0 lost", "m0 at offset 0"]
    assert golden_faults.SECOND in outcomes[1].words
    answer = next(item.words for item in reader.named("p") if "as predicted, outcome" in item.words)
    assert answer == "4 numbers and 1 record as predicted, outcome 2 of 2"


def test_a_race_whose_outcome_was_not_measured_says_so(tmp_path: Path) -> None:
    reader = page(golden_faults.open_race(is_measured=False), tmp_path)
    assert "A race was open: 2 outcomes, none was measured" in [item.words for item in reader.named("h3")]
    assert not [item for item in reader.elements if item.attributes.get("class") == "outcome taken"]


def test_the_step_of_a_race_is_marked_in_the_picture(view: Callable[[GoldenRun], RunView]) -> None:
    run = view(golden_faults.open_race())
    assert run.story.raced_steps == (0,)
    assert words(run, "race-words") == ["⇄ race"]
    assert not words(replace(run, story=replace(run.story, raced_steps=())), "race-words")


def test_a_run_without_a_race_says_nothing_of_one(tmp_path: Path) -> None:
    reader = page(loss(), tmp_path)
    assert not [item for item in reader.elements if item.attributes.get("class") == "race"]


def test_what_a_schedule_assumes_is_said(tmp_path: Path) -> None:
    path = write_golden(loss(), tmp_path)
    file = path / "prediction" / "prediction.json"
    assumed = [{"step": 1, "text": "step 2 (hold gap) assumes the other order"}]
    file.write_text(json.dumps(json.loads(file.read_text()) | {"assumed": assumed}))
    reader = PageReader(write_report([path], tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "Assumed: step 2 (hold gap) assumes the other order" in [item.words for item in reader.named("p")]


def test_steps_are_linked_and_rules_set_apart_where_a_fate_was_decided() -> None:
    text = "cut on broker 2 at step 4 (kill 1) by truncate-on-fetch; elected at step 9 (start 2) (kraft-controller)"
    assert decision(text, "run", 4) == (
        'cut on broker 2 at <a href="#run-step-4">step 4</a> (kill 1) by '
        '<span class="rule">truncate-on-fetch</span>;<br>elected at step 9 (start 2) '
        '(<span class="rule">kraft-controller</span>)'
    )
    assert decision("<b> by a rule", "run", 4) == "&lt;b&gt; by a rule"


def test_linked_steps_of_the_page_exist(tmp_path: Path) -> None:
    reader = page(golden_faults.lost_tail(), tmp_path)
    links = {href[1:] for href in reader.with_attribute("href") if "-step-" in href}
    assert len(links) == 2
    assert links <= set(reader.with_attribute("id"))


def test_a_topic_that_lost_everything_was_read(tmp_path: Path) -> None:
    golden = golden_faults.lost_tail()
    path = write_golden(replace(golden, records=golden.records[1:], logs={1: [], 2: []}), tmp_path)
    assert [row.measured_fate for row in load_run(path).records.rows] == ["lost", "lost"]
    (path / "reconciliation" / "records.json").unlink()
    assert [row.measured_fate for row in load_run(path).records.rows] == ["", ""]


def test_only_the_deaf_broker_that_led_believes_it_leads(view: Callable[[GoldenRun], RunView]) -> None:
    story = view(golden_faults.zombie_leader()).story
    moment = next(one for one in story.measured if one.step == 2)
    untold = replace(story, stale_leaders=())

    assert ["believes" in status_of(story, moment, broker).words for broker in (1, 2)] == [False, True]
    assert not any("believes" in status_of(untold, moment, broker).words for broker in (1, 2))
