"""Does a report step through a run? A still a checkpoint: what was measured, held and cut."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.record.schedule import StepInWords
from reports import write_report
from reports.load import load_run
from reports.stills import COLUMNS_MAX, UNKNOWN, stills_of
from reports.story import MomentView, NumbersView, StepView, Story
from tests.reports.browser import answered, driven
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from pathlib import Path

    from reports.model import RunView
    from reports.stills import ReplicaRow

LOSS, KEPT, CLEAN_LOSS, DIVERGENCE, HALF_STEPS, DEVIATION = range(6)


@pytest.fixture
def loss(golden_paths: list[Path]) -> RunView:
    return load_run(golden_paths[CLEAN_LOSS])


def logs_in_words(rows: tuple[ReplicaRow, ...]) -> list[str]:
    """Return each log: ``-m1`` was cut, ``+m2`` is new, ``|`` stands behind what is committed."""
    words = []
    for row in rows:
        cells = [
            f"{'-' + cell.cut if cell.cut else ''}{'+' if cell.is_new else ''}{cell.label}" + ("|" * cell.is_committed)
            for cell in row.cells
        ]
        words.append(" ".join(cell for cell in cells if cell))
    return words


def test_a_still_shows_every_log_and_what_was_cut_since_the_last(loss: RunView) -> None:
    first, cut, end = stills_of(loss).stills
    assert logs_in_words(first.rows) == ["m0| m1|", "m0| m1", "m0| m1"]
    assert logs_in_words(cut.rows) == ["m0| m1|", "m0| m1", "m0| -m1"]
    assert logs_in_words(end.rows) == ["m0| m1| +m3|", "m0| -m1+m2| +m3|", "m0| +m2| +m3|"]
    assert [row.state for row in cut.rows] == ["down", "★ leader, epoch 1", "follower, in ISR"]
    assert [row.is_state_new for row in cut.rows] == [True, True, False]
    assert [(row.log_end_offset.value, row.log_end_offset.is_new) for row in cut.rows] == [
        (2, False),
        (2, False),
        (1, True),
    ]


def test_a_still_names_the_steps_since_the_last_and_the_frames_held_at_that_time(loss: RunView) -> None:
    stills = stills_of(loss).stills
    assert [still.title for still in stills] == [
        "m1 is on all logs, its commit is known to one",
        "broker 3 has cut",
        "end",
    ]
    assert [[step.index + 1 for step in still.since] for still in stills] == [[1, 2, 3, 4], [6, 7], [9, 10, 11, 12, 13]]
    assert [still.held for still in stills] == [
        ("FETCH(2) response from broker 1 to broker 2", "FETCH(2) response from broker 1 to broker 3"),
        ("FETCH(1) request from broker 3 to broker 2",),
        (),
    ]


def test_a_measured_number_that_was_not_predicted_says_so(golden_paths: list[Path]) -> None:
    stills = stills_of(load_run(golden_paths[DEVIATION])).stills
    assert [[row.what for row in still.differing] for still in stills] == [
        [],
        ["broker 2 log end offset"],
        [f"broker {broker} {what}" for broker in (1, 2) for what in ("log end offset", "high watermark")],
    ]
    assert [(row.log_end_offset.value, row.log_end_offset.predicted) for row in stills[1].rows] == [(2, None), (1, 2)]


def test_a_record_has_its_leader_epoch_where_its_format_has_any(golden_paths: list[Path]) -> None:
    (old, new) = (stills_of(load_run(golden_paths[run])) for run in (LOSS, KEPT))
    assert new.has_epochs
    assert not old.has_epochs
    assert [cell.epoch for cell in new.stills[-1].rows[0].cells] == [0, 0, 2]


def test_where_nobody_could_tell_which_records_a_log_held_its_offsets_have_no_labels(loss: RunView) -> None:
    unknown = replace(loss, story=replace(loss.story, held_records=()))
    film = stills_of(unknown)
    assert not film.has_labels
    assert {cell.label for cell in film.stills[0].rows[0].cells} == {UNKNOWN, ""}


def test_obstacles_stand_beside_the_state_as_long_as_they_last(loss: RunView) -> None:
    mark = loss.story.marks[0]
    paused, resumed = (
        replace(mark, kind=kind, broker=2, at=replace(mark.at, step=step))
        for kind, step in (("paused", 1), ("resumed", 6))
    )
    first, second, _ = stills_of(replace(loss, story=replace(loss.story, marks=(paused, resumed)))).stills
    assert first.rows[1].state == "follower, in ISR, ‖ paused"
    assert "paused" not in second.rows[1].state


def test_of_a_long_log_the_offsets_near_its_ends_are_drawn(loss: RunView) -> None:
    steps = tuple(
        StepView(index, StepInWords("checkpoint", f"c{index}", "checkpoint", "checkpoint")) for index in range(2)
    )
    moments = tuple(
        MomentView(index, {1: NumbersView(end, end - 3, alive=True)}, 1, 0, (1,))
        for index, end in enumerate((50, 1_000))
    )
    film = stills_of(replace(loss, story=Story(replicas=(1,), steps=steps, measured=moments)))
    assert film.columns == (None, 45, 46, None, 48, 49, None, 995, 996, None, 998, 999)
    assert len([at for at in film.columns if at is not None]) <= COLUMNS_MAX
    assert [row.log_end_offset.value for still in film.stills for row in still.rows] == [50, 1_000]


def test_a_run_that_ends_after_its_last_checkpoint_has_a_still_of_its_end(loss: RunView) -> None:
    story = loss.story
    last = story.measured[-1]
    going_on = StepView(last.step + 1, StepInWords("stop", "2", "stop broker 2", "stop 2"))
    story = replace(
        story, steps=(*story.steps, going_on), measured=(*story.measured, replace(last, step=last.step + 1))
    )
    *_, end = stills_of(replace(loss, story=story)).stills
    assert (end.number, end.title, [step.taken.short for step in end.since]) == (None, "the run ends", ["stop 2"])


def test_without_script_every_still_stands_in_the_page_in_order(loss: RunView, tmp_path: Path) -> None:
    reader = PageReader(write_report([loss.path], tmp_path / "report.html").read_text(encoding="utf-8"))
    (film,) = (found for found in reader.named("details") if found.attributes.get("class") == "stills")
    assert "open" not in film.attributes
    heads = [
        item.words
        for item in reader.named("th")
        if item.attributes["scope"] == "rowgroup" and "details" in item.parents
    ]
    titles = [f"{still.number}{still.title}" for still in stills_of(loss).stills]
    assert [head[: len(title)] for head, title in zip(heads, titles, strict=False)] == titles
    assert not reader.named("button")


OPENED = """async () => {
const film = document.querySelector("details.stills");
const press = (key, at = film) => at.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
await new Promise((done) => { film.addEventListener("toggle", done, {once: true}); film.open = true; });
const [back, next, all] = film.querySelectorAll("button");
const told = () => [
  [...film.querySelectorAll("tbody")].map((still) => getComputedStyle(still).visibility === "visible"),
  film.querySelector("[aria-live=polite]").textContent,
  [back, next].map((button) => button.getAttribute("aria-disabled") === "true"),
];
return [ACTS].map((act) => (act(), told()));
}"""
FIRST = "1 of 3: 1m1 is on all logs, its commit is known to one"
SECOND, LAST = "2 of 3: 2broker 3 has cut", "3 of 3: 3end"
ACTS: tuple[tuple[str, str, list[int]], ...] = (
    ("0", FIRST, [0]),
    ("next.click()", SECOND, [1]),
    ("back.click()", FIRST, [0]),
    ("back.click()", FIRST, [0]),
    ("press('ArrowRight')", SECOND, [1]),
    ("press('ArrowRight', next)", LAST, [2]),
    ("next.click()", LAST, [2]),
    ("press('ArrowLeft', back)", SECOND, [1]),
    ("press('a')", SECOND, [1]),
    ("all.click()", SECOND, [0, 1, 2]),
    ("press('End')", LAST, [2]),
    ("press('Home')", FIRST, [0]),
)


@pytest.mark.browser
def test_in_a_browser_buttons_and_keys_step_through_the_stills(loss: RunView, tmp_path: Path) -> None:
    page = write_report([loss.path], tmp_path / "report.html")
    acts = ", ".join(f"() => {act}" for act, _, _ in ACTS)
    found = answered(page, OPENED.replace("ACTS", acts))
    for (act, told, shown), (is_shown, says, ends) in zip(ACTS, found, strict=True):
        assert (act, says) == (act, told)
        assert (act, is_shown) == (act, [index in shown for index in range(3)])
        assert (act, ends) == (act, [told == FIRST, told == LAST])


@pytest.mark.browser
def test_in_a_browser_a_run_that_nobody_opens_has_no_player(loss: RunView, tmp_path: Path) -> None:
    page = write_report([loss.path], tmp_path / "report.html")
    assert not driven(page).named("button")
    opened = page.read_text(encoding="utf-8").replace('<details class="stills"', '<details open class="stills"')
    page.write_text(opened, encoding="utf-8")
    assert [item.words for item in driven(page).named("button")] == ["◀ Previous", "Next ▶", "Show all"]
