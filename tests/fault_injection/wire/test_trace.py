"""Is every frame written down once, in the file that was current, as plain JSON?"""

import json
from dataclasses import replace
from pathlib import Path
from typing import cast
from uuid import UUID

import pytest

from fault_injection.wire.trace import Outcome, Trace, TraceEntry, as_json, line
from fault_injection.wire.views import DivergingEpochView, EpochBatches, FetchedPartition
from tests.fault_injection.wire.gate_transcript import answer_of, asked, fetch_of


def entry(seq: int) -> TraceEntry:
    return TraceEntry(
        seq=seq,
        arrived_ns=10,
        forwarded_ns=None,
        connection=3,
        link="replication",
        source=2,
        destination=1,
        direction="request",
        api_key=1,
        api="Fetch",
        api_version=11,
        correlation_id=4,
        client_id="broker-2-fetcher-0",
        size=99,
        decoded=fetch_of(asked(7)),
        hold="gap",
        outcome="dropped",
    )


def test_a_line_tells_every_column() -> None:
    assert json.loads(line(entry(5))) == {
        "seq": 5,
        "arrived_ns": 10,
        "forwarded_ns": None,
        "connection": 3,
        "link": "replication",
        "source": 2,
        "destination": 1,
        "direction": "request",
        "api_key": 1,
        "api": "Fetch",
        "api_version": 11,
        "correlation_id": 4,
        "client_id": "broker-2-fetcher-0",
        "size": 99,
        "decoded": {
            "replica_id": 2,
            "replica_epoch": -1,
            "max_wait_ms": 500,
            "session_id": 0,
            "session_epoch": -1,
            "partitions": [{"topic": "t", "topic_id": None, "partition": 0, "fetch_offset": 7}],
        },
        "hold": "gap",
        "outcome": "dropped",
    }


def test_views_become_plain_json() -> None:
    given = FetchedPartition(
        None,
        UUID(int=5),
        0,
        0,
        3,
        epochs=(EpochBatches(None, 1, 2),),
        diverging_epoch=DivergingEpochView(1, 2),
        is_listed=False,
    )
    assert as_json(answer_of(given)) == {
        "error": 0,
        "session_id": 0,
        "throttle_time_ms": 0,
        "partitions": [
            {
                "topic": None,
                "topic_id": "00000000-0000-0000-0000-000000000005",
                "partition": 0,
                "error": 0,
                "high_watermark": 3,
                "epochs": [{"leader_epoch": None, "first_offset": 1, "last_offset": 2}],
                "diverging_epoch": {"leader_epoch": 1, "end_offset": 2},
                "is_listed": False,
            }
        ],
    }


def test_each_entry_is_in_the_file_that_was_current(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    trace = Trace()
    trace.write(entry(0))
    trace.flush()
    trace.rotate(first)
    trace.write(entry(1))
    trace.write(entry(2))
    trace.rotate(second)
    trace.write(entry(3))
    trace.flush()
    assert sequences(first) == [1, 2]
    assert sequences(second) == [3]
    trace.write(entry(4))
    trace.close()
    trace.write(entry(5))
    trace.flush()
    assert sequences(second) == [3, 4]


def test_a_trace_that_was_never_given_a_file_ends_quietly() -> None:
    trace = Trace()
    trace.write(entry(0))
    trace.close()


def test_a_file_that_cannot_be_created_is_an_error_at_once(tmp_path: Path) -> None:
    trace = Trace()
    with pytest.raises(FileNotFoundError):
        trace.rotate(tmp_path / "missing" / "wire.ndjson")
    trace.close()


def sequences(path: Path) -> list[int]:
    return [json.loads(text)["seq"] for text in path.read_text().splitlines()]


def test_a_full_disk_is_told_and_a_new_file_starts_anew(tmp_path: Path) -> None:
    trace = Trace()
    trace.rotate(Path("/dev/full"))
    trace.write(entry(1))
    with pytest.raises(OSError, match="No space left"):
        trace.flush()
    trace.write(entry(2))
    trace.rotate(tmp_path / "next")
    trace.write(entry(3))
    trace.close()
    assert [json.loads(told)["seq"] for told in (tmp_path / "next").read_text().splitlines()] == [3]


def test_a_line_that_cannot_be_told_is_an_error_and_a_new_file_starts_anew(tmp_path: Path) -> None:
    trace, untold = Trace(), cast("Outcome", frozenset())
    trace.rotate(tmp_path / "first")
    trace.write(replace(entry(1), outcome=untold))
    with pytest.raises(OSError, match="a line cannot be told: TypeError"):
        trace.flush()
    trace.rotate(tmp_path / "next")
    trace.write(entry(2))
    trace.close()
    assert sequences(tmp_path / "next") == [2]


def test_the_last_line_tells_which_frames_there_must_be(tmp_path: Path) -> None:
    trace, path = Trace(), tmp_path / "wire.ndjson"
    trace.rotate(path, lambda: 4)
    trace.write(entry(3))
    trace.write(entry(5))
    trace.end(next_seq=6)
    trace.write(entry(7))
    trace.close()
    lines = [json.loads(told) for told in path.read_text().splitlines()]
    assert [told["seq"] for told in lines[:-1]] == [3, 5]
    assert lines[-1] == {"end": True, "first_seq": 5, "next_seq": 6, "lines": 2}


def test_a_frame_that_comes_while_a_file_is_begun_is_in_it(tmp_path: Path) -> None:
    trace, path = Trace(), tmp_path / "wire.ndjson"

    def drawn_while_a_frame_passes() -> int:
        trace.write(entry(5))
        return 4

    trace.rotate(path, drawn_while_a_frame_passes)
    trace.end(next_seq=6)
    trace.close()
    lines = [json.loads(told) for told in path.read_text().splitlines()]
    assert [told.get("seq", told.get("first_seq")) for told in lines] == [5, 5]


def test_a_file_that_was_ended_is_whole_at_once(tmp_path: Path) -> None:
    trace, path = Trace(), tmp_path / "wire.ndjson"
    trace.rotate(path)
    trace.end(next_seq=1)
    trace.end(next_seq=2)
    assert json.loads(path.read_text())["next_seq"] == 1
    trace.close()


def test_an_end_that_cannot_be_written_is_told() -> None:
    trace = Trace()
    trace.rotate(Path("/dev/full"))
    with pytest.raises(OSError, match="No space left"):
        trace.end(next_seq=1)
    trace.close()
