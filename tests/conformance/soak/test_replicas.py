"""Is it predicted where the replicas of real soaks differ, from their wire alone, and under the digest?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conformance.record.directory import RunDirectory
from conformance.record.soak import read_soak
from conformance.record.soak_prediction import (
    BATCHES_FILE,
    RANGES_FILE,
    REPLICAS_FILE,
    BatchRow,
    ReplicasRow,
    SoakPrediction,
    digest_of,
)
from conformance.record.soak_tables import read_replicas
from conformance.soak.predicting import predict_soak
from conformance.soak.replicas import same_records
from conformance.soak.spans import OffsetSpan
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

RECORDED = Path(__file__).parent / "recorded"
WHY = "broker 1 has records of leader epoch 0, broker {} has records of leader epoch 2"


def predicted(name: str, tmp_path: Path, rules_of: str | None = None) -> tuple[RunDirectory, SoakPrediction]:
    shutil.copytree(RECORDED / name, tmp_path / name)
    run = RunDirectory(tmp_path / name)
    rules = None if rules_of is None else rules_for(rules_of, MetadataMode.ZOOKEEPER)
    return run, predict_soak(run, read_soak(run), rules)


def test_a_leader_that_was_cut_leaves_replicas_that_differ(tmp_path: Path) -> None:
    """Broker 1 led, and had 17 records committed that broker 2 cut from its log before it led."""
    run, _ = predicted("0.10.2.2-all", tmp_path)
    rule = "truncate-to-high-watermark"
    assert read_replicas(run) == [
        ReplicasRow(0, 1, other, 245, 261, "different", rule, WHY.format(other)) for other in (2, 3)
    ]


def test_by_leader_epochs_no_replicas_differ(tmp_path: Path) -> None:
    run, prediction = predicted("4.4.0-mixed", tmp_path)
    assert prediction.records["lost"] > 0
    assert read_replicas(run) == []


def test_by_the_rules_of_another_release_they_differ_elsewhere(tmp_path: Path) -> None:
    run, _ = predicted("0.10.2.2-all", tmp_path, rules_of="0.11.0.3")
    assert (245, 261) not in {(one.first_offset, one.last_offset) for one in read_replicas(run)}


def test_what_is_predicted_of_replicas_is_under_the_digest(tmp_path: Path) -> None:
    run, prediction = predicted("0.10.2.2-all", tmp_path)
    tables = [pq.read_table(run.path / name) for name in (RANGES_FILE, BATCHES_FILE, REPLICAS_FILE)]
    assert digest_of(*tables) == prediction.digest
    assert digest_of(*tables[:2], tables[2].slice(1)) != prediction.digest


def row(first_id: int, base_offset: int | None, count: int, epoch: int, partition: int = 0) -> BatchRow:
    return BatchRow(partition, 0, first_id, count, 3, base_offset, epoch, -1, "none", "present", "", "")


@pytest.mark.parametrize(
    ("rows", "same"),
    [
        ([row(30, 10, 5, 0), row(30, 10, 5, 2)], {0: (OffsetSpan(10, 15),)}),
        ([row(30, 10, 5, 0), row(36, 12, 9, 2)], {0: (OffsetSpan(12, 15),)}),
        ([row(30, 10, 5, 0), row(30, 10, 5, 0)], {0: ()}),
        ([row(30, 10, 5, 0), row(30, 11, 5, 2)], {0: ()}),
        ([row(30, 10, 5, 0), row(30, 10, 5, 2, partition=1)], {0: (), 1: ()}),
        ([row(30, 10, 5, 0), row(30, None, 5, 2)], {0: ()}),
    ],
)
def test_the_same_record_at_the_same_offset_is_no_difference_without_epochs(
    rows: list[BatchRow], same: dict[int, tuple[OffsetSpan, ...]]
) -> None:
    assert same_records(rows) == same
