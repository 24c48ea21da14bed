"""Does a cut link carry nothing one way, is all as before when it heals, and what hears whose end?"""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fault_injection.cluster.relay import CLIENTS, ZOOKEEPER, LinkName
from fault_injection.waiting import until
from fault_injection.wire.impairments import LinkCut, LinkDelay, LinkDirection, between
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
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
REQUEST, SECOND = fetch_request(offset=1), fetch_request(offset=2, correlation_id=2)


@pytest.fixture
def address(proxy: GateProxy, leader: StubNode) -> tuple[str, int]:
    return proxy.open(LINK, leader.address)


@pytest.fixture
def follower(address: tuple[str, int], leader: StubNode) -> Iterator[socket.socket]:
    """Broker 2 on a connection on which it has fetched once."""
    with connected(address) as connection:
        connection.sendall(REQUEST)
        await_received(leader, REQUEST)
        yield connection


def test_requests_that_are_lost_stop_and_answers_still_come(
    proxy: GateProxy, leader: StubNode, follower: socket.socket
) -> None:
    proxy.network.impose("deaf leader", LinkCut((LinkDirection(2, 1),)))
    follower.sendall(SECOND)
    answer = fetch_response(high_watermark=4)
    leader.connections[0].sendall(answer)
    assert read(follower, len(answer)) == answer
    until(lambda: proxy.network.evidence("deaf leader").has_fired, deadline_s=DEADLINE_S, what="it stopped something")
    assert is_silent(follower)
    assert leader.all_received == REQUEST
    assert proxy.last_forwarded_fetch_offset(2, 1, "t", 0) == 1

    evidence = proxy.network.lift("deaf leader")
    await_received(leader, REQUEST + SECOND)
    (touched,) = evidence.touched
    assert (touched.frames, touched.size) == (1, len(SECOND))
    assert touched.first is not None
    assert (touched.first.api, touched.first.correlation_id, touched.first.fetch_offset) == ("Fetch", 2, 2)


def test_answers_that_are_lost_stop_and_requests_still_come(
    proxy: GateProxy, leader: StubNode, follower: socket.socket
) -> None:
    proxy.network.impose("deaf follower", LinkCut((LinkDirection(1, 2),)))
    follower.sendall(SECOND)
    await_received(leader, REQUEST + SECOND)
    assert proxy.last_forwarded_fetch_offset(2, 1, "t", 0) == 2
    answer = fetch_response(high_watermark=4)
    leader.connections[0].sendall(answer)
    assert is_silent(follower)
    proxy.network.lift("deaf follower")
    assert read(follower, len(answer)) == answer


def test_a_connection_opened_during_a_one_way_cut_carries_nothing(
    proxy: GateProxy, leader: StubNode, address: tuple[str, int]
) -> None:
    proxy.network.impose("deaf follower", LinkCut((LinkDirection(1, 2),)))
    with connected(address) as follower, connected(address) as other:
        follower.sendall(REQUEST)
        assert is_silent(follower)
        assert leader.all_received == b""
        own = fetch_request(offset=1, replica=3)
        other.sendall(own)
        await_received(leader, own)
        proxy.network.lift("deaf follower")
        until(lambda: leader.count == len(own) + len(REQUEST), deadline_s=DEADLINE_S, what="the request came late")


@pytest.mark.parametrize("link", [LINK, LinkName.controller(1, 2), LinkName.zookeeper(2)])
def test_a_connection_given_up_during_a_cut_never_was(proxy: GateProxy, leader: StubNode, link: LinkName) -> None:
    given_up = proxy.open(link, leader.address)
    proxy.network.impose("cut", LinkCut((LinkDirection(link.destination, 2),)))
    with connected(given_up) as follower:
        follower.sendall(REQUEST)
        until(lambda: proxy.network.evidence("cut").has_fired, deadline_s=DEADLINE_S, what="it is stopped")
    until(lambda: proxy.network.count(*between(link.destination, 2)) == 0, deadline_s=DEADLINE_S, what="it is gone")
    proxy.network.lift("cut")
    with connected(given_up) as follower:
        follower.sendall(SECOND)
        await_received(leader, SECOND)


def test_the_end_of_one_side_is_not_heard_over_a_cut(
    proxy: GateProxy, leader: StubNode, follower: socket.socket
) -> None:
    proxy.network.impose("cut", LinkCut(between(1, 2)))
    follower.sendall(SECOND)
    follower.close()
    assert is_silent_end(leader)
    proxy.network.lift("cut")
    await_received(leader, REQUEST + SECOND)
    until(lambda: bool(leader.ended), deadline_s=DEADLINE_S, what="the leader hears the end")


def test_a_sender_that_hears_nothing_is_not_told_that_its_peer_is_gone(
    proxy: GateProxy, leader: StubNode, follower: socket.socket
) -> None:
    proxy.network.impose("deaf leader", LinkCut((LinkDirection(2, 1),)))
    follower.close()
    for _ in range(3):
        leader.connections[0].sendall(fetch_response())
        assert is_silent_end(leader)
    proxy.network.lift("deaf leader")
    until(lambda: bool(leader.ended), deadline_s=DEADLINE_S, what="the leader hears the end")


def is_silent_end(node: StubNode) -> bool:
    with connected(node.address) as probe:
        is_silent(probe)
    return node.connections[0] not in node.ended


def test_a_cut_leaves_other_links_alone_and_two_cuts_heal_one_by_one(
    proxy: GateProxy, leader: StubNode, follower: socket.socket, address: tuple[str, int]
) -> None:
    proxy.network.impose("first", LinkCut((LinkDirection(2, 1),)))
    proxy.network.impose("second", LinkCut((LinkDirection(2, None),)))
    with connected(address) as other:
        own = fetch_request(offset=1, replica=3)
        other.sendall(own)
        until(lambda: leader.count == len(REQUEST + own), deadline_s=DEADLINE_S, what="the other is heard")
    follower.sendall(SECOND)
    proxy.network.lift("first")
    assert is_silent(follower)
    assert leader.count == len(REQUEST + own)
    assert list(proxy.network.imposed()) == ["second"]
    proxy.network.lift("second")
    until(lambda: leader.count == len(REQUEST + own + SECOND), deadline_s=DEADLINE_S, what="the request came late")


@pytest.mark.parametrize(
    "way", [LinkDirection(2, 1), LinkDirection(1, 2), LinkDirection(None, 1), LinkDirection(2, None, "replication")]
)
def test_a_cut_by_resets_ends_connections_until_it_is_lifted(
    proxy: GateProxy, leader: StubNode, follower: socket.socket, address: tuple[str, int], way: LinkDirection
) -> None:
    proxy.network.impose("cut", LinkCut((way,), by="reset"))
    assert is_reset(follower)
    with connected(address) as again:
        again.sendall(SECOND)
        assert is_reset(again)
    assert [touched.frames for touched in proxy.network.evidence("cut").touched] == [0, 1]
    proxy.network.lift("cut")
    with connected(address) as again:
        again.sendall(SECOND)
        await_received(leader, REQUEST + SECOND)


def test_connections_are_reset_once(
    proxy: GateProxy, leader: StubNode, follower: socket.socket, address: tuple[str, int]
) -> None:
    assert proxy.network.reset(LinkDirection(3, 1)) == ()
    assert proxy.network.count(*between(1, 2)) == 1
    (hit,) = proxy.network.reset(*between(1, 2))
    assert is_reset(follower)
    assert hit.flow.source == 2
    with connected(address) as again:
        again.sendall(SECOND)
        await_received(leader, REQUEST + SECOND)


def test_a_way_to_zookeeper_is_cut_like_any_other(proxy: GateProxy, leader: StubNode) -> None:
    leader.echoes = True
    content = b"\x00\x00\x00\x08no frame of Kafka's at all"
    own, others = (proxy.open(LinkName.zookeeper(broker), leader.address) for broker in (1, 2))
    with connected(own) as first, connected(others) as second:
        for connection in (first, second):
            connection.sendall(content)
            assert read(connection, len(content)) == content
        proxy.network.impose("cut", LinkCut((LinkDirection(1, ZOOKEEPER),)))
        for connection in (first, second):
            connection.sendall(content)
        assert read(second, len(content)) == content
        assert is_silent(first)
        proxy.network.lift("cut")
        assert read(first, len(content)) == content
        proxy.network.impose("cut", LinkCut(between(1, ZOOKEEPER), by="reset"))
        assert is_reset(first)
    assert is_refused(own)
    assert proxy.undecodable == 0


def is_refused(address: tuple[str, int]) -> bool:
    try:
        with connected(address) as refused:
            return is_reset(refused)
    except ConnectionResetError:
        return True


def test_clients_are_cut_from_a_broker_while_its_followers_are_not(proxy: GateProxy, leader: StubNode) -> None:
    replication, clients = proxy.open(LINK, leader.address), proxy.open(LinkName.client(1), leader.address)
    proxy.network.impose("cut", LinkCut((LinkDirection(CLIENTS, 1),)))
    with connected(replication) as follower, connected(clients) as client:
        client.sendall(fetch_request(offset=7, replica=-1))
        follower.sendall(REQUEST)
        await_received(leader, REQUEST)
        assert is_silent(client)
        assert leader.all_received == REQUEST


def test_everything_ends_with_the_proxy_whatever_is_imposed(address: tuple[str, int], proxy: GateProxy) -> None:
    proxy.network.impose("cut", LinkCut((LinkDirection(2, 1),)))
    proxy.network.impose("far", LinkDelay((LinkDirection(3, 1),), 60_000))
    with connected(address) as second, connected(address) as third:
        for broker, connection in {2: second, 3: third}.items():
            connection.sendall(fetch_request(offset=1, replica=broker))
        until(
            lambda: all(proxy.network.evidence(name).has_fired for name in ("cut", "far")),
            deadline_s=DEADLINE_S,
            what="each has met its frame",
        )
        proxy.close()
        for connection in (second, third):
            assert is_reset(connection)


def test_a_dead_node_ends_its_connections_also_over_a_cut(proxy: GateProxy, follower: socket.socket) -> None:
    proxy.network.impose("cut", LinkCut(between(1, 2)))
    follower.sendall(SECOND)
    proxy.refuse(LINK)
    assert is_reset(follower)


def test_a_frame_that_was_held_is_stopped_when_it_is_released_on_a_cut_way(
    proxy: GateProxy, leader: StubNode, follower: socket.socket
) -> None:
    proxy.arm("gap", Point("fetch_request", source=2))
    follower.sendall(SECOND)
    until(lambda: proxy.caught("gap"), deadline_s=DEADLINE_S, what="the frame is held")
    proxy.network.impose("cut", LinkCut((LinkDirection(2, 1),)))
    proxy.release("gap")
    assert is_silent(follower)
    assert leader.all_received == REQUEST
    proxy.network.lift("cut")
    await_received(leader, REQUEST + SECOND)


def test_the_trace_shows_when_a_stopped_frame_went_on(
    proxy: GateProxy, leader: StubNode, follower: socket.socket, tmp_path: Path
) -> None:
    proxy.trace_to(tmp_path / "wire.ndjson")
    proxy.network.impose("cut", LinkCut((LinkDirection(2, 1),)))
    follower.sendall(SECOND)
    until(lambda: proxy.network.evidence("cut").has_fired, deadline_s=DEADLINE_S, what="the frame is stopped")
    lifted_ns = proxy.network.lift("cut").lifted_ns
    await_received(leader, REQUEST + SECOND)
    lines = until(lambda: traced(proxy, tmp_path), deadline_s=DEADLINE_S, what="its fate is known")
    assert [line["outcome"] for line in lines] == ["held", "forwarded"]
    assert lines[0]["seq"] == lines[1]["seq"]
    assert lines[1]["arrived_ns"] < lifted_ns <= lines[1]["forwarded_ns"]


def traced(proxy: GateProxy, directory: Path) -> list[dict[str, Any]] | None:
    proxy.trace.flush()
    lines = [json.loads(line) for line in (directory / "wire.ndjson").read_text().splitlines()]
    return lines if len(lines) == 2 else None
