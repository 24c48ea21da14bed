"""Are the frames of a trace put into the order of time, and is a trace refused that is not whole?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.observation import wire_moments
from conformance.observation.errors import TraceUnreadableError
from conformance.observation.wire_moments import WireMoments
from fault_injection.wire.controller_views import ControlledShutdownView
from tests.conformance.observation.wire_files import MS, WireFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SAID = ControlledShutdownView(2, 1)


def frames(wire: WireFile, count: int) -> None:
    for _ in range(count):
        wire.request(7, 2, 1, SAID)


def order(path: Path) -> list[tuple[int, str]]:
    moments = list(WireMoments(path))
    assert [moment.at for moment in moments] == sorted(moment.at for moment in moments)
    return [(moment.seq, "delivered" if moment.is_delivery else "sent") for moment in moments]


def test_a_frame_is_sent_and_then_delivered(tmp_path: Path) -> None:
    wire = WireFile()
    frames(wire, 2)
    assert order(wire.write(tmp_path)) == [(1, "sent"), (1, "delivered"), (2, "sent"), (2, "delivered")]


def test_a_line_that_was_written_late_is_put_in_its_place(tmp_path: Path) -> None:
    wire = WireFile()
    wire.request(7, 2, 1, SAID, seq=2)
    wire.request(7, 2, 1, SAID, seq=1, forwarded_ns=500 * MS)
    for seq in range(3, 400):
        wire.request(7, 2, 1, SAID, seq=seq)
    got = order(wire.write(tmp_path))
    assert got[:2] == [(1, "sent"), (2, "sent")]
    assert got[-1] == (1, "delivered")


@pytest.mark.parametrize("link", ["replication", "client"])
@pytest.mark.parametrize("lines_late", [10, 100, 1_000], ids=["soon", "after-the-slack", "much-later"])
@pytest.mark.parametrize("caught", [1, 2, 3], ids=["once", "twice", "three-times"])
def test_a_late_line_of_a_held_frame_is_put_in_its_place(
    link: str, lines_late: int, caught: int, tmp_path: Path
) -> None:
    """Soak on 4.4.0, seed 16: a producer was answered 11 ms after a slowed FETCH arrived, and its line came later."""
    wire = WireFile()
    held = wire.request(7, 2, 1, SAID, link=link, outcome="held", forwarded_ns=None)
    following = wire.request(7, 3, 1, SAID, link=link, connection=9)
    for _ in range(1, caught):
        wire.fate(held, "held", None)
    for _ in range(lines_late):
        wire.request(7, 3, 1, SAID, connection=9)
    wire.fate(held, "forwarded", held.arrived_ns + 2)
    got = order(wire.write(tmp_path))
    assert got[:3] == [(held.seq, "sent"), (held.seq, "delivered"), (following.seq, "sent")]
    assert got.count((held.seq, "delivered")) == 1


def test_the_late_line_of_a_frame_that_never_went_on_delivers_nothing(tmp_path: Path) -> None:
    wire = WireFile()
    held = wire.request(7, 2, 1, SAID, outcome="held", forwarded_ns=None)
    frames(wire, 500)
    wire.fate(held, "dropped", None)
    assert (held.seq, "delivered") not in order(wire.write(tmp_path))


def test_a_held_frame_that_went_on_late_is_delivered_then(tmp_path: Path) -> None:
    wire = WireFile()
    held = wire.request(7, 2, 1, SAID, outcome="held", forwarded_ns=None)
    frames(wire, 500)
    wire.fate(held, "late", 300 * MS + 5)
    frames(wire, 500)
    got = order(wire.write(tmp_path))
    at = got.index((held.seq, "delivered"))
    assert got[at - 1][0] == 300
    assert got[at + 1][0] == 301


def test_a_held_frame_is_sent_when_it_was_caught_and_delivered_when_it_was_released(tmp_path: Path) -> None:
    wire = WireFile()
    held = wire.request(7, 2, 1, SAID, outcome="held", forwarded_ns=None, hold="gap")
    frames(wire, 2)
    wire.fate(held, "forwarded", 10 * MS)
    got = order(wire.write(tmp_path))
    assert [moment for moment in got if moment[0] == 1] == [(1, "sent"), (1, "delivered")]
    assert got[-1] == (1, "delivered")


@pytest.mark.parametrize("outcome", ["dropped", "closed", "aborted"])
def test_a_frame_that_does_not_go_on_is_never_delivered(tmp_path: Path, outcome: Any) -> None:  # noqa: ANN401
    wire = WireFile()
    wire.request(7, 2, 1, SAID, outcome=outcome, forwarded_ns=None)
    held = wire.request(7, 2, 1, SAID, outcome="held", forwarded_ns=None, hold="gap")
    wire.fate(held, outcome, None)
    assert order(wire.write(tmp_path)) == [(1, "sent"), (2, "sent")]


def test_frames_from_before_the_trace_began_are_taken_as_they_come(tmp_path: Path) -> None:
    wire = WireFile()
    frames(wire, 3)
    path = wire.write(tmp_path)
    lines = path.read_text().splitlines()
    end = json.loads(lines[-1]) | {"first_seq": 3}
    path.write_text("\n".join([lines[0], *lines[2:-1], json.dumps(end | {"lines": 2})]) + "\n")
    assert order(path) == [(1, "sent"), (1, "delivered"), (3, "sent"), (3, "delivered")]


def without_the_last_line(lines: list[str]) -> list[str]:
    return lines[:-1]


def cut_in_the_middle_of_a_line(lines: list[str]) -> list[str]:
    return [*lines[:-2], lines[-2][:40]]


def without_a_frame(lines: list[str]) -> list[str]:
    return lines[:5] + lines[6:]


def without_a_frame_and_with_another_count(lines: list[str]) -> list[str]:
    end = json.loads(lines[-1])
    return [*lines[:5], *lines[6:-1], json.dumps(end | {"lines": end["lines"] - 1})]


def with_a_frame_twice(lines: list[str]) -> list[str]:
    return [lines[0], *lines]


def with_the_fate_of_a_held_frame_twice(lines: list[str]) -> list[str]:
    held = json.dumps(json.loads(lines[0]) | {"outcome": "held", "forwarded_ns": None})
    return [held, *lines[1:-1], lines[0], lines[0], lines[-1]]


def with_a_line_that_is_no_frame(lines: list[str]) -> list[str]:
    return [*lines[:5], '{"seq": 6}', *lines[6:]]


@pytest.mark.parametrize(
    ("doctor", "said"),
    [
        (without_the_last_line, "is cut short"),
        (cut_in_the_middle_of_a_line, "is cut short"),
        (without_a_frame, "holds 99 lines of frames, it was ended with 100"),
        (without_a_frame_and_with_another_count, "1 frames are missing, such as 6"),
        (with_a_frame_twice, "frame 1 is there twice"),
        (with_the_fate_of_a_held_frame_twice, "frame 1 is there twice"),
        (with_a_line_that_is_no_frame, "line 6, is no frame"),
    ],
)
def test_a_trace_that_is_not_whole_is_refused(
    tmp_path: Path, doctor: Callable[[list[str]], list[str]], said: str
) -> None:
    wire = WireFile()
    frames(wire, 100)
    path = wire.write(tmp_path)
    path.write_text("\n".join(doctor(path.read_text().splitlines())) + "\n")
    with pytest.raises(TraceUnreadableError, match=said):
        order(path)


def test_no_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceUnreadableError, match=r"wire\.ndjson cannot be read: No such file"):
        WireMoments(tmp_path / "wire.ndjson")


def test_frames_of_the_last_instant_may_be_missing(tmp_path: Path) -> None:
    wire = WireFile()
    frames(wire, 3)
    assert len(order(wire.write(tmp_path, next_seq=6))) == 6


def test_what_came_after_a_frame_that_is_missing_at_the_end_is_left_out(tmp_path: Path) -> None:
    """Hunt on 1.1.1, seed 20261201, schedule 43: a follower fetched by an answer that was not written any more."""
    wire = WireFile()
    for seq in (1, 2, 4):
        wire.request(7, 2, 1, SAID, seq=seq)
    assert order(wire.write(tmp_path, next_seq=5)) == [(1, "sent"), (1, "delivered"), (2, "sent"), (2, "delivered")]


def test_a_frame_that_comes_too_late_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_moments, "WAITING_MAX", 10)
    wire = WireFile()
    for seq in range(2, 30):
        wire.request(7, 2, 1, SAID, seq=seq)
    wire.request(7, 2, 1, SAID, seq=1)
    with pytest.raises(TraceUnreadableError, match="frame 1 was written too late"):
        order(wire.write(tmp_path))


def test_few_frames_are_kept_at_a_time(tmp_path: Path) -> None:
    wire = WireFile()
    frames(wire, 2_000)
    moments = WireMoments(wire.write(tmp_path))
    most = max(len(moments._waiting) for _ in moments)
    assert most < 250
