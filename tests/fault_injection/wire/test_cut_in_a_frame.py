"""Does a cut stop a frame that has begun to go on, and does the rest of it come when the cut heals?"""

import socket
from collections.abc import Iterator

import pytest

from fault_injection.cluster.relay import LinkName
from fault_injection.waiting import until
from fault_injection.wire.impairments import LinkCut, LinkDirection
from fault_injection.wire.passage import PIECE_BYTES_MIN
from fault_injection.wire.proxy import TELLING_REQUESTS, GateProxy
from tests.fault_injection.wire.frames_of import fetch_request, fetch_response
from tests.fault_injection.wire.stub_node import DEADLINE_S, StubNode, await_received, connected, is_silent, read

REQUEST = fetch_request(offset=1)
COUNT = TELLING_REQUESTS + 2
"""Requests after which frames go on before they are read."""


@pytest.fixture
def follower(proxy: GateProxy, leader: StubNode) -> Iterator[socket.socket]:
    """Broker 2 on a connection on which it has fetched once."""
    with connected(proxy.open(LinkName.replication(1), leader.address)) as connection:
        connection.sendall(REQUEST)
        await_received(leader, REQUEST)
        yield connection


def test_a_large_answer_that_goes_on_while_it_arrives_stops_in_the_middle(
    proxy: GateProxy, leader: StubNode, follower: socket.socket
) -> None:
    answer = fetch_response(correlation_id=COUNT, records=bytes(300_000))
    for number in range(1, COUNT + 1):
        follower.sendall(fetch_request(offset=number, correlation_id=number))
        small = fetch_response(correlation_id=number) if number < COUNT else b""
        leader.connections[0].sendall(small)
        assert read(follower, len(small)) == small
    until(lambda: leader.count == (1 + COUNT) * len(REQUEST), deadline_s=DEADLINE_S, what="the last request came")
    leader.connections[0].sendall(answer[:PIECE_BYTES_MIN])
    assert read(follower, PIECE_BYTES_MIN) == answer[:PIECE_BYTES_MIN]
    proxy.network.impose("deaf follower", LinkCut((LinkDirection(1, 2),)))
    leader.connections[0].sendall(answer[PIECE_BYTES_MIN:])
    assert is_silent(follower)
    proxy.network.lift("deaf follower")
    assert read(follower, 300_000 - PIECE_BYTES_MIN) == answer[PIECE_BYTES_MIN:300_000]
