"""Are offsets and epochs of fetched records read from the batch headers alone?"""

import struct

import pytest

from fault_injection.wire.record_batches import epoch_runs
from fault_injection.wire.views import EpochBatches
from tests.fault_injection.wire.frames_of import record_batch

GZIP = 1


def test_no_records_have_no_runs() -> None:
    assert epoch_runs(b"") == ()


def test_batches_of_one_epoch_are_one_run() -> None:
    records = record_batch(2, base_offset=3, values=2, leader_epoch=4) + record_batch(
        2, base_offset=5, values=1, leader_epoch=4
    )
    assert epoch_runs(records) == (EpochBatches(4, 3, 5),)


def test_a_new_epoch_begins_a_new_run() -> None:
    records = record_batch(2, base_offset=3, values=2, leader_epoch=4) + record_batch(
        2, base_offset=5, values=3, leader_epoch=6
    )
    assert epoch_runs(records) == (EpochBatches(4, 3, 4), EpochBatches(6, 5, 7))


@pytest.mark.parametrize("magic", [0, 1])
def test_message_sets_have_no_epoch(magic: int) -> None:
    assert epoch_runs(record_batch(magic, base_offset=3, values=4)) == (EpochBatches(None, 3, 6),)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_compressed_message_set_only_shows_its_last_offset(magic: int) -> None:
    records = bytearray(record_batch(magic, base_offset=3, values=4, compression=GZIP))
    struct.pack_into(">q", records, 0, 6)  # the broker gives the wrapper the offset of its last message
    assert epoch_runs(bytes(records)) == (EpochBatches(None, None, 6),)


def test_a_compressed_batch_shows_both_offsets() -> None:
    records = record_batch(2, base_offset=3, values=4, leader_epoch=1, compression=GZIP)
    assert epoch_runs(records) == (EpochBatches(1, 3, 6),)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_an_unfinished_last_batch_is_left_out(magic: int) -> None:
    whole = record_batch(magic, base_offset=3, values=1)
    cut = record_batch(magic, base_offset=4, values=1)
    for length in range(len(cut)):
        assert [run.last_offset for run in epoch_runs(whole + cut[:length])] == [3]


def test_a_batch_without_length_ends_the_reading() -> None:
    assert epoch_runs(struct.pack(">qi", 3, 0) + bytes(40)) == ()


def test_a_batch_shorter_than_its_header_is_an_error() -> None:
    with pytest.raises(struct.error):
        epoch_runs(struct.pack(">qiib", 3, 6, 0, 2) + b"?")
