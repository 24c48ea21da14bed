from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from conformance.reconcile.classify import classified, reordered, reordered_by_blocks
from conformance.reconcile.summary import rows_of
from tests.conformance.reconcile.rows import GONE, records

pytestmark = [pytest.mark.spark, pytest.mark.alone]

Mark = Callable[[DataFrame], DataFrame]
_UNSURE = {"outcome": "indeterminate", "acknowledged_offset": None, "was_committed": False}
_REFUSED = {"outcome": "refused", "acknowledged_offset": None, "was_committed": False}
_DELETED = {"fate": "deleted"}
_NEVER_SENT = {"attempts": 0, "outcome": None, "acknowledged_offset": None}


_SHOWS = [
    ("lost", GONE),
    ("lost", GONE | _UNSURE | {"was_committed": True}),
    ("absent", GONE | _REFUSED),
    ("absent", GONE | _UNSURE),
    ("deleted", GONE | _DELETED),
    ("phantom", _NEVER_SENT),
    ("phantom", _NEVER_SENT | {"record_id": None}),
    ("resurrected", _REFUSED),
    ("duplicated", {"copies": 2, "last_offset": 3}),
    ("moved", {"acknowledged_offset": 1}),
    ("value_changed", {"values_match": False}),
    ("kept", {}),
    ("kept", _UNSURE),
]
_LACKS = [
    ("lost", {}),
    ("lost", GONE | _UNSURE),
    ("lost", GONE | _NEVER_SENT),
    ("lost", GONE | _DELETED),
    ("absent", {}),
    ("absent", GONE),
    ("absent", GONE | _DELETED | _REFUSED),
    ("deleted", _DELETED),
    ("deleted", GONE),
    ("absent", _REFUSED),
    ("phantom", {}),
    ("phantom", GONE | _NEVER_SENT),
    ("resurrected", GONE | _REFUSED),
    ("resurrected", _UNSURE),
    ("duplicated", {}),
    ("duplicated", _NEVER_SENT | {"copies": 2}),
    ("moved", {}),
    ("moved", _UNSURE),
    ("moved", GONE),
    ("value_changed", {}),
    ("value_changed", GONE),
    ("kept", GONE),
    ("kept", {"copies": 2}),
]
_PRIMARY = [
    ({}, "kept"),
    (_UNSURE, "kept"),
    (GONE, "lost"),
    (GONE | _UNSURE, "absent"),
    (GONE | _DELETED, "deleted"),
    (_DELETED, "kept"),
    (_NEVER_SENT, "phantom"),
    (_REFUSED, "resurrected"),
    (_REFUSED | {"copies": 2}, "duplicated"),
    ({"acknowledged_offset": 4}, "moved"),
    ({"acknowledged_offset": 4, "copies": 2, "values_match": False}, "value_changed"),
    (GONE | _NEVER_SENT, "unattempted"),
    ({"side": "predicted", "fate": "undetermined"} | GONE, "undetermined"),
]
_CASES: list[Any] = [*(row for _, row in _SHOWS), *(row for _, row in _LACKS), *(row for row, _ in _PRIMARY)]


@pytest.fixture(scope="module")
def classifications(spark: SparkSession) -> list[Row]:
    """Classify all cases at once; the column ``error``, which no class looks at, carries a case's number."""
    rows = [row | {"error": str(number)} for number, row in enumerate(_CASES)]
    found = rows_of(classified(records(spark, *rows)))
    return sorted(found, key=lambda row: int(row["error"]))


@pytest.mark.parametrize("case", range(len(_SHOWS)))
def test_an_anomaly_is_marked(classifications: list[Row], case: int) -> None:
    assert classifications[case][_SHOWS[case][0]]


@pytest.mark.parametrize("case", range(len(_LACKS)))
def test_what_looks_like_an_anomaly_is_not_marked(classifications: list[Row], case: int) -> None:
    assert classifications[len(_SHOWS) + case][_LACKS[case][0]] is False


@pytest.mark.parametrize("case", range(len(_PRIMARY)))
def test_every_record_has_one_primary_class(classifications: list[Row], case: int) -> None:
    assert classifications[len(_SHOWS) + len(_LACKS) + case]["classification"] == _PRIMARY[case][1]


_ORDERS = [
    ([0, 1, 2], []),
    ([1, 0, 2], [1]),
    ([2, 0, 1], [1, 2]),
    ([5, None, 3], [2]),
    ([0, None, 3], []),
]


def _blocks_of_two(frame: DataFrame) -> DataFrame:
    return reordered_by_blocks(frame.selectExpr("*", "floor(record_id / 2) as block"))


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
