"""Does a compressed trace tell what a plain one tells, also one whose writer was killed, or that leaves frames out?"""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING
from uuid import UUID

import pyarrow as pa
import pytest

from conformance.observation.errors import FramesMissingError, TraceUnreadableError
from conformance.observation.frame_events import is_wanted
from conformance.observation.wire_moments import WireMoments, trace_end
from conformance.record.wire import frame_of
from conformance.record.wire_lines import last_line_of, lines_of
from fault_injection.wire import compressed_lines
from fault_injection.wire.controller_views import ControlledShutdownView, LeaderAndIsrView, PartitionLeadership
from fault_injection.wire.metadata_views import PartitionRecord
from fault_injection.wire.points import METADATA_TOPIC
from fault_injection.wire.views import (
    AppendedPartition,
    DivergingEpochView,
    EpochBatches,
    FetchedPartition,
    FetchPartition,
    FetchRequestView,
    FetchResponseView,
    IdBatch,
    ProducedPartition,
    ProduceRequestView,
    ProduceResponseView,
)
from tests.conformance.observation.wire_files import FETCH, LEADER_AND_ISR, WireFile

if TYPE_CHECKING:
    from pathlib import Path

    from fault_injection.wire.trace import TraceEntry

PRODUCE, SHUTDOWN, HEARTBEAT = 0, 7, 63
COMPRESSED = "wire.ndjson.zst"
TOPIC_ID = UUID(int=77)
STATE = PartitionLeadership("t", TOPIC_ID, 0, 2, 7, (1, 2), (1, 2, 3), 1, 4)
IDS = (IdBatch(5, 3, 1000), IdBatch(8, 1, -1))


def every_kind(wire: WireFile) -> WireFile:
    """Add frames of the kinds that are told at once, and of others."""
    asked = FetchPartition("t", TOPIC_ID, 0, 5, 1, 1, 0, is_listed=False)
    fetch = wire.request(FETCH, 2, 1, FetchRequestView(2, 9, 500, 1, 2, (asked,), (("t", 1), (TOPIC_ID, 2))))
    runs = (EpochBatches(1, 5, 8), EpochBatches(None, None, 9))
    given = FetchedPartition(None, TOPIC_ID, 0, 0, 5, record_bytes=99, epochs=runs, batches=IDS)
    diverging = FetchedPartition("t", TOPIC_ID, 1, 0, 5, diverging_epoch=DivergingEpochView(1, 2), is_listed=False)
    wire.answer(fetch, FetchResponseView(0, 1, 0, (given, diverging)))
    metadata = wire.request(FETCH, 2, 100, FetchRequestView(2, 9, 500, 1, 2, ()), link="controller")
    record = PartitionRecord(7, TOPIC_ID, 0, (1, 2), (1, 2), 1, 3, 4)
    log = FetchedPartition(METADATA_TOPIC, UUID(int=1), 0, 0, 5, metadata=(record,))
    wire.answer(metadata, FetchResponseView(0, 1, 0, (log,)))
    sent = ProducedPartition("t", None, 0, 99, 4, 7, 0, 3, batches=IDS)
    produce = wire.request(PRODUCE, None, 1, ProduceRequestView(-1, 1000, (sent,), "transactional ü"), link="client")
    wire.answer(produce, ProduceResponseView(0, (AppendedPartition("t", None, 0, 0, 5, leader_id=1),)))
    wire.request(LEADER_AND_ISR, 3, 1, LeaderAndIsrView(3, 4, 5, (STATE,)))
    wire.request(SHUTDOWN, 2, 1, None, forwarded_ns=None, outcome="aborted", hold="gap")
    return wire


def test_a_compressed_trace_says_what_a_plain_one_says(tmp_path: Path) -> None:
    wire = every_kind(WireFile())
    plain, compressed = wire.write(tmp_path), wire.write(tmp_path, name=COMPRESSED)
    assert list(WireMoments(compressed)) == list(WireMoments(plain))
    assert trace_end(compressed) == trace_end(plain)
    frames = [frame for line in lines_of(compressed) if (frame := frame_of(line)) is not None]
    (produced,) = (one.said for one in frames if one.is_request("Produce"))
    (appended,) = (one.said for one in frames if one.is_answer("Produce"))
    assert (produced.acks, produced.entries[0].record_count, produced.entries[0].base_sequence) == (-1, 4, 3)
    assert [(one.base_offset, one.count, one.first_id) for one in produced.entries[0].batches] == [
        (one.base_offset, one.count, one.first_id) for one in IDS
    ]
    assert (appended.acks, appended.entries[0].base_offset) == (None, 5)


def test_zstd_reads_a_compressed_trace(tmp_path: Path) -> None:
    path = every_kind(WireFile()).write(tmp_path, name=COMPRESSED)
    with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
        assert stream.read() == b"".join(lines_of(path))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed_lines, "BLOCK_BYTES", 1_000)


@pytest.mark.usefixtures("small_blocks")
def test_of_a_file_that_was_cut_anywhere_the_whole_blocks_are_read(tmp_path: Path) -> None:
    path = every_kind(WireFile()).write(tmp_path, name=COMPRESSED)
    content, lines = path.read_bytes(), list(lines_of(path))
    assert b"".join(lines).count(b"\n") == len(lines)
    read = []
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        read.append(list(lines_of(path)))
        assert last_line_of(path) == b"".join(read[-1][-1:]).rstrip(b"\n")
        with pytest.raises(TraceUnreadableError, match="is cut short"):
            trace_end(path)
    assert all(before == after[: len(before)] for before, after in pairwise([*read, lines]))
    assert len({len(one) for one in read}) > 2


def test_what_a_killed_writer_wrote_is_there_a_second_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = compressed_lines.CompressedLines(tmp_path / COMPRESSED)
    lines.write(b"first\n")
    assert list(lines_of(tmp_path / COMPRESSED)) == []
    monkeypatch.setattr(compressed_lines, "BLOCK_NS", 0)
    lines.write(b"second\n")
    assert list(lines_of(tmp_path / COMPRESSED)) == [b"first\n", b"second\n"]
    lines.close()


@pytest.mark.usefixtures("small_blocks")
def test_a_damaged_block_is_told(tmp_path: Path) -> None:
    path = every_kind(WireFile()).write(tmp_path, name=COMPRESSED)
    content = bytearray(path.read_bytes())
    content[40:60] = bytes(20)
    path.write_bytes(content)
    with pytest.raises(TraceUnreadableError, match="cannot be read after line 0"):
        list(WireMoments(path))


def test_another_compressed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / COMPRESSED
    path.write_bytes(pa.Codec("zstd").compress(b"one\ntwo\n" * 10, asbytes=True))
    with pytest.raises(TraceUnreadableError, match="not a compressed trace of ours"):
        trace_end(path)


def test_without_pyarrow_all_but_a_compressed_file_works(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from pathlib import Path\n"
        "from fault_injection.wire.trace import Trace\n"
        "trace = Trace(); trace.rotate(Path(sys.argv[1]) / 'wire.ndjson'); trace.end(1)\n"
        "try: trace.rotate(Path(sys.argv[1]) / 'wire.ndjson.zst')\n"
        "except ModuleNotFoundError: print('missing')\n"
        "trace.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path], check=True, capture_output=True, text=True)
    assert done.stdout == "missing\n"


# Frames that are left out


def wanted(entry: TraceEntry) -> bool:
    return is_wanted(entry.link, entry.api_key)


def with_heartbeats(wire: WireFile) -> WireFile:
    beat = ControlledShutdownView(2, 1)
    wire.request(HEARTBEAT, 2, 100, beat, link="controller")
    every_kind(wire)
    held = wire.request(HEARTBEAT, 2, 100, beat, link="controller", outcome="held", forwarded_ns=None)
    wire.fate(held, "forwarded", held.arrived_ns + 1)
    wire.request(FETCH, -1, 1, FetchRequestView(-1, -1, 500, 0, -1, ()), link="client")
    return wire


@pytest.mark.parametrize("name", ["wire.ndjson", COMPRESSED])
def test_what_nobody_reads_can_be_left_out(tmp_path: Path, name: str) -> None:
    path = with_heartbeats(WireFile()).write(tmp_path, name=name, keeps=wanted)
    moments = WireMoments(path)
    kept = {moment.frame.api_key for moment in moments}
    assert kept == {FETCH, PRODUCE, LEADER_AND_ISR, SHUTDOWN}, "the last one was caught by an action"
    assert not any(moment.frame.link == "client" and moment.frame.api_key == FETCH for moment in WireMoments(path))
    assert trace_end(path).left_out == (10, 10, 11)
    assert trace_end(path).lines == moments.lines == 8


@pytest.mark.usefixtures("small_blocks")
def test_a_frame_that_was_neither_written_nor_left_out_is_missing(tmp_path: Path) -> None:
    wire = with_heartbeats(WireFile())
    path = wire.write(tmp_path, keeps=wanted, next_seq=200)
    path.write_text(path.read_text().replace('"left_out":[1]', '"left_out":[]'))
    with pytest.raises(FramesMissingError, match="such as 1"):
        list(WireMoments(path))


def test_order_is_kept_around_many_frames_that_are_left_out(tmp_path: Path) -> None:
    wire = WireFile()
    for _ in range(500):
        wire.request(HEARTBEAT, 2, 100, ControlledShutdownView(2, 1), link="controller")
        wire.request(FETCH, 2, 1, FetchRequestView(2, 9, 500, 0, -1, ()))
    whole = [moment for moment in WireMoments(wire.write(tmp_path)) if moment.frame.api_key == FETCH]
    sparse = list(WireMoments(wire.write(tmp_path, name=COMPRESSED, keeps=wanted)))
    assert [moment[:3] for moment in sparse] == [moment[:3] for moment in whole]


def test_a_long_last_line_is_read_whole(tmp_path: Path) -> None:
    wire = WireFile()
    for _ in range(3_000):
        wire.request(HEARTBEAT, 2, 100, ControlledShutdownView(2, 1), link="controller")
    for name in ("wire.ndjson", COMPRESSED):
        assert len(trace_end(wire.write(tmp_path, name=name, keeps=wanted)).left_out) == 3_000
