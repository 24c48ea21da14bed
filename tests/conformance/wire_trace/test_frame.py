"""Does every frame count once, with its fate, and in the order of its arrival?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.record.directory import RunDirectory
from conformance.record.wire import FETCH, frames_of
from tests.conformance.wire_trace.wire_lines import MS, wire_line, write_wire

if TYPE_CHECKING:
    from pathlib import Path


def test_frames_come_in_the_order_of_their_arrival_with_their_fate(tmp_path: Path) -> None:
    held = {"hold": "gap", "outcome": "held", "forwarded_ns": None}
    write_wire(
        tmp_path,
        wire_line(1, "request", FETCH, (2, 1), {}, **held),
        wire_line(4, "request", FETCH, (2, 1), {}, **held),
        wire_line(3, "request", FETCH, (2, 1), None, arrived_ns=2 * MS),
        wire_line(2, "response", FETCH, (2, 1), {}),
        wire_line(1, "request", FETCH, (2, 1), {}, hold="gap", forwarded_ns=9 * MS),
    )

    frames = frames_of(RunDirectory(tmp_path))

    assert [(one.seq, one.outcome, one.forwarded_ns) for one in frames] == [
        (1, "forwarded", 9 * MS),
        (2, "forwarded", 2 * MS),
        (3, "forwarded", 2 * MS),
        (4, "held", None),
    ]
    assert [one.is_request(FETCH) for one in frames] == [True, False, True, True]
    assert [one.is_answer(FETCH) for one in frames] == [False, True, False, False]


def test_a_run_without_a_trace_has_no_frames(tmp_path: Path) -> None:
    assert frames_of(RunDirectory(tmp_path)) == []
