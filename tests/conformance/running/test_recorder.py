"""What happens is written down at once, in order, whichever thread it happens in."""

from __future__ import annotations

import json
from threading import Thread
from typing import TYPE_CHECKING, Any

from conformance.record.observations import OutcomeSeen
from conformance.record.timeline import Event
from conformance.running.recorder import Recorder

if TYPE_CHECKING:
    from pathlib import Path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_observations_and_events_carry_step_and_time(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        recorder.mark(Event.STEP_STARTED, "kill", "kill broker 2")
        recorder.step = 3
        recorder.observe(OutcomeSeen(label="m0", outcome="refused"))
        recorder.mark(Event.BROKER_KILLED, 2, "broker 2 killed", offset=None)

        observed, events = lines(tmp_path / "observations.ndjson"), lines(tmp_path / "timeline.ndjson")

    times = [events[0].pop("t_ns"), observed[0].pop("t_ns"), events[1].pop("t_ns")]
    assert times == sorted(times)
    assert observed == [{"step": 3, "kind": "outcome", "label": "m0", "outcome": "refused"}]
    assert events == [
        {"event": "step_started", "subject": "kill", "text": "kill broker 2"},
        {"step": 3, "event": "broker_killed", "subject": "2", "text": "broker 2 killed"},
    ]


def test_each_line_is_on_the_disk_when_the_call_returns(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    for number in range(3):
        recorder.observe(OutcomeSeen(label=f"m{number}", outcome="refused"))
        assert len(lines(tmp_path / "observations.ndjson")) == number + 1
    recorder.close()


def test_a_gate_event_after_the_end_is_dropped_without_an_error(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        pass
    recorder.mark(Event.HOLD_DISCHARGED, "gap", "too late")

    assert lines(tmp_path / "timeline.ndjson") == []


def test_lines_of_many_threads_do_not_mix(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        threads = [Thread(target=_mark_often, args=(recorder, name)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    subjects = [event["subject"] for event in lines(tmp_path / "timeline.ndjson")]
    assert sorted(subjects) == sorted("abcd" * 50)


def _mark_often(recorder: Recorder, subject: str) -> None:
    for _ in range(50):
        recorder.mark(Event.RECORD_SENT, subject, "x" * 500)
