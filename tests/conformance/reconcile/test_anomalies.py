from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from conformance.reconcile.anomalies.absent import absent
from conformance.reconcile.anomalies.duplicated import duplicated
from conformance.reconcile.anomalies.lost import lost
from conformance.reconcile.anomalies.moved import moved
from conformance.reconcile.anomalies.phantom import phantom
from conformance.reconcile.anomalies.reordered import reordered, reordered_by_blocks
from conformance.reconcile.anomalies.resurrected import resurrected
from conformance.reconcile.anomalies.value_changed import value_changed
from conformance.reconcile.classify import classified
from conformance.reconcile.collecting import rows_of
from tests.conformance.reconcile.rows import GONE, records

pytestmark = pytest.mark.spark

Mark = Callable[[DataFrame], DataFrame]
_UNSURE = {"outcome": "indeterminate", "acknowledged_offset": None, "was_committed": False}
_REFUSED = {"outcome": "refused", "acknowledged_offset": None, "was_committed": False}
_NEVER_SENT = {"attempts": 0, "outcome": None, "acknowledged_offset": None}


def _marked(spark: SparkSession, mark: Mark, row: dict[str, Any]) -> bool:
    marked = mark(records(spark, row))
    return bool(marked.where(mark.__name__).count())


@pytest.mark.parametrize(
    ("mark", "shows"),
    [
        (lost, GONE),
        (lost, GONE | _UNSURE | {"was_committed": True}),
        (absent, GONE | _REFUSED),
        (absent, GONE | _UNSURE),
        (phantom, _NEVER_SENT),
        (phantom, _NEVER_SENT | {"record_id": None}),
        (resurrected, _REFUSED),
        (duplicated, {"copies": 2, "last_offset": 3}),
        (moved, {"acknowledged_offset": 1}),
        (value_changed, {"values_match": False}),
    ],
)
def test_an_anomaly_is_marked(spark: SparkSession, mark: Mark, shows: dict[str, Any]) -> None:
    assert _marked(spark, mark, shows)


@pytest.mark.parametrize(
    ("mark", "lacks"),
    [
        (lost, {}),
        (lost, GONE | _UNSURE),
        (lost, GONE | _NEVER_SENT),
        (absent, {}),
        (absent, GONE),
        (absent, _REFUSED),
        (phantom, {}),
        (phantom, GONE | _NEVER_SENT),
        (resurrected, GONE | _REFUSED),
        (resurrected, _UNSURE),
        (duplicated, {}),
        (duplicated, _NEVER_SENT | {"copies": 2}),
        (moved, {}),
        (moved, _UNSURE),
        (moved, GONE),
        (value_changed, {}),
        (value_changed, GONE),
    ],
)
def test_what_looks_like_an_anomaly_is_not_marked(spark: SparkSession, mark: Mark, lacks: dict[str, Any]) -> None:
    assert not _marked(spark, mark, lacks)


_ORDERS = [
    ([0, 1, 2], []),
    ([1, 0, 2], [1]),
    ([2, 0, 1], [1, 2]),
    ([5, None, 3], [2]),
    ([0, None, 3], []),
]


def _blocks_of_two(frame: DataFrame) -> DataFrame:
    return reordered_by_blocks(frame, block=2)


@pytest.mark.parametrize("mark", [reordered, _blocks_of_two])
@pytest.mark.parametrize(("offsets", "expected"), _ORDERS)
def test_a_record_before_an_earlier_one_is_reordered(
    spark: SparkSession, mark: Mark, offsets: list[int | None], expected: list[int]
) -> None:
    rows = [
        {"record_id": record_id, "first_offset": offset, "copies": int(offset is not None)}
        for record_id, offset in enumerate(offsets)
    ]
    marked = mark(records(spark, *rows)).where("reordered").select("record_id").orderBy("record_id")
    assert [row["record_id"] for row in rows_of(marked)] == expected


@pytest.mark.parametrize("mark", [reordered, _blocks_of_two])
def test_a_phantom_does_not_put_others_out_of_order(spark: SparkSession, mark: Mark) -> None:
    phantom_first = {"record_id": 1, "first_offset": 9, "attempts": 0}
    assert not mark(records(spark, phantom_first, {"record_id": 2, "first_offset": 3})).where("reordered").count()


@pytest.mark.parametrize(
    ("row", "primary"),
    [
        ({}, "kept"),
        (_UNSURE, "kept"),
        (GONE, "lost"),
        (GONE | _UNSURE, "absent"),
        (_NEVER_SENT, "phantom"),
        (_REFUSED, "resurrected"),
        (_REFUSED | {"copies": 2}, "duplicated"),
        ({"acknowledged_offset": 4}, "moved"),
        ({"acknowledged_offset": 4, "copies": 2, "values_match": False}, "value_changed"),
        (GONE | _NEVER_SENT, "unattempted"),
        ({"side": "predicted", "fate": "undetermined"} | GONE, "undetermined"),
    ],
)
def test_every_record_has_one_primary_class(spark: SparkSession, row: dict[str, Any], primary: str) -> None:
    assert classified(records(spark, row)).where(f"classification = '{primary}'").count() == 1
