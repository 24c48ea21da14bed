"""Do answers of the gate reach their sender in the order of its requests, and is nothing else lost by them?"""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fault_injection.cluster.relay import LinkName
from fault_injection.waiting import until
from fault_injection.wire.codec import Codec
from fault_injection.wire.content import Content
from fault_injection.wire.gate import GateError
from fault_injection.wire.gate_events import HoldStatus
from fault_injection.wire.headers import response_correlation_id
from fault_injection.wire.impairments import LinkDelay, LinkDirection
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from fault_injection.wire.views import FetchResponseView
from tests.fault_injection.wire.frames_of import fetch_request, fetch_response
from tests.fault_injection.wire.stub_node import (
    DEADLINE_S,
    StubNode,
    await_received,
    connected,
    is_reset,
    is_silent,
    read,
)

LINK = LinkName.replication(1)
FENCED_LEADER_EPOCH = 74
EARLY = 6  # more requests than a connection needs to name its sender, so that frames may pass unread


def request(number: int) -> bytes:
    return fetch_request(offset=number, correlation_id=number)


def answer(number: int, high_watermark: int = 0) -> bytes:
    return fetch_response(correlation_id=number, high_watermark=high_watermark)


def at(offset: int | None, direction: str = "fetch_request", **wanted: int) -> Point:
    return Point(direction, source=2, fetch_offset=offset, answered=Content(**wanted))


@pytest.fixture
def follower(proxy: GateProxy, leader: StubNode) -> Iterator[socket.socket]:
    """Broker 2 on a connection on which it has fetched a few times."""
    with connected(proxy.open(LINK, leader.address)) as connection:
        for number in range(1, EARLY + 1):
            connection.sendall(request(number))
            until(lambda: leader.all_received.endswith(request(number)), deadline_s=DEADLINE_S, what="it came")  # noqa: B023
            leader.connections[0].sendall(answer(number))
            assert read(connection, len(answer(number))) == answer(number)
        leader.received[leader.connections[0]].clear()
        yield connection


def read_frame(connection: socket.socket) -> bytes:
    size = read(connection, 4)
    return size + read(connection, int.from_bytes(size, "big"))


def error_in(frame: bytes) -> tuple[int, list[int]]:
    """Return which request a FETCH answer answers and the errors of its partitions."""
    view = Codec().response(1, 11, frame)
    assert isinstance(view, FetchResponseView)
    return response_correlation_id(frame), [entry.error for entry in view.partitions]


def held(proxy: GateProxy, name: str) -> None:
    until(lambda: proxy.caught(name), deadline_s=DEADLINE_S, what=f"{name} caught a frame")


def test_a_request_is_answered_and_never_reaches_its_destination(
    proxy: GateProxy, leader: StubNode, follower: socket.socket
) -> None:
    proxy.arm("refused", at(10), "answer", error=FENCED_LEADER_EPOCH)
    follower.sendall(request(10))
    assert error_in(read_frame(follower)) == (10, [FENCED_LEADER_EPOCH])
    follower.sendall(request(11))
    await_received(leader, request(11))
    assert proxy.status("refused") is HoldStatus.ANSWERED


@pytest.mark.parametrize("is_armed_early", [True, False])
def test_an_answer_of_the_gate_waits_for_the_answers_before_it(
    proxy: GateProxy, leader: StubNode, follower: socket.socket, *, is_armed_early: bool
) -> None:
    if is_armed_early:  # else the first request passes unread
        proxy.arm("refused", at(12), "answer", error=FENCED_LEADER_EPOCH)
    follower.sendall(request(11))
    await_received(leader, request(11))
    if not is_armed_early:
        proxy.arm("refused", at(12), "answer", error=FENCED_LEADER_EPOCH)
    follower.sendall(request(12) + request(13))
    assert is_silent(follower)
    leader.connections[0].sendall(answer(11))
    assert read_frame(follower) == answer(11)
    assert error_in(read_frame(follower)) == (12, [FENCED_LEADER_EPOCH])
    await_received(leader, request(11) + request(13))
    leader.connections[0].sendall(answer(13))
    assert read_frame(follower) == answer(13)


def test_an_answer_of_the_gate_waits_while_one_before_it_is_held(
    proxy: GateProxy, leader: StubNode, follower: socket.socket
) -> None:
    proxy.arm("late", at(11, "fetch_response"))
    proxy.arm("refused", at(12), "answer", error=FENCED_LEADER_EPOCH)
    follower.sendall(request(11) + request(12))
    await_received(leader, request(11))
    leader.connections[0].sendall(answer(11))
    held(proxy, "late")
    assert is_silent(follower)
    proxy.release("late")
    assert read_frame(follower) == answer(11)
    assert error_in(read_frame(follower)) == (12, [FENCED_LEADER_EPOCH])


def test_an_answer_of_the_gate_comes_after_one_that_the_network_delays(
    proxy: GateProxy, leader: StubNode, follower: socket.socket
) -> None:
    proxy.network.impose("slow", LinkDelay((LinkDirection(1, 2),), 100))
    proxy.arm("refused", at(12), "answer", error=FENCED_LEADER_EPOCH)
    follower.sendall(request(11) + request(12))
    await_received(leader, request(11))
    leader.connections[0].sendall(answer(11))
    assert read_frame(follower) == answer(11)
    assert error_in(read_frame(follower)) == (12, [FENCED_LEADER_EPOCH])


def test_a_follower_that_goes_away_ends_the_wait(proxy: GateProxy, leader: StubNode, follower: socket.socket) -> None:
    proxy.arm("refused", at(12), "answer", error=FENCED_LEADER_EPOCH)
    follower.sendall(request(11) + request(12))
    await_received(leader, request(11))
    held(proxy, "refused")
    follower.close()
    until(lambda: leader.ended, deadline_s=DEADLINE_S, what="the leader hears of it")


def test_the_answer_that_came_is_replaced(
    proxy: GateProxy, leader: StubNode, follower: socket.socket, tmp_path: Path
) -> None:
    proxy.trace_to(tmp_path / "wire.ndjson")
    proxy.arm("refused", at(None, "fetch_response", high_watermark=5), "answer", error=FENCED_LEADER_EPOCH)
    for number, high_watermark in ((11, 4), (12, 5)):
        follower.sendall(request(number))
        until(lambda: leader.all_received.endswith(request(number)), deadline_s=DEADLINE_S, what="it came")  # noqa: B023
        leader.connections[0].sendall(answer(number, high_watermark))
        assert error_in(read_frame(follower)) == (number, [FENCED_LEADER_EPOCH if number == 12 else 0])
    until(lambda: len(traced(proxy, tmp_path)) == 5, deadline_s=DEADLINE_S, what="the last line is written")
    lines = traced(proxy, tmp_path)
    assert [(line["correlation_id"], line["direction"], line["outcome"], line["hold"]) for line in lines] == [
        (11, "request", "forwarded", None),
        (11, "response", "forwarded", None),
        (12, "request", "forwarded", None),
        (12, "response", "answered", "refused"),
        (12, "response", "fabricated", "refused"),
    ]
    assert lines[-1]["decoded"]["partitions"][0]["error"] == FENCED_LEADER_EPOCH


def traced(proxy: GateProxy, directory: Path) -> list[dict[str, Any]]:
    proxy.trace.flush()
    lines = [json.loads(line) for line in (directory / "wire.ndjson").read_text().splitlines()]
    told = (line for line in lines if line.get("correlation_id", 0) > EARLY)  # an earlier one may just be leaving
    return sorted(told, key=lambda line: int(line["seq"]))


def test_a_held_request_is_answered(proxy: GateProxy, leader: StubNode, follower: socket.socket) -> None:
    proxy.arm("gap", at(11))
    follower.sendall(request(11))
    held(proxy, "gap")
    proxy.answer("gap", FENCED_LEADER_EPOCH)
    assert error_in(read_frame(follower)) == (11, [FENCED_LEADER_EPOCH])
    assert leader.all_received == b""


def test_a_request_and_an_answer_of_one_connection_are_held_at_once(
    proxy: GateProxy, leader: StubNode, follower: socket.socket
) -> None:
    proxy.arm("answer", at(11, "fetch_response"))
    proxy.arm("request", at(12))
    proxy.arm("behind", at(13))
    follower.sendall(request(11) + request(12) + request(13))
    await_received(leader, request(11))
    leader.connections[0].sendall(answer(11))
    held(proxy, "answer")
    held(proxy, "request")
    assert proxy.caught("behind") is None  # it is read when the frame before it has gone
    proxy.release("request")
    held(proxy, "behind")
    await_received(leader, request(11) + request(12))
    assert is_silent(follower)
    proxy.release("answer")
    assert read_frame(follower) == answer(11)
    proxy.release("behind")
    await_received(leader, request(11) + request(12) + request(13))


def test_every_request_is_answered_until_the_action_is_disarmed(
    proxy: GateProxy, leader: StubNode, follower: socket.socket
) -> None:
    proxy.arm("all", at(None), "answer", error=FENCED_LEADER_EPOCH, frames_max=None)
    follower.sendall(request(11) + request(11) + request(12))
    answers = [error_in(read_frame(follower))[0] for _ in range(3)]
    assert (answers, proxy.frames("all")) == ([11, 11, 12], 3)
    proxy.disarm("all")
    follower.sendall(request(13))
    await_received(leader, request(13))


def test_several_delayed_frames_each_go_on_in_their_time(
    proxy: GateProxy, leader: StubNode, follower: socket.socket
) -> None:
    proxy.arm("slow", at(None), "delay", 30, frames_max=2)
    with connected(proxy.open(LINK, leader.address)) as other:
        other.sendall(request(21))
        follower.sendall(request(11) + request(12))
        until(lambda: len(leader.all_received) == 3 * len(request(11)), deadline_s=DEADLINE_S, what="all three came")
    assert proxy.status("slow") is HoldStatus.RELEASED
    assert proxy.frames("slow") == 2


def test_what_cannot_be_answered_is_refused_when_it_is_armed(proxy: GateProxy) -> None:
    with pytest.raises(GateError, match="cannot answer at leader_and_isr without the schemas"):
        proxy.arm("refused", Point("leader_and_isr"), "answer", error=11)


def test_a_request_that_was_not_understood_ends_its_connection(leader: StubNode) -> None:
    with GateProxy() as proxy:
        with connected(proxy.open(LINK, leader.address)) as connection:
            proxy.arm("refused", Point("fetch_request"), "answer", error=FENCED_LEADER_EPOCH)
            connection.sendall(request(1)[:-9].replace(request(1)[:4], (len(request(1)) - 13).to_bytes(4, "big"), 1))
            assert is_reset(connection)
        (failure,) = proxy.failures
    assert "Fetch v11: the request could not be decoded" in failure
