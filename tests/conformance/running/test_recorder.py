"""What happens is written down at once, in order, whichever thread it happens in."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.record.directory import RunDirectory
from conformance.record.observations import OutcomeSeen
from conformance.record.timeline import Event, read_timeline
from conformance.running.recorder import Recorder, fault_marks, hold_marks
from fault_injection.cluster.relay import LinkName
from fault_injection.faults import gate_faults
from fault_injection.faults.account import FaultAccount
from fault_injection.faults.fault import EndedProcess, FaultEvent, FaultStage, FileOnDisk, Proof
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.wire.frames_of import fetch_request

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


def test_whatever_another_thread_notes_lies_in_the_step_that_it_tells_of(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        is_over, noted = False, threading.Event()

        def note() -> None:
            while not is_over:
                recorder.mark(Event.HOLD_CAUGHT, "gap", "caught")
                noted.set()

        noting = threading.Thread(target=note)
        noting.start()
        for step in range(200):
            recorder.begin(step, "kill", "kill broker 2")
            for _ in range(2):  # the first may have been noted before the step began
                noted.clear()
                noted.wait()
            recorder.finish("kill", "kill broker 2")
        is_over = True
        noting.join()
    marks = read_timeline(RunDirectory(tmp_path))
    open_step = None
    for mark in marks:
        open_step = mark.step if mark.event is Event.STEP_STARTED else open_step
        assert mark.step == open_step
        open_step = None if mark.event is Event.STEP_FINISHED else open_step

    assert {mark.step for mark in marks if mark.event is Event.HOLD_CAUGHT} >= set(range(200))
    assert [mark.t_ns for mark in marks] == sorted(mark.t_ns for mark in marks)


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
        threads = [threading.Thread(target=_mark_often, args=(recorder, name)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    subjects = [event["subject"] for event in lines(tmp_path / "timeline.ndjson")]
    assert sorted(subjects) == sorted("abcd" * 50)


def _mark_often(recorder: Recorder, subject: str) -> None:
    for _ in range(50):
        recorder.mark(Event.RECORD_SENT, subject, "x" * 500)


def told(path: Path) -> list[dict[str, Any]]:
    return [{name: one for name, one in line.items() if name != "t_ns"} for line in lines(path / "timeline.ndjson")]


def test_a_hold_is_told_once_with_the_frame_that_it_caught(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder, GateProxy(on_event=hold_marks(recorder)) as gate:
        account = FaultAccount(cast("Any", cluster_at(gate)), fault_marks(recorder), checks_health=False)
        held = account.inject(gate_faults.hold(gate, "gap", Point("fetch_request", source=2, destination=1)))
        connection = gate.connected(LinkName.replication(1))
        gate.request_arrived(connection, bytearray(fetch_request(offset=3, correlation_id=7)))
        account.look()
        account.heal(held)
        armed, caught, released = told(tmp_path)

    place = {"follower": 2, "leader": 1, "point": "fetch_request", "action": "hold"}
    frame = {"connection": 0, "api": "Fetch", "correlation_id": 7, "direction": "request", "offset": 3}
    assert armed.pop("at_ns") < caught.pop("at_ns") == caught["frame"].pop("at_ns") < released.pop("at_ns")
    text = "gap: armed for fetch_request, source 2, destination 1"
    assert armed == {"event": "hold_armed", "subject": "gap", "text": text, **place}
    text = "gap: caught at fetch offset 3"
    assert caught == {"event": "hold_caught", "subject": "gap", "text": text, "offset": 3, **place, "frame": frame}
    text = "gap: released at fetch offset 3"
    assert released == {"event": "hold_released", "subject": "gap", "text": text, "offset": 3, **place}


def cluster_at(gate: GateProxy) -> object:
    return SimpleNamespace(relay=gate, spec=SimpleNamespace(is_kraft=False, release=None))


@pytest.mark.parametrize(
    ("proof", "fields"),
    [
        (
            Proof("ended", (EndedProcess(2, 137, 9, is_paused=False),)),
            {"processes": [{"broker": 2, "exit_code": 137, "signal": 9, "is_paused": False}]},
        ),
        (Proof("cut", file=FileOnDisk(2, "t-0/0.log", 1)), {"file": {"broker": 2, "path": "t-0/0.log", "offset": 1}}),
        (None, {}),
    ],
)
def test_a_fault_is_told_with_what_proves_it(tmp_path: Path, proof: Proof | None, fields: dict[str, object]) -> None:
    with Recorder(tmp_path) as recorder:
        fault_marks(recorder)(FaultEvent(4, "kill", FaultStage.FIRED, 5, "in words", proof=proof))
        (fired,) = told(tmp_path)

    assert (
        fired
        == {
            "event": "fault_fired",
            "subject": "kill",
            "text": "in words",
            "number": 4,
            "at_ns": 5,
        }
        | fields
    )
    assert read_timeline(RunDirectory(tmp_path))[0].number == 4


def test_a_hold_that_cannot_be_healed_is_told(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        for stage in FaultStage:
            fault_marks(recorder)(FaultEvent(1, "hold_frame", stage, 5, "in words", hold="gap"))

        assert [line["event"] for line in told(tmp_path)] == ["fault_heal_failed"]
