"""Negative controls: whatever is doctored in a faultless run is named, with the record it concerns."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conformance.reconcile.job import reconcile_from_files
from tests.conformance.reconcile.runs import Run, kept_run

pytestmark = [pytest.mark.spark, pytest.mark.alone]

Doctor = Callable[[Run], object]


def _same_twice(run: Run) -> None:
    run.read(1000, 2)


def _swapped(run: Run) -> None:
    run.topic[0]["record_id"], run.topic[1]["record_id"] = 1001, 1000


_TOPIC: list[tuple[str, Doctor, list[tuple[str | None, str]]]] = [
    ("phantom", lambda run: run.read(77, 2), [(None, "phantom")]),
    ("phantom", lambda run: run.read(None, 2), [(None, "phantom")]),
    ("lost", lambda run: run.topic.pop(), [("m1", "missing")]),
    ("lost", lambda run: run.topic.clear(), [("m0", "missing"), ("m1", "missing")]),
    ("duplicated", _same_twice, [("m0", "duplicated")]),
    ("resurrected", lambda run: run.read(1002, 2), [("m2", "unexpected")]),
    ("moved", lambda run: run.topic[1].update(offset=5), [("m1", "moved")]),
    ("reordered", _swapped, [("m0", "moved"), ("m1", "moved")]),
    ("value_changed", lambda run: run.topic[0].update(value_matches=False), [("m0", "value_changed")]),
    ("kept", lambda run: run.read(1003, 2), [("m3", "unexpected")]),
]
_LEDGER: list[tuple[str, Doctor, list[tuple[str | None, str]]]] = [
    ("resurrected", lambda run: run.outcomes[0].update(outcome="refused", offset=None), [("m0", "outcome")]),
    ("lost", lambda run: run.outcomes[2].update(outcome="acknowledged", offset=2), [("m2", "outcome")]),
    ("kept", lambda run: run.outcomes[1].update(outcome="indeterminate"), [("m1", "outcome")]),
    ("moved", lambda run: run.outcomes[1].update(offset=3), [("m1", "moved")]),
]
_PREDICTION: list[tuple[str, Doctor, list[tuple[str | None, str]]]] = [
    ("kept", lambda run: run.predicted[1].update(fate="lost", offset=None), [("m1", "unexpected")]),
    ("absent", lambda run: run.predicted[3].update(fate="present", offset=2), [("m3", "missing")]),
    ("kept", lambda run: run.predicted[1].update(fate="deleted", offset=None), [("m1", "unexpected")]),
    ("kept", lambda run: run.predicted[1].update(offset=2), [("m1", "moved")]),
    ("kept", lambda run: run.predicted.pop(0), [("m0", "unpredicted")]),
]


@pytest.mark.parametrize(("anomaly", "doctor", "expected"), [*_TOPIC, *_LEDGER, *_PREDICTION])
def test_a_doctored_row_is_named(
    spark: SparkSession,
    tmp_path: Path,
    anomaly: str,
    doctor: Doctor,
    expected: list[tuple[str | None, str]],
) -> None:
    run = kept_run()
    doctor(run)
    found = reconcile_from_files(spark, run.write(tmp_path))
    assert found.counts.identity_holds
    assert found.counts.classes[anomaly] > 0
    assert [(row["label"], row["anomaly"]) for row in found.samples["deviations"]] == expected
    assert found.counts.deviations == len(expected)


@pytest.mark.parametrize("is_outcome_left", [True, False])
def test_an_attempt_removed_from_the_ledger_is_named(
    spark: SparkSession, tmp_path: Path, is_outcome_left: bool
) -> None:
    run = kept_run()
    run.attempts.pop(0)
    if not is_outcome_left:
        run.outcomes.pop(0)
    found = reconcile_from_files(spark, run.write(tmp_path))
    named = [(row["label"], row["anomaly"]) for row in found.samples["deviations"]]
    assert named == [("m0", "phantom"), ("m0", "unattempted")]
    assert found.counts.identity_holds is not is_outcome_left  # an outcome of nothing cannot be counted


@pytest.mark.parametrize("table", ["attempts", "outcomes", "predicted"])
def test_a_row_that_occurs_twice_breaks_the_identity(spark: SparkSession, tmp_path: Path, table: str) -> None:
    run = kept_run()
    rows = getattr(run, table)
    rows.append(dict(rows[2]))
    assert not reconcile_from_files(spark, run.write(tmp_path)).counts.identity_holds


@pytest.mark.parametrize(
    ("doctor", "expected"),
    [
        (lambda run: run.logs.pop(), ("m1", "nothing")),
        (lambda run: run.logs[-1].update(record_id=1002), ("m1", "m2")),
        (lambda run: run.logs[-1].update(record_id=None), ("m1", "a record that is none of ours")),
        (lambda run: run.logs[-1].update(value_matches=False), ("m1", "m1 with another value")),
        (lambda run: run.predicted_logs.pop(), ("nothing", "m1")),
    ],
)
def test_a_doctored_replica_log_is_named(
    spark: SparkSession, tmp_path: Path, doctor: Doctor, expected: tuple[str, str]
) -> None:
    run = kept_run()
    doctor(run)
    found = reconcile_from_files(spark, run.write(tmp_path))
    (entry,) = [row for row in found.samples["deviations"] if row["anomaly"] == "replica_log"]
    assert (entry["broker"], entry["offset"], entry["expected"], entry["measured"]) == (2, 1, *expected)
    assert found.counts.deviations_by_kind["replica_log"] > 0
