"""Fetches are read off a trace with their connection, their fetcher, what they ask for and what they get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.record.directory import RunDirectory
from conformance.wire_trace.fetches import FollowerFetch, between, fetcher_of, fetches
from tests.conformance.wire_trace.wire_lines import MS, wire_line, write_wire

if TYPE_CHECKING:
    from pathlib import Path

    from fault_injection.wire.points import Direction


def frame(seq: int, direction: Direction, partitions: list[dict[str, Any]], **columns: object) -> dict[str, Any]:
    api, source = columns.pop("api", "Fetch"), columns.pop("source", 2)
    said = {"replica_id": 2, "partitions": partitions}
    return wire_line(seq, direction, str(api), (source, 1), said, **({"correlation_id": 7} | columns))  # type: ignore[arg-type]


def records(first: int, last: int) -> dict[str, Any]:
    return {"record_bytes": 80, "epochs": [{"leader_epoch": 0, "first_offset": first, "last_offset": last}]}


def test_an_answer_is_told_by_connection_and_correlation(tmp_path: Path) -> None:
    asked = [{"topic": "t", "partition": 1, "fetch_offset": 3}, {"topic_id": "id", "partition": 0, "fetch_offset": 0}]
    given = [{"topic": "t", "partition": 1} | records(3, 4), {"topic_id": "id", "partition": 0}]
    write_wire(
        tmp_path,
        frame(0, "request", asked, outcome="held"),
        frame(2, "response", given, connection=5),
        frame(1, "response", given),
        frame(0, "request", asked),
        frame(3, "request", asked, correlation_id=8),
        frame(4, "request", asked, api="OffsetForLeaderEpoch"),
        frame(5, "request", asked, source=None),
        frame(6, "request", asked, correlation_id=9, outcome="held"),
    )

    first, second = fetches(RunDirectory(tmp_path), {"id": "u"})

    assert first == FollowerFetch(2, 1, 4, 1, 0, (("t", 1), ("u", 0)), ((("t", 1), 2),), (3, 0))
    assert (first.offset(("t", 1)), first.offset(("u", 0))) == (3, 0)
    assert second.given == ()
    assert [fetch.arrived_ns for fetch in between([first, second], 1, 3 * MS + 1)] == [3 * MS]


@pytest.mark.parametrize(
    ("client_id", "fetcher"),
    [("broker-2-fetcher-1", 1), ("ReplicaFetcherThread-2-1", 2), ("broker-2-to-controller", None), ("", None)],
)
def test_a_fetcher_names_itself(client_id: str, fetcher: int | None) -> None:
    assert fetcher_of(client_id) == fetcher
