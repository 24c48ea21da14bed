"""Is everything found that is said of the run's partition, by any name of its topic, and nothing else?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.record.directory import RunDirectory
from conformance.wire_trace.partition import NO_TOPIC_ID, mentions, requests
from tests.conformance.run_files import change_run
from tests.conformance.wire_trace.wire_lines import MS, wire_line, write_wire

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = "0dc25c35-83e3-49a4-93ed-fb5d50cf1fb0", "8a0bb0c4-08e4-4d3b-8a3c-2f7d7c4b1c11"


def run_with(path: Path, *entries: dict[str, Any], topic_id: str | None = None) -> RunDirectory:
    """Write a run of topic "t" whose n-th frame, from 1 on, says the n-th entry."""
    run = RunDirectory(path)
    change_run(run, topic="t", topic_id=topic_id)
    frames = (wire_line(n, "request", "Fetch", (2, 1), {"partitions": [e]}) for n, e in enumerate(entries, 1))
    write_wire(path, *frames, wire_line(99, "request", "Fetch", (2, 1), None))
    return run


def seen(run: RunDirectory) -> list[int]:
    return [mention.frame.seq for mention in mentions(run)]


@pytest.mark.parametrize(
    ("entry", "is_found"),
    [
        ({"topic": "t", "partition": 0}, True),
        ({"topic": None, "topic_id": OLD, "partition": 0}, True),
        ({"topic": "t", "partition": 1}, False),
        ({"topic": "u", "partition": 0}, False),
        ({"topic": None, "topic_id": NEW, "partition": 0}, False),
        ({"topic": None, "topic_id": NO_TOPIC_ID, "partition": 0}, False),
        ({"topic": "log", "partition": 0, "metadata": [{"topic_id": OLD, "partition": 0}]}, True),
        ({"topic": "log", "partition": 0, "metadata": [{"topic": "t", "topic_id": OLD}]}, False),
    ],
)
def test_what_is_said_of_the_partition_is_found(tmp_path: Path, entry: dict[str, Any], *, is_found: bool) -> None:
    assert seen(run_with(tmp_path, entry, topic_id=OLD)) == ([1] if is_found else [])


def test_an_id_beside_the_name_names_the_topic_elsewhere(tmp_path: Path) -> None:
    by_id = {"topic": None, "topic_id": NEW, "partition": 0}
    without = {"topic": "t", "topic_id": NO_TOPIC_ID, "partition": 0}

    assert seen(run_with(tmp_path, by_id, without, {"topic": "t", "topic_id": NEW, "partition": 0})) == [1, 2, 3]


def test_requests_of_a_link_are_those_since_a_time(tmp_path: Path) -> None:
    run = run_with(tmp_path, *({"topic": "t", "partition": 0} for _ in range(3)))

    assert [frame.seq for frame, _ in requests(run, source=2, destination=1, since_ns=2 * MS)] == [2, 3]
    assert requests(run, source=1, destination=2) == []
