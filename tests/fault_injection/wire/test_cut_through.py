"""Does a large answer go on while it arrives, unchanged, and only if nobody can want it?"""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fault_injection.cluster.relay import LinkName
from fault_injection.waiting import until
from fault_injection.wire.frames import Frame, FrameParser
from fault_injection.wire.gate_events import HoldStatus
from fault_injection.wire.passage import PIECE_BYTES_MIN, CutThrough
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import TELLING_REQUESTS, GateProxy
from tests.fault_injection.wire.frames_of import fetch_request, fetch_response, record_batch
from tests.fault_injection.wire.stub_node import DEADLINE_S, StubNode, connected, is_silent, read

ANSWER = fetch_response(correlation_id=50, records=record_batch(2, base_offset=0, values=20_000), high_watermark=3)
HALF = len(ANSWER) // 2
assert HALF > PIECE_BYTES_MIN


@pytest.fixture
def follower(proxy: GateProxy, leader: StubNode) -> Iterator[socket.socket]:
    with connected(proxy.open(LinkName.replication(1), leader.address)) as connection:
        for correlation_id in range(TELLING_REQUESTS):
            exchange(connection, leader, correlation_id)
        yield connection


def exchange(follower: socket.socket, leader: StubNode, correlation_id: int) -> None:
    asks(follower, leader, correlation_id)
    answer = fetch_response(correlation_id=correlation_id)
    leader.connections[-1].sendall(answer)
    assert read(follower, len(answer)) == answer


def asks(follower: socket.socket, leader: StubNode, correlation_id: int) -> None:
    before, request = leader.count, fetch_request(offset=3, correlation_id=correlation_id)
    follower.sendall(request)
    until(lambda: leader.count == before + len(request), deadline_s=DEADLINE_S, what="the request has come")


def test_the_follower_has_what_the_leader_sent_so_far(
    proxy: GateProxy, leader: StubNode, follower: socket.socket, tmp_path: Path
) -> None:
    proxy.trace_to(tmp_path / "wire.ndjson")
    asks(follower, leader, 50)
    leader.connections[-1].sendall(ANSWER[:HALF])
    assert read(follower, PIECE_BYTES_MIN) == ANSWER[:PIECE_BYTES_MIN]
    leader.connections[-1].sendall(ANSWER[HALF:])
    assert read(follower, len(ANSWER) - PIECE_BYTES_MIN) == ANSWER[PIECE_BYTES_MIN:]
    exchange(follower, leader, 51)
    proxy.end_trace()
    lines = [json.loads(line) for line in (tmp_path / "wire.ndjson").read_text().splitlines()]
    assert [line.get("size") for line in lines if line.get("correlation_id") == 50][1] == len(ANSWER)
    assert proxy.failures == ()


def test_an_answer_that_is_waited_for_stays_whole(proxy: GateProxy, leader: StubNode, follower: socket.socket) -> None:
    proxy.arm("held", Point("fetch_response", source=2, destination=1))
    asks(follower, leader, 50)
    leader.connections[-1].sendall(ANSWER[:HALF])
    assert is_silent(follower)
    leader.connections[-1].sendall(ANSWER[HALF:])
    until(lambda: proxy.caught("held"), deadline_s=DEADLINE_S, what="the answer is held")
    assert is_silent(follower)
    proxy.release("held")
    assert read(follower, len(ANSWER)) == ANSWER


def test_what_is_armed_while_an_answer_goes_on_waits_for_the_next(
    proxy: GateProxy, leader: StubNode, follower: socket.socket
) -> None:
    asks(follower, leader, 50)
    leader.connections[-1].sendall(ANSWER[:HALF])
    assert read(follower, PIECE_BYTES_MIN) == ANSWER[:PIECE_BYTES_MIN]
    proxy.arm("held", Point("fetch_response", source=2, destination=1))
    leader.connections[-1].sendall(ANSWER[HALF:])
    assert read(follower, len(ANSWER) - PIECE_BYTES_MIN) == ANSWER[PIECE_BYTES_MIN:]
    assert proxy.status("held") is HoldStatus.ARMED
    asks(follower, leader, 51)
    leader.connections[-1].sendall(fetch_response(correlation_id=51))
    until(lambda: proxy.caught("held"), deadline_s=DEADLINE_S, what="the next answer is held")


def test_an_answer_that_is_cut_off_ends_with_its_connection(
    proxy: GateProxy, leader: StubNode, follower: socket.socket
) -> None:
    asks(follower, leader, 50)
    leader.connections[-1].sendall(ANSWER[:HALF])
    assert read(follower, PIECE_BYTES_MIN) == ANSWER[:PIECE_BYTES_MIN]
    proxy.refuse(LinkName.replication(1))
    with pytest.raises(ConnectionResetError):
        read(follower, len(ANSWER))
    assert proxy.failures == ()


@given(
    contents=st.lists(st.integers(0, 4 * PIECE_BYTES_MIN), min_size=1, max_size=5),
    sizes=st.lists(st.integers(1, 2 * PIECE_BYTES_MIN), max_size=30),
    verdicts=st.lists(st.booleans(), max_size=30),
)
def test_no_byte_is_lost_or_changed(contents: list[int], sizes: list[int], verdicts: list[bool]) -> None:
    stream = b"".join(size.to_bytes(4, "big") + bytes([number + 1]) * size for number, size in enumerate(contents))
    sent, answers, rest = bytearray(), iter(verdicts), list(sizes)

    def send(piece: memoryview) -> bool:
        sent.extend(piece)
        return True

    through = CutThrough(lambda _: next(answers, True), send)
    parser, position = FrameParser(chunk_bytes=1024), 0
    while position < len(stream):
        into = parser.writable()
        count = min(len(into), len(stream) - position, rest.pop(0) if rest else len(stream))
        into[:count] = stream[position : position + count]
        position += count
        for event in parser.received(count):
            assert isinstance(event, Frame)
            send(through.rest(event.content))
        assert through.advance(parser.begun)
    assert sent == stream
