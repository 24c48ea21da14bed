"""Fetches are read off a trace with their connection, their fetcher, what they ask for and what they get."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.scenarios.fetchers.connections import ConnectionCounts, FetcherAssignment, _servants, _spread
from conformance.scenarios.fetchers.fetch_trace import Fetch, between, fetcher_of, fetches
from conformance.scenarios.fetchers.turns import (
    _after_hold,
    _answers,
    _in_order_of_coming,
    _in_order_of_request,
    _orders,
)

if TYPE_CHECKING:
    from pathlib import Path


def frame(seq: int, direction: str, partitions: list[dict[str, Any]], **fields: object) -> dict[str, Any]:
    common = {"seq": seq, "arrived_ns": seq * 10, "connection": 4, "link": "replication", "source": 2, "destination": 1}
    decoded = {"replica_id": 2, "partitions": partitions}
    named = {"api": "Fetch", "correlation_id": 7, "client_id": "broker-2-fetcher-1", "outcome": "forwarded"}
    return common | named | {"direction": direction, "decoded": decoded} | fields


def records(first: int, last: int) -> dict[str, Any]:
    return {"record_bytes": 80, "epochs": [{"leader_epoch": 0, "first_offset": first, "last_offset": last}]}


def written(path: Path, *frames: dict[str, Any]) -> Path:
    wire = path / "wire.ndjson"
    wire.write_text("".join(json.dumps(one) + "\n" for one in (*frames, {"end": True})))
    return wire


def test_an_answer_is_told_by_connection_and_correlation(tmp_path: Path) -> None:
    asked = [{"topic": "t", "partition": 1, "fetch_offset": 3}, {"topic_id": "id", "partition": 0, "fetch_offset": 0}]
    given = [{"topic": "t", "partition": 1} | records(3, 4), {"topic_id": "id", "partition": 0}]
    wire = written(
        tmp_path,
        frame(0, "request", asked, outcome="held"),
        frame(2, "response", given, connection=5),
        frame(1, "response", given),
        frame(0, "request", asked),
        frame(3, "request", asked, correlation_id=8),
        frame(4, "request", asked, api="OffsetForLeaderEpoch"),
        frame(5, "request", asked, source=None),
    )

    first, second = fetches(wire, {"id": "u"})

    assert first == Fetch(2, 1, 4, 1, 0, (("t", 1), ("u", 0)), ((("t", 1), 2),), (3, 0))
    assert (first.offset(("t", 1)), first.offset(("u", 0))) == (3, 0)
    assert second.given == ()
    assert [fetch.arrived_ns for fetch in between([first, second], 1, 31)] == [30]


@pytest.mark.parametrize(
    ("client_id", "fetcher"),
    [("broker-2-fetcher-1", 1), ("ReplicaFetcherThread-2-1", 2), ("broker-2-to-controller", None), ("", None)],
)
def test_a_fetcher_names_itself(client_id: str, fetcher: int | None) -> None:
    assert fetcher_of(client_id) == fetcher


def fetch(connection: int, fetcher: int, *asked: int, given: int | None = None) -> Fetch:
    gave = () if given is None else ((("turns", given), 1),)
    return Fetch(2, 1, connection, fetcher, 0, tuple(("turns", partition) for partition in asked), gave)


def test_a_partition_that_two_connections_ask_for_is_seen() -> None:
    connections, servants = _servants([fetch(4, 0, 1, 2), fetch(5, 1, 2)])

    assert connections == {(2, 1, 0): {4}, (2, 1, 1): {5}}
    assert servants == {"turns-1 at 2": {4}, "turns-2 at 2": {4, 5}}
    assert _spread([fetch(4, 0, 1, 2), fetch(5, 1, 2)], "turns", (1, 2)) == [[1, 0], [2, 0], [2, 1]]


ORDER = "fetcher 0: order of the partitions, request by request"
GIVEN = "fetcher 0: whose records came, answer by answer"


def answers_of(seen: list[Fetch]) -> dict[str, object]:
    taken = _after_hold(seen, 0)
    answers = (*_answers(0, taken, _in_order_of_request(taken)), _orders(0, taken))
    return {answer.what: answer.value for answer in answers}


def test_taken_turns_are_positions_in_the_first_request() -> None:
    answers = answers_of([fetch(4, 0, 7, 1), fetch(4, 0, 7, 1, given=7), fetch(4, 0, 1, 7, given=1), fetch(4, 0, 7, 1)])

    assert (answers["partitions of fetcher 0"], answers[GIVEN]) == ([1, 7], [0, 1])
    assert answers[ORDER] == [[0, 1], [1, 0], [0, 1]]


def test_a_starving_partition_shows() -> None:
    answers = answers_of([fetch(4, 0, 7, 1, given=7), fetch(4, 0, 7, 1, given=7), fetch(4, 0, 7, 1)])

    assert answers[GIVEN] == [0, 0]


def test_nothing_seen_is_no_answer_that_was_predicted() -> None:
    answers = answers_of([])

    assert (answers["partitions of fetcher 0"], answers[ORDER]) == ([], [])


def test_in_a_session_partitions_are_numbered_as_they_come() -> None:
    seen = [fetch(4, 0, 1, 7, given=given) for given in (7, 1, 7, 7)] + [fetch(4, 0, 1, 7)]
    taken = _after_hold(seen, 0)
    answers = {answer.what: answer.value for answer in _answers(0, taken, _in_order_of_coming(taken))}

    assert answers[GIVEN] == [0, 1, 0, 0]


@pytest.mark.parametrize("subject", [ConnectionCounts(), FetcherAssignment()])
def test_no_question_is_asked_twice(subject: ConnectionCounts | FetcherAssignment) -> None:
    asked = [answer.what for answer in subject.predict(None)]  # type: ignore[arg-type]

    assert len(asked) == len(set(asked))
