"""Does the proxy hold, drop, delay and trace the frames that the gate names, and keep the order of the others?"""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from fault_injection.waiting import until
from fault_injection.wire.gate_events import GateEvent, HoldStatus
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.wire.frames_of import TOPIC_ID, fetch_request, fetch_response
from tests.fault_injection.wire.proxy.stub_leader import (
    DEADLINE_S,
    Leader,
    follower_address,
    held,
    is_reset,
    read,
    received,
)


def test_held_request_reaches_the_leader_only_after_release(
    proxy: GateProxy, leader: Leader, follower: socket.socket, events: list[GateEvent]
) -> None:
    proxy.arm("gap", Point("fetch_request", source=2, destination=1, topic="t", partition=0, fetch_offset=1))
    early, frame = fetch_request(offset=0), fetch_request(offset=1, correlation_id=2)
    follower.sendall(early)
    received(leader, early)
    follower.sendall(frame)
    held(proxy, "gap")
    caught = proxy.caught("gap")
    assert caught is not None
    assert (caught.fetch_offset, caught.request.source, caught.direction) == (1, 2, "request")
    assert leader.bytes_received() == early
    assert proxy.last_forwarded_fetch_offset(2, 1, "t", 0) == 0
    proxy.release("gap")
    received(leader, early + frame)
    assert proxy.last_forwarded_fetch_offset(2, 1, "t", 0) == 1
    assert [event.status for event in events] == ["armed", "caught", "released"]


def test_held_response_keeps_its_content(proxy: GateProxy, leader: Leader, follower: socket.socket) -> None:
    proxy.arm("late", Point("fetch_response", source=2, destination=1, topic="t", fetch_offset=1))
    request = fetch_request(offset=1)
    follower.sendall(request)
    received(leader, request)
    answer = fetch_response(high_watermark=7)
    leader.answer(answer)
    held(proxy, "late")
    assert proxy.rounds_since(0) == ()
    proxy.release("late")
    assert read(follower, len(answer)) == answer
    (finished,) = until(lambda: proxy.rounds_since(0), deadline_s=DEADLINE_S, what="a round is finished")
    assert (finished.follower, finished.leader, finished.fetch_offset, finished.high_watermark) == (
        2,
        1,
        1,
        7,
    )


@pytest.mark.parametrize(
    ("answer", "known", "instead"),
    [({}, 2, None), ({"diverging": (4, 1)}, None, 2), ({"error": 1}, None, None)],
)
def test_a_held_response_tells_whether_its_fetch_was_counted(
    proxy: GateProxy,
    leader: Leader,
    follower: socket.socket,
    answer: dict[str, Any],
    known: int | None,
    instead: int | None,
) -> None:
    proxy.arm("held", Point("fetch_response", source=2, destination=1, topic="t"))
    request = fetch_request(offset=2, version=12)
    follower.sendall(request)
    received(leader, request)
    assert proxy.last_forwarded_fetch_offset(2, 1, "t", 0) == 2, "its leader may have it already"
    leader.answer(fetch_response(version=12, **answer))
    held(proxy, "held")
    assert proxy.last_forwarded_fetch_offset(2, 1, "t", 0) == known
    assert proxy.diverging_fetch_offset(2, 1, "t", 0) == instead
    proxy.release("held")
    until(lambda: proxy.rounds_since(0), deadline_s=DEADLINE_S, what="a round is finished")
    assert proxy.last_forwarded_fetch_offset(2, 1, "t", 0) == known


def test_dropped_request_leaves_the_connection_open(proxy: GateProxy, leader: Leader, follower: socket.socket) -> None:
    proxy.arm("lost", Point("fetch_request"), action="drop")
    second = fetch_request(offset=5, correlation_id=2)
    follower.sendall(fetch_request(offset=1) + second)
    received(leader, second)
    assert proxy.status("lost") is HoldStatus.DROPPED


def test_closing_a_held_request_resets_its_connection(
    proxy: GateProxy, leader: Leader, follower: socket.socket
) -> None:
    proxy.arm("cut", Point("fetch_request"))
    follower.sendall(fetch_request(offset=1))
    held(proxy, "cut")
    proxy.close_connection("cut")
    assert is_reset(follower)
    assert leader.bytes_received() == b""


def test_delayed_request_goes_on_by_itself(proxy: GateProxy, leader: Leader, follower: socket.socket) -> None:
    proxy.arm("slow", Point("fetch_request"), action="delay", delay_ms=30)
    request = fetch_request(offset=1)
    follower.sendall(request)
    received(leader, request)
    assert proxy.status("slow") is HoldStatus.RELEASED


def test_a_follower_that_goes_away_discharges_its_held_frame(proxy: GateProxy, follower: socket.socket) -> None:
    proxy.arm("gap", Point("fetch_request"))
    follower.sendall(fetch_request(offset=1))
    held(proxy, "gap")
    follower.close()
    until(lambda: proxy.status("gap") == "discharged", deadline_s=DEADLINE_S, what="the hold is discharged")


def test_every_frame_is_one_line_of_the_trace(
    proxy: GateProxy, leader: Leader, follower: socket.socket, tmp_path: Path
) -> None:
    first, second = tmp_path / "wire.ndjson", tmp_path / "second.ndjson"
    proxy.trace_to(first)
    request, answer = fetch_request(offset=3), fetch_response(high_watermark=3)
    follower.sendall(request)
    received(leader, request)
    leader.answer(answer)
    assert read(follower, len(answer)) == answer
    lines = until(lambda: traced(proxy, first, 2), deadline_s=DEADLINE_S, what="both frames are traced")
    proxy.trace_to(second)
    assert [(line["direction"], line["api"], line["outcome"]) for line in lines] == [
        ("request", "Fetch", "forwarded"),
        ("response", "Fetch", "forwarded"),
    ]
    assert lines[0]["decoded"]["partitions"][0]["fetch_offset"] == 3
    assert lines[1]["decoded"]["partitions"][0]["high_watermark"] == 3
    assert lines[0]["source"] == lines[1]["source"] == 2
    assert all(line["forwarded_ns"] >= line["arrived_ns"] for line in lines)
    assert second.read_text() == ""
    follower.sendall(b"\x00\x00\x00\x00")
    until(lambda: traced(proxy, second, 1), deadline_s=DEADLINE_S, what="the next frame is in the next file")
    assert len(first.read_text().splitlines()) == 2


def test_a_held_frame_is_traced_when_it_is_caught_and_when_it_goes_on(
    proxy: GateProxy, leader: Leader, follower: socket.socket, tmp_path: Path
) -> None:
    path = tmp_path / "wire.ndjson"
    proxy.trace_to(path)
    proxy.arm("gap", Point("fetch_request"))
    request = fetch_request(offset=3)
    follower.sendall(request)
    (caught,) = until(lambda: traced(proxy, path, 1), deadline_s=DEADLINE_S, what="the held frame is traced")
    proxy.release("gap")
    received(leader, request)
    until(lambda: traced(proxy, path, 2), deadline_s=DEADLINE_S, what="the released frame is traced")
    proxy.end_trace()
    _, released, end = (json.loads(line) for line in path.read_text().splitlines())
    assert (caught["outcome"], caught["forwarded_ns"], caught["hold"]) == ("held", None, "gap")
    assert (released["seq"], released["outcome"], released["hold"]) == (caught["seq"], "forwarded", "gap")
    assert end["first_seq"] <= caught["seq"] < end["next_seq"]


def traced(proxy: GateProxy, path: Path, count: int) -> list[dict[str, Any]] | None:
    proxy.trace.flush()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return sorted(lines, key=lambda line: line["seq"]) if len(lines) >= count else None


def test_closing_the_proxy_discharges_what_it_holds(proxy: GateProxy, leader: Leader, follower: socket.socket) -> None:
    proxy.arm("request", Point("fetch_request", fetch_offset=2))
    proxy.arm("response", Point("fetch_response", fetch_offset=1))
    with socket.create_connection(follower_address(proxy, leader), timeout=DEADLINE_S) as other:
        request = fetch_request(offset=1)
        other.sendall(request)
        received(leader, request)
        leader.answer(fetch_response())
        follower.sendall(fetch_request(offset=2))
        held(proxy, "request")
        held(proxy, "response")
        proxy.close()
        assert set(proxy.holds().values()) == {HoldStatus.DISCHARGED}


def test_frames_behind_a_held_one_keep_their_order(proxy: GateProxy, leader: Leader, follower: socket.socket) -> None:
    proxy.arm("first", Point("fetch_request", fetch_offset=1))
    first, second = fetch_request(offset=1), fetch_request(offset=2, correlation_id=2)
    follower.sendall(first + second)
    held(proxy, "first")
    proxy.release("first")
    received(leader, first + second)


def test_topic_ids_are_named_when_they_are_learned(proxy: GateProxy, leader: Leader, follower: socket.socket) -> None:
    proxy.arm("gap", Point("fetch_request", topic="t"))
    unnamed, named = fetch_request(offset=1, version=17), fetch_request(offset=2, version=17, correlation_id=2)
    follower.sendall(unnamed)
    received(leader, unnamed)
    proxy.learn_topic(TOPIC_ID, "t")
    follower.sendall(named)
    held(proxy, "gap")
    caught = proxy.caught("gap")
    assert caught is not None
    assert (caught.fetch_offset, caught.request.source) == (2, 2)


def test_a_disarmed_action_lets_the_frame_through(proxy: GateProxy, leader: Leader, follower: socket.socket) -> None:
    proxy.arm("gap", Point("fetch_request"))
    proxy.disarm("gap")
    request = fetch_request(offset=1)
    follower.sendall(request)
    received(leader, request)
