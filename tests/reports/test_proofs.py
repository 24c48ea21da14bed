"""Is what proves a fault shown wherever the fault is drawn, and is a proof that is missing missed?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from conformance.record.schedule import in_words
from conformance.record.timeline import Event, TimelineMark
from oracle.schedule_format import decode_step
from oracle.steps.step import STEP_CLASSES
from reports import write_report
from reports.load import load_run
from reports.load_faults import proofs_of
from reports.story import ProofView, StepView
from reports.timeline_svg import describe_story, draw_timeline, picture_table
from tests.reports import golden_faults
from tests.reports.golden_runs import loss
from tests.reports.golden_writer import write_golden
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reports.golden_writer import GoldenRun

CAUGHT = "it caught Fetch request 9 of connection 4 at offset 1"
MISSING = "no proof: nothing that was written down shows it"


def titles(path: Path) -> list[str]:
    """Return what a reader is told who points at something in the picture."""
    view = load_run(path)
    picture = ET.fromstring(draw_timeline(view.story, "p"))
    return [item.text or "" for item in picture.iter("title")]


def events(path: Path) -> list[str]:
    return [row.events for row in picture_table(load_run(path).story)]


def without(path: Path, unwanted: Callable[[dict[str, object]], bool]) -> Path:
    """Remove marks from the timeline of a run."""
    timeline = path / "timeline.ndjson"
    kept = [line for line in timeline.read_text().splitlines(keepends=True) if not unwanted(json.loads(line))]
    assert len(kept) < len(timeline.read_text().splitlines())
    timeline.write_text("".join(kept))
    return path


def test_a_kill_and_a_start_and_a_hold_are_proven_in_the_picture(tmp_path: Path) -> None:
    told = titles(write_golden(loss(), tmp_path))
    assert "broker 2: broker killed 2; proof: kill 2 done; kill 2 seen" in told
    assert "broker 2: broker started 2; proof: broker started 2" in told
    assert any(one.startswith("FETCH(2) response held (gap)") and one.endswith(f"; proof: {CAUGHT}") for one in told)


def test_they_are_proven_in_the_table_and_in_the_text_as_well(tmp_path: Path) -> None:
    path = write_golden(loss(), tmp_path)
    assert "broker 2 killed (proof: kill 2 done; kill 2 seen)" in "; ".join(events(path))
    assert f"(proof: {CAUGHT})" in "; ".join(events(path))
    told = describe_story(load_run(path).story)
    assert "broker 2 killed; proof: kill 2 done; kill 2 seen." in told
    assert f"discharged; proof: {CAUGHT}." in told


def test_each_step_of_a_fault_is_followed_by_its_proof(tmp_path: Path) -> None:
    path = write_golden(loss(), tmp_path)
    page = PageReader(write_report([path], tmp_path / "report.html").read_text(encoding="utf-8"))
    steps = [item.words for item in page.named("li") if "-step-" in item.attributes.get("id", "")]
    (killed,) = [words for words in steps if words.startswith("Kill broker 2")]
    assert killed == "Kill broker 2 (kill -9).✓ kill 2 done; kill 2 seen"
    assert not [words for words in steps if words.startswith("Produce") and "✓" in words]


@pytest.mark.parametrize(
    ("golden", "mark"),
    [
        (golden_faults.lost_tail, "tail_lost"),
        (golden_faults.lost_checkpoint, "checkpoint_lost"),
    ],
)
def test_a_disk_that_lost_something_is_proven(tmp_path: Path, golden: Callable[[], GoldenRun], mark: str) -> None:
    path = write_golden(golden(), tmp_path)
    marks = [json.loads(line) for line in (path / "timeline.ndjson").read_text().splitlines()]
    (step,) = [one["step"] for one in marks if one["event"] == mark]
    assert "seen)" in events(path)[step]
    assert MISSING in events(without(path, lambda one: one["event"] == "fault_fired" and one["step"] == step))[step]


@pytest.mark.parametrize(
    ("gone", "step_word", "drawn"),
    [
        ("fault_fired", "kill", "broker 2: broker killed 2"),
        ("fault_armed", "kill", "broker 2: broker killed 2"),
        ("hold_armed", "hold", "FETCH(2) response held (gap): from broker 1 to broker 2, discharged"),
    ],
)
def test_a_proof_that_is_missing_is_missed_where_the_fault_is_drawn(
    tmp_path: Path, gone: str, step_word: str, drawn: str
) -> None:
    path = write_golden(loss(), tmp_path)
    schedule = json.loads((path / "schedule.json").read_text())["steps"]
    number = next(index for index, step in enumerate(schedule) if step_word in step) + 1
    without(path, lambda mark: mark["event"] == gone and number in (mark.get("number"), mark["step"] + 1))
    assert f"{drawn}; {MISSING}" in titles(path)
    page = PageReader(write_report([path], tmp_path / "report.html").read_text(encoding="utf-8"))
    (told,) = [item.words for item in page.named("li") if item.attributes.get("id", "").endswith(f"-step-{number}")]
    assert told.endswith("≠ no proof nothing that was written down shows it")


def test_a_hold_that_caught_no_frame_has_no_proof(tmp_path: Path) -> None:
    path = write_golden(loss(), tmp_path)
    timeline = path / "timeline.ndjson"
    marks = [json.loads(line) for line in timeline.read_text().splitlines()]
    timeline.write_text("".join(json.dumps({**mark, "frame": None}) + "\n" for mark in marks))
    assert len([title for title in titles(path) if title.endswith(f"; {MISSING}")]) == 2


def test_a_hold_of_a_run_of_before_is_proven_by_its_fault(tmp_path: Path) -> None:
    path = write_golden(loss(), tmp_path)
    timeline = path / "timeline.ndjson"
    marks = []
    for mark in map(json.loads, timeline.read_text().splitlines()):
        fault = {"step": mark["step"], "t_ns": 1, "subject": "hold_frame", "number": 50, "text": ""}
        if mark["event"] == "hold_armed" and mark["subject"] == "gap":
            marks.append({**fault, "event": "fault_armed"})
        elif mark["event"] == "hold_caught":
            frame = mark.pop("frame")
            marks += [{**fault, "event": "fault_fired", "frame": frame}] if mark["subject"] == "gap" else []
        marks.append(mark)
    timeline.write_text("".join(json.dumps(mark) + "\n" for mark in marks))
    (told,) = [title for title in titles(path) if "(gap)" in title]
    assert told.endswith(f"; proof: {CAUGHT}")


@pytest.mark.parametrize(
    ("step", "event", "fault"),
    [
        ({"cut": {"from": 2, "to": 1}}, "fault_fired", "cut"),
        ({"heal": {"from": 2, "to": 1}}, "fault_healed", "cut"),
        ({"pause": 2}, "fault_fired", "pause"),
        ({"resume": 2}, "fault_healed", "pause"),
        ({"isolate": 2}, "fault_fired", "isolate"),
        ({"rejoin": 2}, "fault_healed", "isolate"),
        ({"kill_together": [1, 2]}, "fault_fired", "kill_together"),
        ({"stop": 2}, "fault_fired", "stop"),
    ],
)
def test_obstacles_are_proven_and_their_end_as_well(step: dict[str, object], event: str, fault: str) -> None:
    taken = StepView(0, in_words(decode_step(0, step)), 1, 9)
    shown = TimelineMark(Event(event), fault, "seen", t_ns=3, step=0, number=1)
    armed = TimelineMark(Event.FAULT_ARMED, fault, "armed", t_ns=2, step=0, number=1)
    another = TimelineMark(Event.FAULT_HEALED, "hold_frame", "no matter", t_ns=3, step=0, number=2)

    assert proofs_of([armed, shown, another], [taken], "") == (ProofView(0, "seen", 3),)
    assert proofs_of([another], [taken], "") == (ProofView(0),)


def test_a_start_of_which_nothing_was_noted_has_no_proof(tmp_path: Path) -> None:
    path = without(write_golden(loss(), tmp_path), lambda mark: mark["event"] == "broker_started")
    story = load_run(path).story
    starts = [step.index for step in story.steps if step.taken.word == "start"]
    assert [proof.words for index in starts for proof in story.proofs_of(index)] == [MISSING] * len(starts)


def test_a_step_that_was_never_taken_needs_no_proof(tmp_path: Path) -> None:
    path = without(write_golden(loss(), tmp_path), lambda _: True)
    assert load_run(path).story.proofs == ()


def test_what_a_step_takes_back_another_one_injects() -> None:
    taken_back = {fault for step in STEP_CLASSES.values() for fault in step.takes_back}

    assert taken_back
    assert taken_back <= {step.fault for step in STEP_CLASSES.values()}
