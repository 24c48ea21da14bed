"""Does the picture show what happened, in shapes and in words, and nothing that did not?"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from reports.html import render_html
from reports.load import load_run
from reports.model import EntryView, FinalLogs, ReplicaLogView
from reports.picture.cells import cell_of, draw_cells, log_sentences
from reports.picture.layout import lay_out
from reports.picture.scale import CELLS_MAX, TimeScale, shown_offsets
from reports.story import Story
from reports.timeline_svg import describe_story, draw_timeline

if TYPE_CHECKING:
    from reports.model import RunView

LOSS, KEPT, CLEAN_LOSS, DIVERGENCE, HALF_STEPS, DEVIATION = range(6)


@pytest.fixture(scope="module")
def views(golden_paths: list[Path]) -> list[RunView]:
    return [load_run(path) for path in golden_paths]


def words_of(view: RunView) -> list[str]:
    root = ET.fromstring(draw_timeline(view.story, "p"))
    return [element.text or "" for element in root.iter("text")]


@pytest.mark.parametrize("index", range(6))
def test_pictures_are_well_formed_with_title_and_description(views: list[RunView], index: int) -> None:
    view = views[index]
    for picture in (draw_timeline(view.story, "p"), draw_cells(view.final_logs, "p")):
        root = ET.fromstring(picture)
        assert [child.tag for child in root][:2] == ["title", "desc"]
        ids = [element.get("id") for element in root.iter() if element.get("id")]
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize("index", range(6))
def test_nothing_is_drawn_outside_the_sheet(views: list[RunView], index: int) -> None:
    root = ET.fromstring(draw_timeline(views[index].story, "p"))
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for element in root.iter("line"):
        if element.get("transform") is None and element.get("class") not in {None, "log-end-offset", "high-watermark"}:
            assert 0 <= float(element.get("x1", 0)) <= width
            assert 0 <= float(element.get("y2", 0)) <= height


def test_kills_starts_elections_and_cuts_have_words(views: list[RunView]) -> None:
    words = words_of(views[LOSS])
    assert words.count("✕ killed") == 2
    assert words.count("▶ started") == 2
    assert words.count("★ elected") == 1
    assert words.count("✂ cut to 1") == 2
    assert "★ leader, epoch 1" in words


def test_nothing_is_cut_where_nothing_was_truncated(views: list[RunView]) -> None:
    assert not [word for word in words_of(views[KEPT]) if word.startswith("✂")]


def test_only_a_deviation_shows_predicted_numbers(views: list[RunView]) -> None:
    shown = [[word for word in words_of(view) if word.startswith("≠ predicted")] for view in views[:6]]
    assert not any(shown[:DEVIATION])
    assert "≠ predicted LEO 2" in shown[DEVIATION]


def test_what_the_judge_did_not_say_is_not_found_out(views: list[RunView]) -> None:
    untold = replace(views[DEVIATION], story=replace(views[DEVIATION].story, differences=None))
    assert not [word for word in words_of(untold) if word.startswith("≠ predicted")]
    said = "nobody\n  wrote down"
    assert said in render_html([untold], Path())
    assert said not in render_html(views[:6], Path())


def test_held_frames_lie_between_the_lanes_of_follower_and_leader(views: list[RunView]) -> None:
    story = views[CLEAN_LOSS].story
    layout = lay_out(story, TimeScale.of(story))
    assert len(layout.bars) == 3
    lanes = {lane.broker: lane for lane in layout.lanes}
    for bar in layout.bars:
        pair = sorted((lanes[bar.frame.follower], lanes[bar.frame.leader]), key=lambda lane: lane.top)
        assert pair[0].bottom < bar.y < pair[1].top
        assert bar.left < bar.right


def test_held_frames_of_one_gap_never_overlap(views: list[RunView]) -> None:
    story = views[CLEAN_LOSS].story
    layout = lay_out(story, TimeScale.of(story))
    boxes = sorted((bar.y, bar.left, bar.right) for bar in layout.bars)
    assert all(one[0] != two[0] or one[2] < two[1] for one, two in pairwise(boxes))


def test_records_are_written_into_lanes_as_the_judge_says_it(views: list[RunView]) -> None:
    view = views[CLEAN_LOSS]
    unsaid = replace(view, story=replace(view.story, held_records=()))
    assert [words_of(view).count(label) for label in ("m1", "m2")] == [3, 2]
    assert [words_of(unsaid).count(label) for label in ("m1", "m2")] == [0, 0]


def test_without_steps_there_is_no_picture() -> None:
    assert draw_timeline(Story(), "p") == ""


def test_the_description_tells_the_story(views: list[RunView]) -> None:
    words = describe_story(views[LOSS].story)
    assert "Step 6: broker 2 killed; proof: " in words
    assert "FETCH(2) response held between follower 2 and leader 1, discharged; proof: " in words


def test_cells_tell_kept_lost_diverged_absent_and_uncommitted_apart() -> None:
    entry = EntryView(1, "m1", 0)
    log = ReplicaLogView(1, (entry,), 2)
    final = FinalLogs((log,), diverged_offsets=frozenset({5}))
    words = {
        cell_of(final, log, entry),
        cell_of(final, log, None),
        cell_of(final, log, replace(entry, offset=5)),
        cell_of(final, log, replace(entry, offset=2)),
        cell_of(final, log, replace(entry, is_known=False)),
        cell_of(replace(final, deleted=frozenset({entry.label})), log, entry),
    }
    assert words == {
        ("kept", "✓ kept"),
        ("absent", "○ absent"),
        ("diverged", "≠ diverged"),
        ("uncommitted", "… above HW"),
        ("unknown", "? unknown"),
        ("absent", "⌫ deleted"),
    }


def test_ghosts_and_divergence_are_said_in_words(views: list[RunView]) -> None:
    sentences = log_sentences(views[CLEAN_LOSS].final_logs)
    assert sentences[0] == "m1 was acknowledged at offset 1 and is gone from the topic."
    assert sentences[1] == "Offset 1 holds m1 on broker 1, m2 on broker 2, m2 on broker 3."
    assert log_sentences(views[KEPT].final_logs) == ()


def test_long_logs_show_their_ends_and_what_is_remarkable() -> None:
    entries = tuple(EntryView(offset, f"r{offset}", 0) for offset in range(10_000))
    final = FinalLogs((ReplicaLogView(1, entries, 10_000),), diverged_offsets=frozenset({5_000}))
    shown = shown_offsets(final)
    offsets = [offset for offset, _ in shown if offset is not None]
    assert offsets == [0, 1, 4_999, 5_000, 5_001, 9_998, 9_999]
    assert len(offsets) + sum(left_out for _, left_out in shown) == 10_000
    assert len(offsets) <= CELLS_MAX
