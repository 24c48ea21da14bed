"""Does the proxy move bytes unchanged, and do its ports behave like the ports of the nodes behind them?"""

import contextlib
import socket
import struct
import threading

import pytest

from fault_injection.waiting import until
from fault_injection.wire.gate import GateError
from fault_injection.wire.gate_events import HoldStatus
from fault_injection.wire.impairments import LinkCut, LinkDirection, around
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.wire.frames_of import fetch_request, fetch_response
from tests.fault_injection.wire.proxy.stub_leader import (
    DEADLINE_S,
    LINK,
    Leader,
    follower_address,
    held,
    is_reset,
    read,
    received,
)


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


@pytest.mark.parametrize("end", [(2, None), (None, 1), (2, 1)])
def test_a_cut_link_resets_until_it_heals(
    proxy: GateProxy, leader: Leader, follower: socket.socket, end: tuple[int | None, int | None]
) -> None:
    request = fetch_request(offset=1)
    follower.sendall(request)
    received(leader, request)
    proxy.network.impose("cut", LinkCut((LinkDirection(*end, opened_by="sender"),), by="reset"))
    assert is_reset(follower)
    with socket.create_connection(follower_address(proxy, leader), timeout=DEADLINE_S) as again:
        again.sendall(request)
        assert is_reset(again)
    assert leader.bytes_received() == request
    proxy.network.lift("cut")
    with socket.create_connection(follower_address(proxy, leader), timeout=DEADLINE_S) as again:
        again.sendall(request)
        received(leader, 2 * request)


def test_an_isolated_broker_is_cut_in_both_directions_and_reaches_itself(proxy: GateProxy, leader: Leader) -> None:
    address = proxy.open(LINK, leader.address)
    proxy.network.impose("alone 2", LinkCut(around(2), by="reset"))
    with socket.create_connection(address, timeout=DEADLINE_S) as cut:
        cut.sendall(fetch_request(offset=1, replica=2))
        assert is_reset(cut)
    proxy.network.impose("alone 1", LinkCut(around(1), by="reset"))
    with socket.create_connection(address, timeout=DEADLINE_S) as cut:
        cut.sendall(fetch_request(offset=1, replica=3))
        assert is_reset(cut)
    with socket.create_connection(address, timeout=DEADLINE_S) as itself:
        own = fetch_request(offset=1, replica=1)
        itself.sendall(own)
        received(leader, own)
    for name in ("alone 1", "alone 2"):
        proxy.network.lift(name)
    assert [proxy.status(name) for name in proxy.holds()] == []


@pytest.mark.parametrize(("peers", "strangers"), [("127.0.0.1/32", 0), ("127.0.0.2/32", 1)])
def test_who_does_not_come_from_the_network_of_the_nodes_is_refused_and_counted(
    leader: Leader, peers: str, strangers: int
) -> None:
    leader.echoes = True
    said = b"\xff\xff\xff\xffhello"
    with GateProxy(peers=[peers]) as proxy:
        address = proxy.open(LINK, leader.address)
        heard = b""
        with contextlib.suppress(ConnectionError), socket.create_connection(address, DEADLINE_S) as caller:
            caller.sendall(said)
            heard = read(caller, len(said))
        until(lambda: proxy.strangers == strangers, deadline_s=DEADLINE_S, what="whoever is refused is counted")
    assert heard == (b"" if strangers else said)
    assert len(leader.connections) == 1 - strangers
