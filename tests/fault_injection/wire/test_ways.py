"""Does a way name the bytes that it says, and no others?"""

import pytest

from fault_injection.cluster.relay import CLIENTS, ZOOKEEPER
from fault_injection.wire.impairments import Flow, LinkDirection, around, between


def flow(source: int | None, destination: int, direction: str = "request", kind: str = "replication") -> Flow:
    return Flow(kind, source, destination, direction)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("way", "carried", "expected"),
    [
        (LinkDirection(2, 1), flow(2, 1), True),
        (LinkDirection(2, 1), flow(2, 1, "response"), False),
        (LinkDirection(2, 1), flow(1, 2, "response"), True),
        (LinkDirection(2, 1), flow(1, 2), False),
        (LinkDirection(2, 1), flow(3, 1), False),
        (LinkDirection(2, 1), flow(None, 1), False),
        (LinkDirection(2, 1, opened_by="sender"), flow(2, 1), True),
        (LinkDirection(2, 1, opened_by="sender"), flow(1, 2, "response"), False),
        (LinkDirection(1, 2, opened_by="receiver"), flow(2, 1, "response"), True),
        (LinkDirection(2, None), flow(2, 3), True),
        (LinkDirection(2, None), flow(None, 3), False),
        (LinkDirection(None, 2), flow(3, 2), True),
        (LinkDirection(None, 2), flow(None, 2), True),
        (LinkDirection(None, 2), flow(2, 2), False),
        (LinkDirection(None, 2), flow(2, 3), False),
        (LinkDirection(None, 2), flow(2, 3, "response"), True),
        (LinkDirection(2, 1, "controller"), flow(2, 1), False),
        (LinkDirection(2, 1, "controller"), flow(2, 1, kind="controller"), True),
        (LinkDirection(kind="client"), flow(-1, 1, kind="client"), True),
    ],
)
def test_a_way_carries_what_its_sender_sends_to_its_receiver(
    way: LinkDirection, carried: Flow, *, expected: bool
) -> None:
    assert way.carries(carried) is expected


def test_both_ways_of_a_connection_are_each_others_reverse() -> None:
    requests = flow(2, 1)
    assert (requests.sender, requests.receiver) == (2, 1)
    assert (requests.reverse.sender, requests.reverse.receiver) == (1, 2)
    assert requests.reverse.reverse == requests


def test_between_and_around_name_all_that_lies_there() -> None:
    for carried in (flow(2, 1), flow(2, 1, "response"), flow(1, 2), flow(1, 2, "response")):
        assert any(way.carries(carried) for way in between(1, 2))
        assert any(way.carries(carried) for way in around(1))
    assert not any(way.carries(flow(2, 3)) for way in (*between(1, 2), *around(1)))


@pytest.mark.parametrize(
    ("way", "text"),
    [
        (LinkDirection(1, 2), "1→2"),
        (LinkDirection(2, None, "replication", "sender"), "requests 2→any (replication)"),
        (LinkDirection(None, 2, opened_by="receiver"), "answers any→2"),
        (LinkDirection(CLIENTS, ZOOKEEPER), "clients→zookeeper"),
    ],
)
def test_a_way_says_what_it_is(way: LinkDirection, text: str) -> None:
    assert way.text == text


def test_a_flow_says_what_it_is() -> None:
    assert flow(None, 1).text == "requests ?→1 (replication)"
    assert flow(2, 1, "response").text == "responses 1→2 (replication)"
