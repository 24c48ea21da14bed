"""Which leader epochs stay when a replica is moved to another log directory, and whose fetches are refused then?"""

from __future__ import annotations

import pytest

from oracle.log import EpochEntry, ModelRecord, ReplicaLog
from oracle.rules.by_version import rules_for
from oracle.rules.log_directories import MovedEpochs, epochs_of_moves, is_out_of_range, moved
from oracle.vocabulary import Label, LeaderEpoch, MetadataMode, Offset

RELEASES = ("1.1.1", "2.7.2", "2.8.2", "3.6.2", "3.9.2")
STUCK = {"2.8.2", "3.6.2", "3.9.2"}


def log(*epochs: int) -> ReplicaLog:
    return ReplicaLog().append(ModelRecord(Label(f"m{i}"), LeaderEpoch(epoch)) for i, epoch in enumerate(epochs))


LEADING = log(0, 0, 2).with_epoch(LeaderEpoch(5))


def pairs(of: ReplicaLog) -> list[tuple[int, int]]:
    return [(int(entry.leader_epoch), int(entry.start_offset)) for entry in of.epochs]


def test_an_epoch_without_records_is_in_no_batch() -> None:
    assert pairs(LEADING) == [(0, 0), (2, 2), (5, 3)]
    assert pairs(moved(LEADING, MovedEpochs.OF_RECORDS)) == [(0, 0), (2, 2)]
    assert pairs(moved(LEADING, MovedEpochs.EVERY)) == pairs(LEADING)
    assert moved(LEADING, MovedEpochs.OF_RECORDS).entries == LEADING.entries


def test_the_epoch_of_deleted_records_is_in_no_batch() -> None:
    emptied = log(0, 0, 2).starting_at(Offset(3))
    assert emptied.epochs == (EpochEntry(LeaderEpoch(2), Offset(3)),)
    assert moved(emptied, MovedEpochs.OF_RECORDS, Offset(3)).epochs == ()
    assert moved(emptied, MovedEpochs.OF_RECORDS, Offset(2)).epochs == emptied.epochs


@pytest.mark.parametrize("version", RELEASES)
def test_who_names_its_epoch_in_every_fetch_is_refused(version: str) -> None:
    rules = rules_for(version, MetadataMode.ZOOKEEPER)
    emptied = log(2).starting_at(Offset(1))
    assert is_out_of_range(moved(emptied, MovedEpochs.OF_RECORDS, Offset(1)), emptied, rules) is (version in STUCK)
    assert not is_out_of_range(moved(emptied, MovedEpochs.EVERY, Offset(1)), emptied, rules)
    assert not is_out_of_range(moved(LEADING, MovedEpochs.OF_RECORDS), log(0, 0, 2), rules)


@pytest.mark.parametrize("version", ["1.1.1", "3.9.2", "4.4.0"])
def test_no_release_keeps_them(version: str) -> None:
    assert epochs_of_moves(version) is MovedEpochs.OF_RECORDS
