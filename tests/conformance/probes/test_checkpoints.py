"""Are checkpoint files read as brokers write them, and is anything else refused?"""

import pytest

from conformance.probes.checkpoints import (
    CheckpointError,
    EpochStart,
    high_watermark_checkpoint,
    leader_epoch_checkpoint,
)


def test_high_watermarks_by_partition() -> None:
    content = b"0\n3\nt 0 5\nt 1 0\n__consumer_offsets 12 77\n"
    assert high_watermark_checkpoint(content) == {("t", 0): 5, ("t", 1): 0, ("__consumer_offsets", 12): 77}


def test_leader_epochs_with_their_start_offsets() -> None:
    assert leader_epoch_checkpoint(b"0\n2\n0 0\n3 17\n") == (EpochStart(0, 0), EpochStart(3, 17))


def test_files_without_entries() -> None:
    assert high_watermark_checkpoint(b"0\n0\n") == {}
    assert leader_epoch_checkpoint(b"0\n0\n") == ()


def test_files_that_a_broker_created_and_has_not_written_yet() -> None:
    assert high_watermark_checkpoint(b"") == {}
    assert leader_epoch_checkpoint(b"") == ()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"\n", "missing"),
        (b"0\n", "missing"),
        (b"1\n0\n", "Version '1' is unknown"),
        (b"zero\n0\n", "not a number"),
        (b"0\n2\nt 0 5\n", "2 entries are announced, 1 are there"),
        (b"0\n1\nt 0 5\nt 1 5\n", "1 entries are announced, 2 are there"),
        (b"0\n1\nt 0\n", "Not a topic, a partition and an offset: 't 0'"),
        (b"0\n1\nt 0 x\n", "'x' in 't 0 x' is not a number"),
        (b"0\n1\n\xff\xfe 0 5\n", "not text"),
    ],
)
def test_a_malformed_high_watermark_checkpoint_is_refused(content: bytes, complaint: str) -> None:
    with pytest.raises(CheckpointError, match=complaint):
        high_watermark_checkpoint(content)


def test_a_malformed_epoch_checkpoint_is_refused() -> None:
    with pytest.raises(CheckpointError, match="Not a leader epoch and an offset"):
        leader_epoch_checkpoint(b"0\n1\n0 0 0\n")
