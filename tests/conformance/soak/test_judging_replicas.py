"""Do replicas differ where it was predicted? Each thing that speaks against it must turn the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.record.directory import RunDirectory
from conformance.record.soak_counted import DivergedRange, LostTail, ReplicasCounted, RottenBatch
from conformance.record.soak_verdict import ApartAs, JudgedRange, read_soak_verdict
from conformance.record.verdict import Conformance
from tests.conformance.soak.judged import ALIKE, PREDICTION, judged_with, replicas_row

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.record.soak_prediction import ReplicasRow

MUST = (replicas_row(0, 1, 2, 10, 29), replicas_row(0, 1, 3, 10, 29))
MAY = (replicas_row(0, 1, 2, 10, 29, "either"), replicas_row(0, 1, 3, 10, 29, "either"))


def apart(*ranges: tuple[int, int, int, int]) -> ReplicasCounted:
    """Return replicas of partition 0 that differ: broker, other broker, first offset, last."""
    return replace(ALIKE, ranges=tuple(DivergedRange(0, *one) for one in ranges))


WHOLE = apart((1, 2, 10, 29), (1, 3, 10, 29))


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "run", ("prediction",))


def test_what_was_predicted_is_told_and_conforms(run: RunDirectory) -> None:
    verdict = judged_with(run, WHOLE, MUST)
    assert (verdict.conformance, verdict.findings) == (Conformance.CONFORMS, ())
    assert verdict.replicas is not None
    assert verdict.replicas.offsets == {"predicted": 20, "either": 0, "against": 0, "not_there": 0}
    assert verdict.replicas.ranges[0] == JudgedRange(ApartAs.PREDICTED, 0, 1, 2, 10, 29, "1 and 2")
    assert read_soak_verdict(run) == verdict


@pytest.mark.parametrize(
    ("found", "rows", "says"),
    [
        (
            apart((1, 2, 5, 5)),
            (),
            "differ at 1 offsets where they must not: those of brokers 1 and 2 of partition 0 at 5",
        ),
        (apart((1, 2, 10, 30), (1, 3, 10, 29)), MUST, "differ at 1 offsets where they must not"),
        (apart((1, 2, 10, 29), (1, 3, 10, 29), (2, 3, 11, 12)), MUST, "differ at 2 offsets where they must not"),
        (
            apart((1, 2, 10, 29), (1, 3, 10, 20)),
            MUST,
            "alike at 9 offsets where they must differ: those of brokers 1 and 3",
        ),
        (ALIKE, MUST, "alike at 20 offsets where they must differ"),
        (replace(ALIKE, lost_tails=(LostTail(0, 2, 990, 10),)), (), "1 replicas end below the high watermark"),
        (replace(WHOLE, lost_tails=(LostTail(0, 2, 990, 10),)), MUST, "1 replicas end below the high watermark"),
        (replace(ALIKE, rotten=2, rotten_samples=(RottenBatch(1, 3, "0.log", 70, 4, 6),)), (), "from byte 70"),
    ],
)
def test_what_is_against_the_prediction_deviates(
    run: RunDirectory, found: ReplicasCounted, rows: tuple[ReplicasRow, ...], says: str
) -> None:
    verdict = judged_with(run, found, rows)
    assert verdict.conformance is Conformance.DEVIATES
    assert says in verdict.reason


@pytest.mark.parametrize(
    ("found", "rows", "says"),
    [
        (WHOLE, MAY, "differ at 20 offsets where the wire leaves it open"),
        (replace(ALIKE, unread=("partition 0 is gone", "another")), (), "not read: partition 0 is gone (and 1 more)"),
        (replace(ALIKE, unread=("partition 0 is gone",)), MUST, "not read: partition 0 is gone"),
        (replace(WHOLE, more_ranges=7), MUST, "7 ranges more"),
        (None, (), "the logs of the replicas were not compared"),
    ],
)
def test_what_leaves_it_open_is_inconclusive(
    run: RunDirectory, found: ReplicasCounted | None, rows: tuple[ReplicasRow, ...], says: str
) -> None:
    verdict = judged_with(run, found, rows)
    assert verdict.conformance is Conformance.INCONCLUSIVE
    assert says in verdict.reason


def test_where_they_may_differ_they_may_be_alike(run: RunDirectory) -> None:
    assert judged_with(run, ALIKE, MAY).conformance is Conformance.CONFORMS


def test_without_a_prediction_nothing_is_against_it(run: RunDirectory) -> None:
    verdict = judged_with(run, WHOLE, (), replace(PREDICTION, why_not="the wire is cut"))
    assert verdict.conformance is Conformance.INCONCLUSIVE
    assert not any("differ" in one for one in verdict.findings)


def test_of_many_ranges_the_gravest_are_told(run: RunDirectory) -> None:
    rows = [replicas_row(0, 1, 2, 10 * at, 10 * at) for at in range(80)]
    verdict = judged_with(run, apart(*((1, 2, 10 * at, 10 * at) for at in range(81))), rows)
    assert verdict.replicas is not None
    assert [one.judged for one in verdict.replicas.ranges[:2]] == [ApartAs.AGAINST, ApartAs.PREDICTED]
    assert (len(verdict.replicas.ranges), verdict.replicas.more_ranges) == (60, 21)
