"""Are a puppet's batches what a broker would have written?"""

import warnings

import pytest

from fault_injection.puppets.records import Batch, batches, magic_of_fetch
from fault_injection.puppets.run import own_settings
from fault_injection.releases import find_release
from fault_injection.wire.record_batches import epoch_runs
from fault_injection.wire.views import EpochBatches

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.record import MemoryRecords


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_batch_is_intact_and_says_what_it_should(magic: int) -> None:
    content = Batch(7, 5, (b"x", b"y")).encoded(magic)

    records = MemoryRecords(content)
    read = []
    while records.has_next():
        batch = records.next_batch()
        assert batch.validate_crc()
        read += [(record.offset, bytes(record.value)) for record in batch]
    assert read == [(7, b"x"), (8, b"y")]
    assert epoch_runs(content) == (EpochBatches(5 if magic == 2 else None, 7, 8),)


def test_a_log_is_numbered_from_its_start() -> None:
    log = batches((3, [b"a", b"b"]), (6, [b"c"]))

    assert [(batch.base_offset, batch.end_offset, batch.leader_epoch) for batch in log] == [
        (0, 1, 3),
        (1, 2, 3),
        (2, 3, 6),
    ]


def test_a_format_for_each_fetch_version() -> None:
    assert [magic_of_fetch(version) for version in (0, 1, 2, 3, 4, 17)] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("version", ["0.11.0.3", "3.9.2"])
def test_a_broker_among_puppets_keeps_records_that_are_older_than_its_retention(version: str) -> None:
    assert own_settings(find_release(version))["log.retention.ms"] == "-1"
