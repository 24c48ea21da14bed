"""Does the proxy move bytes unchanged, and do its ports behave like the ports of the nodes behind them?"""

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fault_injection.cluster.relay import LinkName
from fault_injection.waiting import until
from fault_injection.wire.gate import GateError
from fault_injection.wire.gate_events import GateEvent, HoldStatus
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.wire.frames_of import TOPIC_ID, fetch_request, fetch_response

LINK = LinkName.replication(1)
DEADLINE_S = 10.0


class Leader:
    """A destination that answers each FETCH with the next prepared frame; not a broker, only its port."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self.listener.getsockname()
        self.received: list[bytes] = []
        self.connections: list[socket.socket] = []
        self.echoes = False
        self._asked_by: socket.socket | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                accepted, _ = self.listener.accept()
                self.connections.append(accepted)
                threading.Thread(target=self._serve, args=(accepted,), daemon=True).start()

    def _serve(self, accepted: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while content := accepted.recv(1 << 16):
                self._asked_by = accepted
                self.received.append(content)
                if self.echoes:
                    accepted.sendall(content)

    def answer(self, frame: bytes) -> None:
        (self._asked_by or self.connections[-1]).sendall(frame)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self._thread.join()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def bytes_received(self) -> bytes:
        return b"".join(self.received)


@pytest.fixture
def leader() -> Iterator[Leader]:
    stub = Leader()
    yield stub
    stub.close()


@pytest.fixture
def events() -> list[GateEvent]:
    return []


@pytest.fixture
def proxy(events: list[GateEvent]) -> Iterator[GateProxy]:
    before = threading.active_count()
    with GateProxy(on_event=events.append) as gate_proxy:
        yield gate_proxy
    leaked = [thread.name for thread in threading.enumerate() if thread.name.startswith("wire-")]
    assert not leaked, f"{leaked} of {before}"


@pytest.fixture
def follower(proxy: GateProxy, leader: Leader) -> Iterator[socket.socket]:
    address = proxy.open(LINK, leader.address)
    with socket.create_connection(address, timeout=DEADLINE_S) as connected:
        yield connected


def received(leader: Leader, expected: bytes) -> None:
    until(lambda: leader.bytes_received() == expected, deadline_s=DEADLINE_S, what="the leader has the bytes")


def held(proxy: GateProxy, name: str) -> None:
    until(lambda: proxy.caught(name), deadline_s=DEADLINE_S, what=f"{name} caught a frame")


def read(connected: socket.socket, count: int) -> bytes:
    content = b""
    while len(content) < count and (more := connected.recv(count - len(content))):
        content += more
    return content


def is_reset(connected: socket.socket) -> bool:
    try:
        connected.recv(1)
    except ConnectionResetError:
        return True
    return False


@pytest.mark.parametrize("size", [0, 4, 100, 65_532, 65_533, 200_000, 5_000_000])
def test_any_frame_travels_unchanged_in_both_directions(leader: Leader, follower: socket.socket, size: int) -> None:
    leader.echoes = True
    frame = struct.pack(">i", size) + bytes(index % 251 for index in range(size))
    sender = threading.Thread(target=follower.sendall, args=(frame + frame,))
    sender.start()
    assert read(follower, 2 * len(frame)) == frame + frame
    sender.join()
    assert leader.bytes_received() == frame + frame


def test_bytes_without_framing_travel_unchanged(proxy: GateProxy, leader: Leader, follower: socket.socket) -> None:
    leader.echoes = True
    content = b"\xff\xff\xff\xffGET / HTTP/1.1\r\n\r\n"
    follower.sendall(content)
    assert read(follower, len(content)) == content
    assert proxy.undecodable == 2


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


def test_refused_port_is_closed_and_comes_back_under_the_same_address(
    proxy: GateProxy, leader: Leader, follower: socket.socket
) -> None:
    proxy.arm("gap", Point("fetch_request"))
    follower.sendall(fetch_request(offset=1))
    held(proxy, "gap")
    address = follower.getpeername()
    proxy.refuse(LINK)
    assert proxy.status("gap") is HoldStatus.DISCHARGED
    assert is_reset(follower)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=DEADLINE_S)
    with pytest.raises(GateError, match="discharged"):
        proxy.release("gap")
    assert proxy.open(LINK, leader.address) == address
    with socket.create_connection(address, timeout=DEADLINE_S) as again:
        again.sendall(b"\x00\x00\x00\x00")
        received(leader, b"\x00\x00\x00\x00")


def test_aborting_a_source_leaves_other_sources_alone(
    proxy: GateProxy, leader: Leader, follower: socket.socket
) -> None:
    address = follower.getpeername()
    with socket.create_connection(address, timeout=DEADLINE_S) as other:
        follower.sendall(fetch_request(offset=1, replica=2))
        other.sendall(fetch_request(offset=1, replica=3))
        both = 2 * len(fetch_request(offset=1))
        until(lambda: len(leader.bytes_received()) == both, deadline_s=DEADLINE_S, what="both fetched")
        proxy.abort_source(2)
        assert is_reset(follower)
        more = fetch_request(offset=2, replica=3)
        other.sendall(more)
        until(lambda: len(leader.bytes_received()) > both, deadline_s=DEADLINE_S, what="the other lives")


def test_a_follower_that_goes_away_discharges_its_held_frame(proxy: GateProxy, follower: socket.socket) -> None:
    proxy.arm("gap", Point("fetch_request"))
    follower.sendall(fetch_request(offset=1))
    held(proxy, "gap")
    follower.close()
    until(lambda: proxy.status("gap") == "discharged", deadline_s=DEADLINE_S, what="the hold is discharged")


def test_a_leader_that_ends_in_order_ends_the_follower_in_order(leader: Leader, follower: socket.socket) -> None:
    request = fetch_request(offset=1)
    follower.sendall(request)
    received(leader, request)
    answer = fetch_response()
    leader.answer(answer)
    leader.connections[-1].shutdown(socket.SHUT_RDWR)
    assert read(follower, len(answer) + 1) == answer


def test_a_destination_that_does_not_listen_resets(proxy: GateProxy, leader: Leader) -> None:
    leader.close()
    address = proxy.open(LINK, leader.address)
    with pytest.raises(ConnectionResetError), socket.create_connection(address) as connected:
        connected.recv(1)


def test_abort_ends_a_connection_whose_peer_does_not_read(
    proxy: GateProxy, leader: Leader, follower: socket.socket
) -> None:
    request = fetch_request(offset=1)
    follower.sendall(request)
    received(leader, request)
    size = 64 * 1024 * 1024
    sender = threading.Thread(target=lambda: send_quietly(leader, struct.pack(">i", size) + bytes(size)))
    sender.start()
    until(lambda: follower.recv(1, socket.MSG_PEEK), deadline_s=DEADLINE_S, what="the answer begins")
    proxy.refuse(LINK)
    sender.join(DEADLINE_S)
    assert not sender.is_alive()


def send_quietly(leader: Leader, content: bytes) -> None:
    with contextlib.suppress(OSError):
        leader.answer(content)


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
    proxy.flush_trace()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return sorted(lines, key=lambda line: line["seq"]) if len(lines) >= count else None


@pytest.mark.parametrize("end", [(2, None), (None, 1), (2, 1)])
def test_a_cut_link_resets_until_it_heals(
    proxy: GateProxy, leader: Leader, follower: socket.socket, end: tuple[int | None, int | None]
) -> None:
    request = fetch_request(offset=1)
    follower.sendall(request)
    received(leader, request)
    proxy.cut(*end)
    assert is_reset(follower)
    with socket.create_connection(follower_address(proxy, leader), timeout=DEADLINE_S) as again:
        again.sendall(request)
        assert is_reset(again)
    assert leader.bytes_received() == request
    proxy.heal(*end)
    with socket.create_connection(follower_address(proxy, leader), timeout=DEADLINE_S) as again:
        again.sendall(request)
        received(leader, 2 * request)


def follower_address(proxy: GateProxy, leader: Leader) -> tuple[str, int]:
    return proxy.open(LINK, leader.address)


def test_an_isolated_broker_is_cut_in_both_directions_and_reaches_itself(proxy: GateProxy, leader: Leader) -> None:
    address = proxy.open(LINK, leader.address)
    proxy.isolate(2)
    with socket.create_connection(address, timeout=DEADLINE_S) as cut:
        cut.sendall(fetch_request(offset=1, replica=2))
        assert is_reset(cut)
    proxy.isolate(1)
    with socket.create_connection(address, timeout=DEADLINE_S) as cut:
        cut.sendall(fetch_request(offset=1, replica=3))
        assert is_reset(cut)
    with socket.create_connection(address, timeout=DEADLINE_S) as itself:
        own = fetch_request(offset=1, replica=1)
        itself.sendall(own)
        received(leader, own)
    proxy.rejoin(1)
    proxy.rejoin(2)
    assert [proxy.status(name) for name in proxy.holds()] == []


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
