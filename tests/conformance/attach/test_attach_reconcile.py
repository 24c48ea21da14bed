"""Does Spark find each record that is not as it was sent, name it, and count nothing else? Each is planted in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.reconcile.errors import ReconcileError
from conformance.record.attached import Attached
from conformance.record.attached_counted import LossTimes
from conformance.record.directory import RunDirectory
from conformance.record.ledger import Attempt, LedgerWriter, OutcomeEntry
from conformance.spark_thread import SparkThread
from oracle.vocabulary import ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.record.attached_counted import Counted

BASE, RECORDS, PARTITIONS = 7 << 32, 60, 2
ATTACHED = Attached(
    bootstrap="b:1",
    topic="t",
    partitions=PARTITIONS,
    replicas=3,
    acks=-1,
    is_idempotent=True,
    base=BASE,
    value_length=100,
    began_ns=0,
    starts=(0, 0),
    ends=(40, 40),
    log_starts=(0, 0),
    senders=(BASE + 40,),
)
Row = tuple[int, int, int | None, bool]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkThread]:
    with SparkThread() as thread:
        yield thread


def whole() -> list[Row]:
    """Return a topic with every record: partition, offset, id, whether its value is its own."""
    return [(one % PARTITIONS, one // PARTITIONS, BASE + one, True) for one in range(RECORDS)]


def without(*gone: int) -> list[Row]:
    return [row for row in whole() if row[2] not in {BASE + one for one in gone}]


def written(
    path: Path, topic: list[Row], outcomes: dict[int, ProduceOutcome], told_at: dict[int, int | None]
) -> RunDirectory:
    run = RunDirectory.create(path, "attached", parts=("ledger", "topic"))
    ledger = LedgerWriter(run.path / "ledger")
    ids = range(BASE, BASE + RECORDS)
    ledger.record_attempts([Attempt(one, "", "t", (one - BASE) % PARTITIONS, -1, 0, 100, 0) for one in ids])
    told = {one: outcomes.get(one, ProduceOutcome.ACKNOWLEDGED) for one in range(RECORDS)}
    ledger.record_outcomes(
        [
            OutcomeEntry(BASE + one, outcome, None, _offset(one, outcome, told_at), 1000 + one)
            for one, outcome in told.items()
            if outcome is not ProduceOutcome.INDETERMINATE
        ]
    )
    columns = {"partition": pa.int32(), "offset": pa.int64(), "record_id": pa.int64(), "value_matches": pa.bool_()}
    table = pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in topic], pa.schema(columns))
    pq.write_table(table, run.path / "topic" / "part-0.parquet")
    return run


def _offset(record: int, outcome: ProduceOutcome, told_at: dict[int, int | None]) -> int | None:
    return told_at.get(record, record // PARTITIONS) if outcome is ProduceOutcome.ACKNOWLEDGED else None


def counted(
    spark: SparkThread,
    path: Path,
    topic: list[Row],
    outcomes: dict[int, ProduceOutcome] | None = None,
    told_at: dict[int, int | None] | None = None,
    attached: Attached = ATTACHED,
) -> Counted:
    found = spark.reconcile_attached(written(path, topic, outcomes or {}, told_at or {}), attached)
    assert found.identity_holds
    return found


def classes(found: Counted) -> dict[str, int]:
    names = found.partitions[-1].classes
    return {name: count for name in names if (count := found.total(name))}


def test_a_whole_topic_is_kept(spark: SparkThread, tmp_path: Path) -> None:
    found = counted(spark, tmp_path, whole())
    assert classes(found) == {"kept": RECORDS}
    assert [one.attempted for one in found.partitions] == [30, 30]
    assert found.samples == ()


@pytest.mark.parametrize(
    ("topic", "others", "of_note"),
    [
        (without(9, 10), {"lost": 2}, [9, 10]),
        ([*whole(), (1, 30, BASE + 9, True)], {"duplicated": 1}, [9]),
        ([*without(9), (1, 4, BASE + 9, False)], {"value_changed": 1}, [9]),
        ([*whole(), (0, 30, BASE + RECORDS, True)], {"phantom": 1}, [RECORDS]),
    ],
    ids=["lost", "duplicated", "value_changed", "phantom"],
)
def test_each_record_that_is_not_as_it_was_sent_is_named(
    spark: SparkThread, tmp_path: Path, topic: list[Row], others: dict[str, int], of_note: list[int]
) -> None:
    found = counted(spark, tmp_path, topic)
    assert {name: number for name, number in classes(found).items() if name != "kept"} == others
    assert [one.record_id for one in found.samples] == [BASE + one for one in of_note]
    listed = pq.read_table(tmp_path / "attached" / "reconciliation" / "not_kept").column("record_id").to_pylist()
    assert sorted(listed) == [BASE + one for one in of_note]


def test_a_record_in_another_partition_is_lost_in_its_own_and_a_phantom_there(
    spark: SparkThread, tmp_path: Path
) -> None:
    found = counted(spark, tmp_path, [*without(9), (0, 30, BASE + 9, True)])
    assert classes(found) == {"lost": 1, "phantom": 1, "kept": RECORDS - 1}


def test_a_record_that_was_refused_and_is_there_was_resurrected(spark: SparkThread, tmp_path: Path) -> None:
    found = counted(spark, tmp_path, whole(), {9: ProduceOutcome.REFUSED})
    assert classes(found) == {"resurrected": 1, "kept": RECORDS - 1}


def test_an_unknown_record_may_be_there_or_not(spark: SparkThread, tmp_path: Path) -> None:
    unknown = dict.fromkeys((9, 10), ProduceOutcome.INDETERMINATE)
    found = counted(spark, tmp_path, without(9), unknown)
    assert classes(found) == {"absent": 1, "kept": RECORDS - 1}
    assert found.told("indeterminate") == 2


def test_order_is_that_of_a_partition_and_a_producer(spark: SparkThread, tmp_path: Path) -> None:
    swapped = [*without(10, 12), (0, 6, BASE + 10, True), (0, 5, BASE + 12, True)]
    told_at = {10: 6, 12: 5}
    assert classes(counted(spark, tmp_path, swapped, told_at=told_at)) == {"reordered": 1, "kept": RECORDS - 1}


def test_another_producer_begins_another_order(spark: SparkThread, tmp_path: Path) -> None:
    swapped = [*without(38, 40), (0, 20, BASE + 38, True), (0, 19, BASE + 40, True)]
    assert classes(counted(spark, tmp_path, swapped, told_at={38: 20, 40: 19})) == {"kept": RECORDS}


def test_an_offset_that_was_acknowledged_is_where_the_record_is(spark: SparkThread, tmp_path: Path) -> None:
    assert classes(counted(spark, tmp_path, whole(), told_at={9: 11})) == {"moved": 1, "kept": RECORDS - 1}


def test_what_is_below_the_start_of_the_log_was_deleted(spark: SparkThread, tmp_path: Path) -> None:
    begun = Attached(**{**_plain(ATTACHED), "log_starts": (0, 2)})
    found = counted(spark, tmp_path, without(1, 3, 5), attached=begun)
    assert classes(found) == {"deleted": 2, "lost": 1, "kept": RECORDS - 3}


def test_without_an_offset_it_may_have_been_deleted_once_the_start_moved(spark: SparkThread, tmp_path: Path) -> None:
    begun = Attached(**{**_plain(ATTACHED), "log_starts": (0, 2)})
    found = counted(spark, tmp_path, without(5, 10), told_at={5: None, 10: None}, attached=begun)
    assert classes(found) == {"deleted": 1, "lost": 1, "kept": RECORDS - 2}
    assert [one.unplaced for one in found.partitions] == [0, 1]
    assert [one.losses is not None for one in found.partitions] == [True, False]


def test_when_what_is_lost_was_acknowledged_and_whether_from_the_first_on(spark: SparkThread, tmp_path: Path) -> None:
    found = counted(spark, tmp_path, without(0, 8, 9, 11))
    assert [one.losses for one in found.partitions] == [LossTimes(1008, True), LossTimes(1011, False)]


def test_errors_are_counted_where_the_outcome_is_not_known(spark: SparkThread, tmp_path: Path) -> None:
    run = written(tmp_path, whole(), dict.fromkeys((9, 11), ProduceOutcome.INDETERMINATE), {})
    unknown = OutcomeEntry(BASE + 9, ProduceOutcome.INDETERMINATE, "_MSG_TIMED_OUT", None, 0)
    refused = OutcomeEntry(BASE + 11, ProduceOutcome.REFUSED, "_NOT_SENT", None, 0)
    LedgerWriter(run.path / "ledger").record_outcomes([unknown, refused])
    found = spark.reconcile_attached(run, ATTACHED)
    assert [one.errors for one in found.partitions] == [{}, {"_MSG_TIMED_OUT": 1}]
    assert (found.erring("_MSG_TIMED_OUT"), found.erring("_NOT_SENT")) == (1, 0)


def _plain(attached: Attached) -> dict[str, object]:
    return {name: getattr(attached, name) for name in Attached.__dataclass_fields__}


def test_records_of_others_are_counted_apart(spark: SparkThread, tmp_path: Path) -> None:
    found = counted(spark, tmp_path, [*whole(), (0, 30, None, False), (1, 30, 5, True), (1, 31, BASE - 1, True)])
    assert found.foreign == 3
    assert classes(found) == {"kept": RECORDS}


def test_an_outcome_of_no_attempt_breaks_the_identity(spark: SparkThread, tmp_path: Path) -> None:
    run = written(tmp_path, whole(), {}, {})
    stray = OutcomeEntry(BASE + 1, ProduceOutcome.ACKNOWLEDGED, None, 0, 0)
    LedgerWriter(run.path / "ledger").record_attempts([Attempt(BASE + 1, "", "t", 1, -1, 0, 100, 0)])
    LedgerWriter(run.path / "ledger").record_outcomes([stray])
    assert not spark.reconcile_attached(run, ATTACHED).identity_holds


def test_a_topic_that_was_never_read_is_no_loss(spark: SparkThread, tmp_path: Path) -> None:
    run = written(tmp_path, whole(), {}, {})
    (run.path / "topic" / "part-0.parquet").unlink()
    with pytest.raises(ReconcileError, match="never read"):
        spark.reconcile_attached(run, ATTACHED)


def test_many_records_have_the_same_classes(
    spark: SparkThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swapped = [*without(10, 12, 9), (0, 6, BASE + 10, True), (0, 5, BASE + 12, True)]
    monkeypatch.setattr("conformance.reconcile.session.MANY_RECORDS", 1)
    monkeypatch.setattr("conformance.reconcile.records._BLOCK", 16)
    found = counted(spark, tmp_path, swapped, told_at={10: 6, 12: 5})
    assert classes(found) == {"lost": 1, "reordered": 1, "kept": RECORDS - 2}
