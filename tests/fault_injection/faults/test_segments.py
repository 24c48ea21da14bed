"""Is a segment cut between batches only, in every message format?"""

import struct

import pytest
from kafka.record.memory_records import MemoryRecordsBuilder

from conformance.probes.segments import replica_log
from fault_injection.faults.segments import active_segment, base_offset, batch_boundaries

NO_COMPRESSION, GZIP = 0, 1
SEGMENT = "t-0/00000000000000000000.log"


def entry(first_offset: int, count: int, *, magic: int, compression: int = NO_COMPRESSION) -> bytes:
    """Return one batch, or one compressed message set; uncompressed message sets have an entry per record."""
    builder = MemoryRecordsBuilder(magic, compression, 1 << 20)
    for _ in range(count):
        builder.append(1_000, b"key", b"value")
    builder.close()
    content = bytearray(builder.buffer())
    shown = first_offset if magic == 2 else first_offset + count - 1
    struct.pack_into(">q", content, 0, shown)
    return bytes(content)


def log_end_offset(content: bytes) -> int:
    return replica_log([SEGMENT], lambda _: content, "t", 0).log_end_offset


@pytest.mark.parametrize(
    ("magic", "compression", "count"),
    [
        (0, NO_COMPRESSION, 1),
        (1, NO_COMPRESSION, 1),
        (1, GZIP, 3),
        (2, NO_COMPRESSION, 1),
        (2, NO_COMPRESSION, 3),
        (2, GZIP, 3),
    ],
)
def test_a_cut_at_a_boundary_leaves_the_log_end_offset_that_it_promises(
    magic: int, compression: int, count: int
) -> None:
    content = b"".join(entry(first, count, magic=magic, compression=compression) for first in (0, count, 2 * count))
    boundaries = batch_boundaries(content, 0)
    assert list(boundaries) == [0, count, 2 * count, 3 * count]
    assert list(boundaries.values())[-1] == len(content)
    assert {log_end_offset(content[:position]): position for position in boundaries.values()} == boundaries


def test_a_batch_that_is_cut_off_or_preallocated_is_no_batch() -> None:
    whole = entry(0, 2, magic=2)
    for tail in (entry(2, 1, magic=2)[:-1], entry(2, 1, magic=2)[:20], b"\0" * 4096, b"\0" * 3):
        assert batch_boundaries(whole + tail, 0) == {0: 0, 2: len(whole)}


def test_an_empty_segment_has_its_beginning() -> None:
    assert batch_boundaries(b"", 7) == {7: 0}


def test_the_active_segment_is_the_last_one_of_that_replica() -> None:
    files = [
        "t-0/00000000000000000000.log",
        "t-0/00000000000000000010.log",
        "t-0/00000000000000000010.index",
        "t-0/leader-epoch-checkpoint",
        "t-01/00000000000000000099.log",
        "not-t-0/00000000000000000099.log",
    ]
    assert active_segment(files, "t", 0) == "t-0/00000000000000000010.log"
    assert active_segment(reversed(files), "t", 0) == "t-0/00000000000000000010.log"
    assert active_segment(files, "t", 2) is None
    assert base_offset("t-0/00000000000000000010.log") == 10
