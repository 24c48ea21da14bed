"""Index files are decoded up to the zeros behind their last entry; what is no index file is refused."""

from __future__ import annotations

import struct

import pytest

from conformance.probes.checkpoints import IndexFileError, OffsetEntry, TimeEntry, offset_index, time_index


def offsets(*entries: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(">ii", *entry) for entry in entries)


def times(*entries: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(">qi", *entry) for entry in entries)


def test_offsets_are_relative_to_the_segment() -> None:
    assert offset_index(offsets((1, 130), (2, 260)), 100) == (OffsetEntry(101, 130), OffsetEntry(102, 260))


def test_timestamps_point_at_offsets() -> None:
    assert time_index(times((1_700_000_000_000, 0), (1_700_000_000_005, 3)), 7) == (
        TimeEntry(1_700_000_000_000, 7),
        TimeEntry(1_700_000_000_005, 10),
    )


def test_what_is_allocated_in_advance_is_no_entry() -> None:
    assert offset_index(offsets((1, 130)) + bytes(800), 0) == (OffsetEntry(1, 130),)
    assert time_index(bytes(1200), 0) == ()
    assert offset_index(b"", 0) == ()


def test_what_a_live_broker_has_cut_off_may_still_stand_there() -> None:
    assert len(offset_index(offsets((1, 130), (2, 260), (3, 390)) + bytes(8), 0)) == 3


@pytest.mark.parametrize("content", [offsets((1, 130))[:-1], offsets((2, 260), (1, 130)), offsets((1, 130), (1, 260))])
def test_what_is_no_offset_index_is_refused(content: bytes) -> None:
    with pytest.raises(IndexFileError):
        offset_index(content, 0)


def test_timestamps_must_ascend() -> None:
    with pytest.raises(IndexFileError, match="do not ascend"):
        time_index(times((5, 1), (5, 2)), 0)
