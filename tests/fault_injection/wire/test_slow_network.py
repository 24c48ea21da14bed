"""Does a delay cost time and not throughput?

Times are compared with the same traffic on the same proxy without the impairment, or are lower bounds, which a
busy machine cannot break.
"""

import time
from collections.abc import Iterator

import pytest

from fault_injection.cluster.relay import LinkName
from fault_injection.waiting import until
from fault_injection.wire.impairments import LinkCut, LinkDelay, LinkDirection
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.wire.frames_of import fetch_request
from tests.fault_injection.wire.stub_node import DEADLINE_S, StubNode, connected, read, seconds_of_round_trip

LINK = LinkName.replication(1)
REQUEST = fetch_request(offset=1)
DELAY_MS = 60


@pytest.fixture
def node() -> Iterator[StubNode]:
    stub = StubNode(echoes=True)
    yield stub
    stub.close()


@pytest.mark.parametrize(
    ("ways", "times"),
    [(((2, 1),), 1), (((1, 2),), 1), (((2, 1), (1, 2)), 2), (((2, 1), (2, None)), 2), (((2, 3), (3, 1)), 0)],
)
def test_a_round_trip_takes_longer_by_every_delay_on_its_way(
    proxy: GateProxy, node: StubNode, ways: tuple[tuple[int, int | None], ...], times: int
) -> None:
    with connected(proxy.open(LINK, node.address)) as follower:
        direct_s = min(seconds_of_round_trip(follower, REQUEST) for _ in range(5))
        for number, (sender, receiver) in enumerate(ways):
            proxy.network.impose(f"far {number}", LinkDelay((LinkDirection(sender, receiver),), DELAY_MS))
        delayed_s = min(seconds_of_round_trip(follower, REQUEST) for _ in range(3))
        for name in proxy.network.imposed():
            proxy.network.lift(name)
        again_s = min(seconds_of_round_trip(follower, REQUEST) for _ in range(5))
    assert times * DELAY_MS / 1000 <= delayed_s < times * DELAY_MS / 1000 + direct_s + DELAY_MS / 2000
    assert again_s < DELAY_MS / 2000


def test_as_much_is_under_way_on_a_delayed_link_as_before(proxy: GateProxy, node: StubNode) -> None:
    count = 50
    with connected(proxy.open(LINK, node.address)) as follower:
        proxy.network.impose("far", LinkDelay((LinkDirection(2, 1),), DELAY_MS))
        begun = time.monotonic()
        for number in range(count):
            follower.sendall(fetch_request(offset=number, correlation_id=number))
        expected = b"".join(fetch_request(offset=number, correlation_id=number) for number in range(count))
        assert read(follower, len(expected)) == expected
        took_s = time.monotonic() - begun
    assert DELAY_MS / 1000 <= took_s < count * DELAY_MS / 1000 / 5
    assert proxy.network.evidence("far").touched[0].frames == count


@pytest.mark.parametrize("is_shorter", [False, True])
def test_frames_keep_their_order_when_a_delay_ends(proxy: GateProxy, node: StubNode, *, is_shorter: bool) -> None:
    late, later = REQUEST, fetch_request(offset=2, correlation_id=2)
    with connected(proxy.open(LINK, node.address)) as follower:
        proxy.network.impose("far", LinkDelay((LinkDirection(2, 1),), 3 * DELAY_MS))
        follower.sendall(late)
        until(lambda: proxy.network.evidence("far").has_fired, deadline_s=DEADLINE_S, what="the frame is under way")
        if is_shorter:
            proxy.network.impose("near", LinkDelay((LinkDirection(2, 1),), 1))
        proxy.network.lift("far")
        follower.sendall(later)
        assert read(follower, len(late + later)) == late + later
        assert len(late) == len(later)


def test_an_orderly_end_comes_after_what_was_delayed(proxy: GateProxy, node: StubNode) -> None:
    node.echoes = False
    follower = connected(proxy.open(LINK, node.address))
    proxy.network.impose("far", LinkDelay((LinkDirection(2, 1),), DELAY_MS))
    follower.sendall(REQUEST)
    follower.close()
    until(lambda: bool(node.ended), deadline_s=DEADLINE_S, what="the end came")
    assert node.all_received == REQUEST


def test_a_delayed_frame_is_stopped_by_a_cut(proxy: GateProxy, node: StubNode) -> None:
    with connected(proxy.open(LINK, node.address)) as follower:
        proxy.network.impose("far", LinkDelay((LinkDirection(2, 1),), DELAY_MS))
        follower.sendall(REQUEST)
        until(lambda: proxy.network.evidence("far").has_fired, deadline_s=DEADLINE_S, what="the frame is under way")
        proxy.network.impose("cut", LinkCut((LinkDirection(2, 1),)))
        until(lambda: proxy.network.evidence("cut").has_fired, deadline_s=DEADLINE_S, what="the frame is stopped")
        assert node.all_received == b""
        proxy.network.lift("cut")
        assert read(follower, len(REQUEST)) == REQUEST


def test_what_a_delay_keeps_is_bounded(proxy: GateProxy, node: StubNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fault_injection.wire.channel.LINE_BYTES_MAX", 2 * len(REQUEST))
    node.echoes = False
    count = 9
    with connected(proxy.open(LINK, node.address)) as follower:
        proxy.network.impose("far", LinkDelay((LinkDirection(2, 1),), DELAY_MS))
        begun = time.monotonic()
        follower.sendall(REQUEST * count)
        until(lambda: node.count == count * len(REQUEST), deadline_s=DEADLINE_S, what="all came")
    assert time.monotonic() - begun >= DELAY_MS / 1000 * (count // 3)
