"""FE-01 and FE-02: connections, and who asks for what, are counted from fetches."""

from __future__ import annotations

import pytest

from conformance.examining.connections import ConnectionCounts, FetcherAssignment, _servants, _spread
from tests.conformance.examining.fetch_frames import fetch


def test_a_partition_that_two_connections_ask_for_is_seen() -> None:
    connections, servants = _servants([fetch(4, 0, 1, 2), fetch(5, 1, 2)])

    assert connections == {(2, 1, 0): {4}, (2, 1, 1): {5}}
    assert servants == {"turns-1 at 2": {4}, "turns-2 at 2": {4, 5}}
    assert _spread([fetch(4, 0, 1, 2), fetch(5, 1, 2)], "turns", (1, 2)) == [[1, 0], [2, 0], [2, 1]]


@pytest.mark.parametrize("subject", [ConnectionCounts(), FetcherAssignment()])
def test_no_question_is_asked_twice(subject: ConnectionCounts | FetcherAssignment) -> None:
    asked = [answer.what for answer in subject.predict(None)]  # type: ignore[arg-type]

    assert len(asked) == len(set(asked))
