"""Is one line of an offset checkpoint changed, and no other?"""

import pytest

from conformance.probes.checkpoints import high_watermark_checkpoint
from fault_injection.faults.disk import checkpointed_offset, with_offset

CONTENT = b"0\n3\nt 0 5\nt 1 0\n__consumer_offsets 12 77\n"


@pytest.mark.parametrize(
    ("topic", "partition", "offset"), [("t", 0, 5), ("t", 1, 0), ("__consumer_offsets", 12, 77), ("t", 12, None)]
)
def test_an_offset_is_found_by_topic_and_partition(topic: str, partition: int, offset: int | None) -> None:
    assert checkpointed_offset(CONTENT, topic, partition) == offset


def test_a_line_is_removed_and_counted_out() -> None:
    assert with_offset(CONTENT, "t", 0, None) == b"0\n2\nt 1 0\n__consumer_offsets 12 77\n"
    assert with_offset(CONTENT, "u", 0, None) == CONTENT


def test_a_line_is_changed_or_added() -> None:
    assert with_offset(CONTENT, "t", 0, 2) == CONTENT.replace(b"t 0 5", b"t 0 2")
    assert with_offset(CONTENT, "u", 0, 2) == CONTENT.replace(b"\n3\n", b"\n4\n") + b"u 0 2\n"


def test_a_file_that_was_never_written_has_no_lines() -> None:
    assert checkpointed_offset(b"", "t", 0) is None
    assert with_offset(b"", "t", 0, None) == b"0\n0\n"


@pytest.mark.parametrize("offset", [None, 3])
def test_what_is_written_is_a_checkpoint(offset: int | None) -> None:
    written = high_watermark_checkpoint(with_offset(CONTENT, "t", 1, offset))
    assert written.get(("t", 1)) == offset
    assert written["__consumer_offsets", 12] == 77
