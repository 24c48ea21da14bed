"""Which batches may have copies still to be seen, and which ids were sent again?"""

from __future__ import annotations

from conformance.record.attached import IDS_MAX
from conformance.record.soak import AcksOfProducers, Soak
from conformance.record.soak_prediction import BatchRow
from conformance.record.wire import BatchOfIds, FrameEntry
from conformance.soak.batches import joined
from conformance.soak.open_batches import Copy, IdsSentAgain, OpenBatches, SentBatch, pieces
from oracle.tracing.observed import TopicPartition
from oracle.vocabulary import BrokerId, LeaderEpoch, Offset

BASE, STEP = 1_000, 6
SOAK = Soak(
    version="4.4.0",
    metadata="kraft",
    topic="soak",
    partitions=STEP,
    replicas=3,
    min_insync_replicas=2,
    producers=2,
    acks=AcksOfProducers.MIXED,
    is_idempotent=False,
    base=BASE,
    value_length=100,
    seed=1,
)


def sent(first_id: int, count: int) -> SentBatch:
    return SentBatch(TopicPartition("soak", 0), first_id, count, BrokerId(1), -1)


def copy(epoch: int, base: int, first_id: int, records: int) -> Copy:
    return Copy(frozenset((LeaderEpoch(epoch),)), Offset(base), first_id, records)


def test_what_is_sent_once_is_not_sent_again() -> None:
    again = IdsSentAgain(SOAK)
    assert again.sent(0, BASE, 10) == 10
    assert again.sent(0, BASE + 10 * STEP, 5) == 5
    assert again.sent(0, BASE + IDS_MAX, 3) == 3
    assert not again.has(0, BASE, 15)


def test_a_batch_that_comes_again_with_later_records_counts_those_alone() -> None:
    again = IdsSentAgain(SOAK)
    again.sent(0, BASE, 10)
    assert again.sent(0, BASE + 5 * STEP, 10) == 5
    assert again.has(0, BASE + 9 * STEP, 1)
    assert not again.has(0, BASE, 5)
    assert not again.has(0, BASE + 10 * STEP, 5)
    assert not again.has(1, BASE + 5 * STEP, 5)


def test_open_batches_are_found_by_any_id_that_they_share() -> None:
    batches = OpenBatches(SOAK)
    first, second, other = sent(BASE, 10), sent(BASE + 10 * STEP, 10), sent(BASE + IDS_MAX, 10)
    for one in (second, first, other):
        batches.add(one)
    assert list(batches.around(0, BatchOfIds(0, 3, BASE + 9 * STEP, STEP))) == [first, second]
    assert list(batches.around(0, BatchOfIds(0, 3, BASE + 20 * STEP, STEP))) == []
    assert list(batches.around(1, BatchOfIds(0, 3, BASE, STEP))) == []
    assert list(batches.around(0, BatchOfIds(0, 3))) == []


def test_a_batch_that_is_closed_is_gone_and_its_equal_stays() -> None:
    batches = OpenBatches(SOAK)
    once, again = sent(BASE, 10), sent(BASE, 10)
    batches.add(once)
    batches.add(again)
    batches.close(again)
    (left,) = batches.left()
    assert len(left) == 1
    assert left[0] is once


def test_a_place_that_is_known_is_not_noted_twice() -> None:
    batch = sent(BASE, 10)
    batch.note(copy(0, 3, BASE + STEP, 2), is_carried=True)
    batch.note(copy(0, 2, BASE, 10), is_carried=True)
    batch.note(copy(0, 4, BASE + 2 * STEP, 2), is_carried=True)
    assert batch.copies == [copy(0, 2, BASE, 10)]
    batch.note(copy(1, 2, BASE, 10), is_carried=False)
    assert len(batch.copies) == 1
    batch.note(copy(1, 2, BASE, 10), is_carried=True)
    assert len(batch.copies) == 2


def test_ids_of_another_step_come_in_pieces_of_one() -> None:
    entry = FrameEntry(batches=(BatchOfIds(4, 3, BASE, STEP), BatchOfIds(7, 2, BASE, 2 * STEP)))
    assert list(pieces(entry, STEP)) == [
        BatchOfIds(4, 3, BASE, STEP),
        BatchOfIds(7, 1, BASE),
        BatchOfIds(8, 1, BASE + 2 * STEP),
    ]


def row(first_id: int, count: int, base: int | None, fate: str = "present") -> BatchRow:
    return BatchRow(0, 0, first_id, count, STEP, base, 2, -1, "none", fate, "", "")


def test_rows_that_go_on_are_one() -> None:
    gap, gone = row(BASE + 5 * STEP, 1, 11), row(BASE + 6 * STEP, 1, 12, "lost")
    assert list(joined(iter([row(BASE, 2, 5), row(BASE + 2 * STEP, 3, 7), gap, gone]))) == [row(BASE, 5, 5), gap, gone]
    assert list(joined(iter([row(BASE, 2, None), row(BASE + 2 * STEP, 1, None)]))) == [row(BASE, 3, None)]
    assert list(joined(iter([]))) == []
