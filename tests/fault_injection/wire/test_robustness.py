"""Does the proxy stay a wire, whatever bytes come, however many connections, whoever stops in the middle?"""

import contextlib
import json
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fault_injection.cluster.relay import LinkName
from fault_injection.waiting import until
from fault_injection.wire.frames import BELIEVED_BYTES, FRAME_BYTES_MAX, Frame, FrameParser
from fault_injection.wire.impairments import LinkDelay, LinkDirection
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.wire.frames_of import fetch_request, fetch_response, framed
from tests.fault_injection.wire.stub_node import DEADLINE_S, StubNode, connected, is_reset, read

LINK = LinkName.replication(1)
REQUEST = fetch_request(offset=1)

valid = st.builds(
    fetch_request, offset=st.integers(0, 5), version=st.integers(0, 17), replica=st.integers(1, 3)
) | st.builds(fetch_response, version=st.integers(0, 17), high_watermark=st.integers(0, 5))
headers = st.builds(
    lambda api, version, rest: framed(struct.pack(">hhi", api, version, 7) + rest),
    st.integers(0, 80),
    st.integers(0, 20),
    st.binary(max_size=60),
)
mutated = st.builds(
    lambda frame, place, byte: frame[:4] + bytes(_with(frame[4:], place, byte)),
    valid,
    st.integers(0),
    st.integers(0, 255),
)
fragments = st.lists(valid | headers | mutated | st.builds(framed, st.binary(max_size=40)), max_size=6)
ends = st.binary(max_size=12) | st.builds(lambda length: struct.pack(">i", length), st.integers(-(2**31), 2**31 - 1))


def _with(content: bytes, place: int, byte: int) -> bytearray:
    changed = bytearray(content)
    changed[place % len(changed)] = byte
    return changed


@pytest.fixture
def node() -> Iterator[StubNode]:
    stub = StubNode()
    yield stub
    stub.close()


@pytest.fixture
def proxy() -> Iterator[GateProxy]:
    with GateProxy() as gate_proxy:
        yield gate_proxy
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("wire-")]


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(requests=fragments, answers=fragments, end=ends, sizes=st.lists(st.integers(1, 50), min_size=1, max_size=30))
def test_any_bytes_arrive_as_they_were_sent_in_both_directions(
    proxy: GateProxy, node: StubNode, requests: list[bytes], answers: list[bytes], end: bytes, sizes: list[int]
) -> None:
    asked, answered = b"".join(requests) + end, b"".join(answers) + end
    earlier = len(node.connections)
    with connected(proxy.open(LINK, node.address)) as client:
        for piece in pieces(asked, sizes):
            client.sendall(piece)
        (accepted,) = until(
            lambda: node.connections[earlier:] or None, deadline_s=DEADLINE_S, what="the connection came"
        )
        whole = whole_frames(asked)
        until(lambda: bytes(node.received[accepted]) == whole, deadline_s=DEADLINE_S, what="all whole frames came")
        for piece in pieces(answered, sizes):
            accepted.sendall(piece)
        assert read(client, len(whole_frames(answered))) == whole_frames(answered)
    assert proxy.failures == ()


def pieces(content: bytes, sizes: list[int]) -> Iterator[bytes]:
    for size in sizes:
        yield content[:size]
        content = content[size:]
    yield content


def whole_frames(content: bytes) -> bytes:
    """Return the bytes that can go on: whole frames, and all behind a length that no frame has."""
    rest = content
    while len(rest) >= 4:
        (length,) = struct.unpack_from(">i", rest)
        if not 0 <= length <= FRAME_BYTES_MAX:
            return content
        if len(rest) < 4 + length:
            break
        rest = rest[4 + length :]
    return content[: len(content) - len(rest)]


@given(content=st.binary(min_size=1, max_size=400), sizes=st.lists(st.integers(1, 90), min_size=1, max_size=30))
def test_a_frame_that_outgrows_what_is_believed_is_whole_all_the_same(content: bytes, sizes: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("fault_injection.wire.frames.BELIEVED_BYTES", 3)
        patched.setattr("fault_injection.wire.frames.GROWTH", 2)
        parser = FrameParser(chunk_bytes=16)
        events = [event for piece in pieces(framed(content) * 2, sizes) for event in parser.feed(piece)]
    assert [event.content for event in events if isinstance(event, Frame)] == [framed(content)] * 2


def test_a_length_alone_costs_no_memory() -> None:
    parser = FrameParser()
    parser.feed(struct.pack(">i", FRAME_BYTES_MAX))
    assert parser._frame is not None
    assert len(parser._frame) <= BELIEVED_BYTES + 4


def test_hundreds_of_connections_are_served_at_once_and_leave_nothing(proxy: GateProxy, node: StubNode) -> None:
    node.echoes = True
    address = proxy.open(LINK, node.address)
    threads = threading.active_count()
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connected(address)) for _ in range(300)]
        for number, client in enumerate(clients):
            client.sendall(fetch_request(offset=number, replica=number % 3 + 2))
        for number, client in enumerate(clients):
            expected = fetch_request(offset=number, replica=number % 3 + 2)
            assert read(client, len(expected)) == expected
        assert proxy.network.count(LinkDirection(None, 1)) == 300
    until(lambda: proxy.network.count(LinkDirection(None, 1)) == 0, deadline_s=DEADLINE_S, what="all connections ended")
    until(lambda: threading.active_count() <= threads, deadline_s=DEADLINE_S, what="all threads ended")
    assert proxy.failures == ()


def test_connections_that_stop_in_the_middle_are_in_nobodys_way(proxy: GateProxy, node: StubNode) -> None:
    node.echoes = True
    address = proxy.open(LINK, node.address)
    with contextlib.ExitStack() as stack:
        stopped = [stack.enter_context(connected(address)) for _ in range(120)]
        for number, client in enumerate(stopped):
            client.sendall((b"", b"\x00\x00", struct.pack(">i", FRAME_BYTES_MAX), REQUEST[:-1])[number % 4])
        with connected(address) as alive:
            alive.sendall(REQUEST)
            assert read(alive, len(REQUEST)) == REQUEST
        proxy.close()
        assert all(map(is_reset, stopped))


def test_a_destination_that_reads_nothing_stops_the_sender_and_nothing_else(proxy: GateProxy) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, connected(proxy.open(LINK, listener.getsockname())) as one:
        accepted, _ = listener.accept()
        with accepted:
            one.settimeout(0.3)
            sent = 0
            with contextlib.suppress(TimeoutError):
                while sent < 1 << 28:
                    sent += one.send(framed(bytes(100_000)))
            assert sent < 1 << 26


@pytest.mark.parametrize("impaired", [False, True])
def test_a_peer_that_resets_in_the_middle_of_a_frame_resets_the_other(
    proxy: GateProxy, node: StubNode, *, impaired: bool
) -> None:
    if impaired:
        proxy.network.impose("far", LinkDelay((LinkDirection(2, 1),), 5))
    client = connected(proxy.open(LINK, node.address))
    client.sendall(REQUEST + REQUEST[:20])
    until(lambda: node.count == len(REQUEST), deadline_s=DEADLINE_S, what="the whole frame came")
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    until(lambda: bool(node.ended), deadline_s=DEADLINE_S, what="the other side heard")


def test_malformed_frames_discharge_nothing_and_are_counted(proxy: GateProxy, node: StubNode) -> None:
    proxy.arm("gap", Point("fetch_request", source=2))
    address = proxy.open(LINK, node.address)
    with connected(address) as client, connected(address) as broken:
        client.sendall(REQUEST)
        until(lambda: proxy.caught("gap"), deadline_s=DEADLINE_S, what="the frame is held")
        broken.sendall(framed(b"\x00\x01") + struct.pack(">i", -5) + b"rest")
        until(lambda: node.count == 14, deadline_s=DEADLINE_S, what="the bytes passed")
        assert proxy.undecodable == 2
        proxy.release("gap")
        until(lambda: node.count == 14 + len(REQUEST), deadline_s=DEADLINE_S, what="the held frame passed")


@pytest.mark.parametrize("what", ["large_frames", "many_connections", "exhausted"])
def test_a_proxy_of_its_own_process_keeps_its_bounds(what: str) -> None:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-m", "tests.fault_injection.wire.bounds_of_proxy", what]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    if what == "exhausted":
        assert told == {"failed": True, "serves_again": True}
    else:
        assert told["later_mb"] < told["first_mb"] + 70
        assert told["first_mb"] < told["before_mb"] + told["allowed_mb"]
