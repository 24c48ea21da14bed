import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conformance.reconcile.counting import Reconciliation
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.job import reconcile_from_files
from tests.conformance.reconcile.runs import Run, kept_run

pytestmark = [pytest.mark.spark, pytest.mark.alone]


def _deviations(found: Reconciliation) -> list[tuple[object, object]]:
    return [(row["label"], row["anomaly"]) for row in found.samples["deviations"]]


def test_a_run_as_predicted_has_no_deviation(spark: SparkSession, tmp_path: Path) -> None:
    found = reconcile_from_files(spark, kept_run().write(tmp_path))
    assert found.counts.identity_holds
    assert found.counts.deviations == 0
    assert found.counts.totals.by_name == {
        "produced": 4,
        "predicted": 4,
        "read": 2,
        "acknowledged": 2,
        "refused": 1,
        "indeterminate": 1,
    }
    assert {name: count for name, count in found.counts.classes.items() if count} == {"kept": 2, "absent": 2}
    assert {name: count for name, count in found.counts.predicted.items() if count} == {"kept": 2, "absent": 2}
    assert [row["label"] for row in found.samples["kept"]] == ["m0", "m1"]


def test_what_is_written_is_what_is_returned(spark: SparkSession, tmp_path: Path) -> None:
    found = reconcile_from_files(spark, kept_run().write(tmp_path))
    counts = json.loads((tmp_path / "reconciliation" / "counts.json").read_text())
    samples = json.loads((tmp_path / "reconciliation" / "samples.json").read_text())
    assert (counts["classes"], counts["identity_holds"], samples) == (found.counts.classes, True, found.samples)


def test_a_predicted_loss_is_counted_and_is_no_deviation(spark: SparkSession, tmp_path: Path) -> None:
    run = Run()
    kept = run.produce("m0", offset=0)
    run.produce("m1", offset=1, fate="lost")
    run.read(kept, 0)
    found = reconcile_from_files(spark, run.write(tmp_path))
    assert (found.counts.classes["lost"], found.counts.predicted["lost"], found.counts.deviations) == (1, 1, 0)
    assert [row["label"] for row in found.samples["lost"]] == ["m1"]


def test_a_record_that_was_to_be_lost_and_is_there_deviates(spark: SparkSession, tmp_path: Path) -> None:
    run = Run()
    run.read(run.produce("m0", offset=0, fate="lost"), 0)
    found = reconcile_from_files(spark, run.write(tmp_path))
    assert _deviations(found) == [("m0", "unexpected")]
    assert (found.samples["deviations"][0]["expected"], found.samples["deviations"][0]["measured"]) == (
        "not in the topic (lost)",
        "at offset 0",
    )


@pytest.mark.parametrize("is_there", [True, False])
def test_an_undetermined_record_may_be_there_or_not(spark: SparkSession, tmp_path: Path, is_there: bool) -> None:
    run = kept_run()
    open_fate = run.produce("m4", "indeterminate", fate="undetermined")
    if is_there:
        run.read(open_fate, 2)
        run.replicate(1, [1000, 1001, open_fate], high_watermark=3, predict=False)
        run.logs = [row for row in run.logs if row["broker"] == 2 or row["high_watermark"] == 3]
    found = reconcile_from_files(spark, run.write(tmp_path))
    assert found.counts.identity_holds
    assert found.counts.deviations == 0
    assert found.counts.predicted["undetermined"] == 1
    assert found.counts.classes["kept" if is_there else "absent"] == 3


def test_a_missing_outcome_is_indeterminate(spark: SparkSession, tmp_path: Path) -> None:
    run = Run()
    run.read(run.produce("m0", None, offset=0), 0)
    found = reconcile_from_files(spark, run.write(tmp_path))
    assert (found.counts.totals.indeterminate, found.counts.classes["kept"], found.counts.deviations) == (1, 1, 0)


def test_another_outcome_or_error_than_predicted_deviates(spark: SparkSession, tmp_path: Path) -> None:
    run = kept_run()
    run.outcomes[0] |= {"outcome": "indeterminate", "offset": None, "error": "REQUEST_TIMED_OUT"}
    run.outcomes[2] |= {"error": "NOT_LEADER_OR_FOLLOWER"}
    found = reconcile_from_files(spark, run.write(tmp_path))
    assert _deviations(found) == [("m0", "outcome"), ("m2", "outcome")]
    assert found.samples["deviations"][1]["expected"] == "refused (NOT_ENOUGH_REPLICAS)"
    assert found.samples["deviations"][1]["measured"] == "refused (NOT_LEADER_OR_FOLLOWER)"


def test_divergence_is_counted_and_only_a_deviation_unless_predicted(spark: SparkSession, tmp_path: Path) -> None:
    run = kept_run()
    run.logs[-1]["record_id"] = run.predicted_logs[-1]["record_id"] = 1002
    unpredicted = reconcile_from_files(spark, run.write(tmp_path / "a"))
    assert (unpredicted.counts.classes["diverged"], unpredicted.counts.deviations_by_kind["replica_log"]) == (1, 1)
    run.diverged = [{"offset": 1, "replicas": {"1": "m1", "2": "m2"}}]
    predicted = reconcile_from_files(spark, run.write(tmp_path / "b"))
    assert (
        predicted.counts.classes["diverged"],
        predicted.counts.predicted["diverged"],
        predicted.counts.deviations,
    ) == (1, 1, 0)
    assert predicted.samples["divergences"] == [
        {
            "offset": 1,
            "broker_a": 1,
            "record_a": 1001,
            "label_a": "m1",
            "broker_b": 2,
            "record_b": 1002,
            "label_b": "m2",
            "is_predicted": True,
        }
    ]


def test_samples_are_bounded_and_counts_are_not(spark: SparkSession, tmp_path: Path) -> None:
    run = Run()
    for number in range(50):
        run.produce(f"m{number}", offset=number, fate="present")
    found = reconcile_from_files(spark, run.write(tmp_path))
    assert (found.counts.classes["lost"], found.counts.deviations) == (50, 50)
    assert [row["label"] for row in found.samples["lost"]] == [f"m{number}" for number in range(20)]
    assert len(found.samples["deviations"]) == 20


def test_an_empty_run_is_no_error(spark: SparkSession, tmp_path: Path) -> None:
    found = reconcile_from_files(spark, Run().write(tmp_path))
    assert found.counts.identity_holds
    assert found.counts.deviations == 0
    assert found.counts.totals.produced == 0


@pytest.mark.parametrize("folder", ["topic", "prediction", "replica_logs"])
def test_a_run_that_lacks_a_side_is_refused(spark: SparkSession, tmp_path: Path, folder: str) -> None:
    kept_run().write(tmp_path)
    for path in (tmp_path / folder).glob("*.parquet"):
        path.unlink()
    with pytest.raises(ReconcileError, match=folder):
        reconcile_from_files(spark, tmp_path)


def test_a_damaged_file_is_a_reconcile_error(spark: SparkSession, tmp_path: Path) -> None:
    run_directory = kept_run().write(tmp_path)
    (run_directory / "topic" / "part-0.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(ReconcileError):
        reconcile_from_files(spark, run_directory)
