"""Is a fetch of a session that is dropped, closed or refused fetched again, although it lists no partition?

Source: FetchSessionHandler.handleError and handleResponse: the follower opens another session (epoch 0) after a lost
answer and after a top-level error; an error of a partition leaves its session, which its leader then finds an epoch
behind (FetchManager.newContext, INVALID_FETCH_SESSION_EPOCH).
"""

import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, Literal

import pytest

from fault_injection.waiting import until
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from fault_injection.wire.views import FetchPartition, FetchRequestView
from tests.fault_injection.wire.real_cluster import (
    DEADLINE_S,
    TOPIC,
    await_caught,
    cluster_of,
    create_topic,
    fetch_point,
    produce,
    traced,
)

pytestmark = pytest.mark.broker

VERSIONS = ["1.1.1", "2.8.2", "4.4.0"]
IMPATIENT = {"request.timeout.ms": "2000"}
"""A follower gives up a fetch that is dropped (ReplicaFetcherBlockingSend)."""

NOT_LEADER, SESSION_NOT_FOUND, INVALID_SESSION_EPOCH = 6, 70, 71
OPENS = 0

Said = Mapping[str, Any]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fetch_that_lists_nothing_is_caught_at_its_offset_and_fetched_again(version: str, tmp_path: Path) -> None:
    ways: list[tuple[str, Literal["fetch_request", "fetch_response"], Literal["drop", "close", "answer"], int | None]]
    ways = [
        ("refused", "fetch_request", "answer", NOT_LEADER),
        ("session gone", "fetch_request", "answer", SESSION_NOT_FOUND),
        ("closed", "fetch_request", "close", None),
        ("dropped", "fetch_request", "drop", None),
        ("answer refused", "fetch_response", "answer", NOT_LEADER),
        ("answer closed", "fetch_response", "close", None),
        ("answer dropped", "fetch_response", "drop", None),
    ]
    with cluster_of(version, tmp_path, overrides=IMPATIENT) as (cluster, proxy):
        create_topic(cluster, proxy)
        for end, (name, point, action, error) in enumerate(ways):
            await_idle(proxy, end)
            proxy.arm(name, fetch_point(point, end), action=action, error=error)
            caught = await_caught(proxy, name)
            assert isinstance(caught.partition, FetchPartition)
            assert (caught.fetch_offset, caught.partition.is_listed) == (end, False), name
            since_ns = time.monotonic_ns()
            produce(cluster, b"m%d" % end)
            await_record(proxy, end + 1)
            assert {r.error for r in proxy.rounds_since(since_ns, topic=TOPIC)} <= {0, INVALID_SESSION_EPOCH}, name
        assert proxy.undecodable == 0
        sent = data_fetches(traced(proxy, tmp_path))
    opened = {name: epochs_after(sent, name) for name, *_ in ways}
    for name in ("session gone", "closed", "dropped", "answer closed", "answer dropped"):
        assert opened[name][0] == OPENS, opened
    assert OPENS in opened["refused"][:3], opened
    assert opened["answer refused"][0] > OPENS, opened


def await_idle(proxy: GateProxy, end: int) -> None:
    """Wait for a fetch at the log's end that lists nothing."""
    names = (f"idle at {end}, {number}" for number in count())

    def is_idle() -> bool:
        name = next(names)
        proxy.arm(name, Point("fetch_request", 2, 1, TOPIC))
        caught = await_caught(proxy, name)
        proxy.release(name)
        view, asked = caught.request.view, caught.partition
        assert isinstance(view, FetchRequestView)
        assert isinstance(asked, FetchPartition)
        return view.session_epoch > OPENS and not asked.is_listed and asked.fetch_offset == end

    until(is_idle, deadline_s=DEADLINE_S, what=f"a fetch at {end} that lists nothing")


def await_record(proxy: GateProxy, end: int) -> None:
    until(
        lambda: proxy.last_forwarded_fetch_offset(2, 1, TOPIC, 0) == end,
        deadline_s=DEADLINE_S,
        what=f"the follower to have every record below {end}",
    )


def data_fetches(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the data fetches and their answers, in the order of arrival."""
    return [line for line in lines if line["api"] == "Fetch" and line["link"] == "replication" and line["decoded"]]


def epochs_after(lines: list[dict[str, Any]], hold: str) -> list[int]:
    """Return the session epochs of the fetches after the frame that a hold caught."""
    at = max(line["seq"] for line in lines if line["hold"] == hold)
    asked = [line for line in lines if line["direction"] == "request" and line["source"] == 2 and line["seq"] > at]
    return [line["decoded"]["session_epoch"] for line in asked]
