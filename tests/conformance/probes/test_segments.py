"""Are segment files of every message format decoded up to the last intact batch, and no further?"""

import struct
from collections.abc import Sequence

import pytest

from conformance.clients.records import key_of, value_of
from conformance.probes.connection import MemoryRecordsBuilder
from conformance.probes.segments import LogOnDisk, LogRecord, replica_log

SEGMENT = "t-0/00000000000000000000.log"
NO_COMPRESSION, GZIP = 0, 1
V2_EPOCH_OFFSET = 12


def batch(offset: int, *record_ids: int, magic: int = 2, epoch: int = 0, compression: int = NO_COMPRESSION) -> bytes:
    builder = MemoryRecordsBuilder(magic, compression, 1 << 20, offset=0)
    for record_id in record_ids:
        builder.append(1_000, key_of(record_id), value_of(record_id))
    builder.close()
    content = bytearray(builder.buffer())
    if magic == 2:
        struct.pack_into(">q", content, 0, offset)
        struct.pack_into(">i", content, V2_EPOCH_OFFSET, epoch)
    elif compression:
        struct.pack_into(">q", content, 0, offset + len(record_ids) - 1)
    else:
        _shift(content, offset)
    return bytes(content)


def _shift(content: bytearray, offset: int) -> None:
    position = 0
    while position < len(content):
        relative, length = struct.unpack_from(">qi", content, position)
        struct.pack_into(">q", content, position, relative + offset)
        position += 12 + length


def decoded(*contents: bytes, bases: Sequence[int] = (0,)) -> LogOnDisk:
    files = {f"t-0/{base:020d}.log": content for base, content in zip(bases, contents, strict=True)}
    return replica_log([*files, "t-0/leader-epoch-checkpoint", "t-01/0.log"], files.__getitem__, "t", 0)


def ours(offset: int, record_id: int, epoch: int) -> LogRecord:
    return LogRecord(offset, record_id, epoch, value_matches=True)


@pytest.mark.parametrize(
    ("magic", "compression"), [(0, NO_COMPRESSION), (1, NO_COMPRESSION), (1, GZIP), (2, NO_COMPRESSION), (2, GZIP)]
)
def test_every_format_is_decoded(magic: int, compression: int) -> None:
    epochs = (3, 4) if magic == 2 else (-1, -1)
    content = b"".join(
        batch(offset, *ids, magic=magic, epoch=epoch, compression=compression)
        for offset, ids, epoch in ((0, (7, 8), epochs[0]), (2, (9,), epochs[1]))
    )
    wanted = (ours(0, 7, epochs[0]), ours(1, 8, epochs[0]), ours(2, 9, epochs[1]))
    assert decoded(content) == LogOnDisk(wanted, 3)


@pytest.mark.parametrize("magic", [1, 2])
@pytest.mark.parametrize("tail", [b"\0" * 5, b"\0" * 4096, batch(1, 8)[:-1], batch(1, 8)[:20]])
def test_a_torn_or_preallocated_tail_is_not_part_of_the_log(magic: int, tail: bytes) -> None:
    log = decoded(batch(0, 7, magic=magic) + tail)
    assert [it.record_id for it in log.records] == [7]
    assert log.log_end_offset == 1


@pytest.mark.parametrize("magic", [1, 2])
def test_the_log_ends_before_a_damaged_batch(magic: int) -> None:
    damaged = bytearray(batch(1, 8, magic=magic))
    damaged[-1] ^= 1
    log = decoded(batch(0, 7, magic=magic) + bytes(damaged) + batch(2, 9, magic=magic))
    assert [it.record_id for it in log.records] == [7]
    assert log.log_end_offset == 1


def test_segments_follow_each_other() -> None:
    log = decoded(batch(0, 7, 8), batch(2, 9), b"", bases=(0, 2, 3))
    assert [(it.offset, it.record_id) for it in log.records] == [(0, 7), (1, 8), (2, 9)]
    assert log.log_end_offset == 3


def test_nothing_counts_after_a_damaged_segment() -> None:
    log = decoded(batch(0, 7) + batch(1, 8)[:-1], batch(2, 9), bases=(0, 2))
    assert [it.record_id for it in log.records] == [7]
    assert log.log_end_offset == 1


def test_an_empty_log_ends_where_its_segment_begins() -> None:
    assert decoded(b"", bases=(5,)) == LogOnDisk((), 5)
    assert replica_log([], lambda _: b"", "t", 0) == LogOnDisk((), 0)


def test_other_topics_are_left_alone() -> None:
    files = {"t-0/00000000000000000000.log": batch(0, 7), "not-t-0/00000000000000000000.log": batch(0, 8)}
    assert [it.record_id for it in replica_log(files, files.__getitem__, "t", 0).records] == [7]


@pytest.mark.parametrize(
    ("key", "value", "record_id"),
    [(b"foreign", b"x", None), (None, value_of(7), None), (key_of(7), value_of(8), 7), (key_of(7), None, 7)],
)
def test_a_record_that_is_not_ours_or_not_intact_is_told(
    key: bytes | None, value: bytes | None, record_id: int | None
) -> None:
    builder = MemoryRecordsBuilder(2, NO_COMPRESSION, 1 << 20)
    builder.append(1_000, key, value)
    builder.close()
    log = decoded(bytes(builder.buffer()))
    assert [(it.record_id, it.value_matches) for it in log.records] == [(record_id, False)]
