"""TR-09: what is predicted, and that what a cut left over shows in any of the three files."""

from __future__ import annotations

import struct

import pytest

from conformance.clients.records import key_of, value_of
from conformance.examining.truncated_files import SegmentFiles, TruncatedFiles, _as_offsets, segment_files
from conformance.probes.connection import MemoryRecordsBuilder
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

STEM = "t-0/00000000000000000003"


def batch(offset: int) -> bytes:
    builder = MemoryRecordsBuilder(2, 0, 1 << 20, offset=0)
    builder.append(1_000, key_of(offset), value_of(offset))
    builder.close()
    content = bytearray(builder.buffer())
    struct.pack_into(">q", content, 0, offset)
    return bytes(content)


SIZE = len(batch(0))


def decoded(log: bytes, index: bytes, timed: bytes) -> SegmentFiles:
    files = {f"{STEM}.log": log, f"{STEM}.index": index, f"{STEM}.timeindex": timed, "t-01/0.log": b""}
    (segment,) = segment_files([*files], files.__getitem__, "t", 0)
    return segment


def entry(offset: int, position: int) -> bytes:
    return struct.pack(">ii", offset - 3, position)


def timed(offset: int) -> bytes:
    return struct.pack(">qi", 1_000 + offset, offset - 3)


def test_all_three_files_of_a_segment_are_decoded() -> None:
    segment = decoded(batch(3) + batch(4), entry(4, SIZE) + bytes(16), timed(4) + bytes(24))

    assert segment == SegmentFiles(3, (3, 4), (4,), (4,), points_right=True)
    assert _as_offsets((segment,)) == [[3, [3, 4], [4], [4]]]


@pytest.mark.parametrize("index", [entry(4, SIZE), entry(4, SIZE - 1)])
def test_an_entry_that_points_at_nothing_shows(index: bytes) -> None:
    segment = decoded(batch(3), index, b"")

    assert (segment.records, segment.indexed, segment.points_right) == ((3,), (4,), False)


def test_an_entry_at_the_wrong_byte_shows() -> None:
    assert not decoded(batch(3) + batch(4), entry(4, SIZE + 1), b"").points_right


def test_a_segment_may_be_empty_and_have_no_index() -> None:
    (segment,) = segment_files([f"{STEM}.log"], lambda _: b"", "t", 0)

    assert segment == SegmentFiles(3, (), (), (), points_right=True)


def test_the_cut_is_predicted_in_offsets() -> None:
    predicted = {a.what: a.value for a in TruncatedFiles().predict(rules_for("4.3.1", MetadataMode.KRAFT))}
    files = "the cut: [segment, offsets in .log, in .index, in .timeindex]"

    assert predicted[f"truncated-segment before {files}"] == [[0, [0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]]]
    assert predicted[f"truncated-segment after {files}"] == [[0, [0, 1, 2], [1, 2], [1, 2]]]
    assert predicted[f"truncated-segments after {files}"] == [
        [0, [0], [], [0]],
        [1, [1], [], [1]],
        [2, [2], [], [2]],
        [3, [], [], []],
    ]
    assert predicted["record ids that broker 1 serves of truncated-segment"] == [0, 1, 2, 100]
