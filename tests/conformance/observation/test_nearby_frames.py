"""Are just the few frames kept that surround the one that is not allowed?"""

from __future__ import annotations

import msgspec

from conformance.observation.event_stream import NearbyFrames
from conformance.observation.wire_moments import WireMoment
from conformance.record.wire import TracedFrame
from oracle.tracing.observed import BrokerStarted
from tests.conformance.wire_trace.wire_lines import wire_line


def moment(seq: int) -> WireMoment:
    line = wire_line(seq, "request", "Fetch", (2, 1), None)
    held = {"hold": "gap", "outcome": "dropped"} if seq == 12 else {}
    frame = msgspec.convert(line | held, TracedFrame)
    return WireMoment(seq * 1_000_000, seq, is_delivery=False, frame=frame)


def kept(violation: int | None, shown_by: int, last: int = 40) -> list[int]:
    nearby = NearbyFrames()
    for seq in range(1, last + 1):
        nearby.shown(moment(seq), [BrokerStarted(at=seq, broker=2)] if seq % 2 == 0 else [])  # type: ignore[arg-type]
        if seq == shown_by:
            nearby.stop_soon(violation)
    return [frame.seq for frame in nearby.frames()]


def test_five_before_and_five_after_are_kept_of_those_that_show_something() -> None:
    assert kept(violation=20, shown_by=20) == [10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]


def test_a_frame_that_was_sent_earlier_keeps_what_was_before_it() -> None:
    assert kept(violation=16, shown_by=20) == [6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]


def test_a_moment_without_frame_keeps_the_last_ones() -> None:
    assert kept(violation=None, shown_by=20) == [12, 14, 16, 18, 20, 22, 24, 26, 28, 30]


def test_there_may_be_fewer() -> None:
    assert kept(violation=2, shown_by=2, last=4) == [2, 4]


def test_a_frame_says_what_became_of_it() -> None:
    nearby = NearbyFrames()
    for seq in (10, 12):
        nearby.shown(moment(seq), [BrokerStarted(at=seq, broker=2)])  # type: ignore[arg-type]
    first, second = nearby.frames()
    assert (first.at_s, second.at_s) == (0.0, 0.002)
    assert first.text == "node 2 to node 1, Fetch v11: broker 2 lives again"
    assert second.text == "node 2 to node 1, Fetch v11 [dropped ('gap')]: broker 2 lives again"
