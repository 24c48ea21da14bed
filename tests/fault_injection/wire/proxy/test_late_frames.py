"""Does a held request reach its leader after the end of its sender, and does the leader hear nothing of that before?"""

import json
import select
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fault_injection.waiting import until
from fault_injection.wire.gate import GateError
from fault_injection.wire.gate_events import GateEvent, HoldStatus
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.wire.frames_of import fetch_request, fetch_response
from tests.fault_injection.wire.proxy.stub_leader import DEADLINE_S, LINK, Leader, held, received

POINT = Point("fetch_request", source=2, destination=1, topic="t", partition=0)
FETCH = fetch_request(offset=3, correlation_id=7)


def hang_up(_proxy: GateProxy, follower: socket.socket) -> None:
    follower.close()


def be_killed(proxy: GateProxy, follower: socket.socket) -> None:
    follower.close()
    proxy.abort_source(2)


def be_killed_unheard(proxy: GateProxy, _follower: socket.socket) -> None:
    proxy.abort_source(2)


def be_reset(proxy: GateProxy, follower: socket.socket) -> None:
    assert proxy.lose_sender("old")
    with pytest.raises(ConnectionResetError):
        follower.recv(1)


def orphaned(proxy: GateProxy, name: str = "old") -> None:
    is_so = lambda: proxy.status(name) is HoldStatus.ORPHANED  # noqa: E731 - said once
    until(is_so, deadline_s=DEADLINE_S, what="the frame outlives its sender")


def over(proxy: GateProxy, name: str = "old") -> None:
    caught = proxy.caught(name)
    assert caught is not None
    number = caught.request.connection
    until(lambda: not proxy.is_open(number), deadline_s=DEADLINE_S, what="the connection is over")


def hears_the_end(leader: Leader) -> bool:
    ready, _, _ = select.select([leader.connections[0]], [], [], 0)
    return bool(ready)


@pytest.fixture
def caught(proxy: GateProxy, follower: socket.socket) -> socket.socket:
    proxy.arm("old", POINT, outlives=True)
    follower.sendall(FETCH)
    held(proxy, "old")
    return follower


@pytest.mark.parametrize("end", [hang_up, be_killed, be_killed_unheard, be_reset])
def test_a_request_is_delivered_after_the_end_of_its_sender(
    proxy: GateProxy,
    leader: Leader,
    caught: socket.socket,
    events: list[GateEvent],
    end: Callable[[GateProxy, socket.socket], None],
) -> None:
    end(proxy, caught)
    orphaned(proxy)
    assert not hears_the_end(leader)
    proxy.release_late("old")
    received(leader, FETCH)
    assert proxy.last_forwarded_fetch_offset(2, 1, "t", 0) == 3
    leader.answer(fetch_response(correlation_id=7))
    over(proxy)
    assert [event.status for event in events] == ["armed", "caught", "orphaned", "released"]


def test_it_is_delivered_after_its_sender_has_come_back(
    proxy: GateProxy, leader: Leader, caught: socket.socket
) -> None:
    address = caught.getpeername()
    be_killed(proxy, caught)
    with socket.create_connection(address, timeout=DEADLINE_S) as again:
        new = fetch_request(offset=0, correlation_id=1)
        again.sendall(new)
        received(leader, new)
        leader.answer(fetch_response(correlation_id=1))
        until(lambda: proxy.rounds_since(0), deadline_s=DEADLINE_S, what="a round is finished")
        assert proxy.last_forwarded_fetch_offset(2, 1, "t", 0) == 0
        proxy.release_late("old")
        received(leader, new + FETCH)
        assert proxy.last_forwarded_fetch_offset(2, 1, "t", 0) == 3
        leader.answer(fetch_response(correlation_id=7))
        over(proxy)
        assert len(proxy.rounds_since(0)) == 1, "nobody has the answer to the late one"


@pytest.mark.parametrize(("error", "known"), [(0, 3), (6, None)])
def test_a_leader_that_refuses_it_does_not_count_it(
    proxy: GateProxy, leader: Leader, caught: socket.socket, error: int, known: int | None
) -> None:
    hang_up(proxy, caught)
    orphaned(proxy)
    proxy.release_late("old")
    received(leader, FETCH)
    leader.answer(fetch_response(correlation_id=7, error=error))
    over(proxy)
    caught_frame = proxy.caught("old")
    assert caught_frame is not None
    assert caught_frame.response is not None, "nobody else hears what it was answered"
    assert [entry.error for entry in getattr(caught_frame.response, "partitions", ())] == [error]
    assert proxy.last_forwarded_fetch_offset(2, 1, "t", 0) == known


def test_the_trace_tells_it_and_that_nobody_has_the_answer(
    proxy: GateProxy, leader: Leader, follower: socket.socket, tmp_path: Path
) -> None:
    proxy.trace_to(tmp_path / "wire.ndjson")
    proxy.arm("old", POINT, outlives=True)
    follower.sendall(FETCH)
    held(proxy, "old")
    follower.close()
    orphaned(proxy)
    proxy.release_late("old")
    received(leader, FETCH)
    leader.answer(fetch_response(correlation_id=7))
    over(proxy)
    proxy.end_trace()
    lines: list[dict[str, Any]] = [json.loads(line) for line in (tmp_path / "wire.ndjson").read_text().splitlines()]
    told = [(line["direction"], line["outcome"], line["hold"]) for line in lines if "outcome" in line]
    assert told == [("request", "held", "old"), ("request", "late", "old"), ("response", "aborted", None)]
    assert lines[1]["forwarded_ns"] > lines[1]["arrived_ns"]


def test_it_ends_with_its_leader(proxy: GateProxy, leader: Leader, caught: socket.socket) -> None:
    hang_up(proxy, caught)
    orphaned(proxy)
    leader.connections[0].shutdown(socket.SHUT_RDWR)
    over(proxy)
    assert proxy.status("old") is HoldStatus.DISCHARGED
    with pytest.raises(GateError, match="no frame is held"):
        proxy.release_late("old")


def test_a_leader_that_dies_with_it_unanswered_ends_it(proxy: GateProxy, leader: Leader, caught: socket.socket) -> None:
    hang_up(proxy, caught)
    orphaned(proxy)
    proxy.release_late("old")
    received(leader, FETCH)
    proxy.refuse(LINK)
    over(proxy)
    assert proxy.status("old") is HoldStatus.RELEASED


@pytest.mark.parametrize("verb", [GateProxy.drop, GateProxy.close_connection])
def test_it_can_be_thrown_away(
    proxy: GateProxy, leader: Leader, caught: socket.socket, verb: Callable[[GateProxy, str], None]
) -> None:
    hang_up(proxy, caught)
    orphaned(proxy)
    verb(proxy, "old")
    over(proxy)
    assert leader.bytes_received() == b""


def test_late_and_in_time_are_not_mixed_up(proxy: GateProxy, caught: socket.socket) -> None:
    with pytest.raises(GateError, match="'old' is on an open connection: not late"):
        proxy.release_late("old")
    hang_up(proxy, caught)
    orphaned(proxy)
    with pytest.raises(GateError, match="'old' has outlived its sender: release it late"):
        proxy.release("old")
    with pytest.raises(GateError, match="'old' is orphaned already"):
        proxy.arm("old", POINT)


def test_it_ends_when_the_gate_is_closed(proxy: GateProxy, caught: socket.socket) -> None:
    hang_up(proxy, caught)
    orphaned(proxy)
    proxy.close()
    assert proxy.status("old") is HoldStatus.DISCHARGED


def test_what_is_not_armed_to_outlive_its_sender_ends_with_it(proxy: GateProxy, follower: socket.socket) -> None:
    proxy.arm("old", POINT)
    follower.sendall(FETCH)
    held(proxy, "old")
    be_killed(proxy, follower)
    assert proxy.status("old") is HoldStatus.DISCHARGED


@pytest.mark.parametrize(("point", "action"), [("fetch_response", "hold"), ("fetch_request", "delay")])
def test_only_a_held_request_can_outlive_its_sender(proxy: GateProxy, point: str, action: Any) -> None:  # noqa: ANN401
    with pytest.raises(ValueError, match="only a request that is held can outlive its sender"):
        proxy.arm("old", Point(point), action, outlives=True)
