"""Is a run that is reconciled together with others told the same as alone?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.reconcile import job
from conformance.reconcile.counting import Reconciliation
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.job import reconcile_all, reconcile_from_files
from tests.conformance.reconcile.runs import Run, kept_run
from tests.conformance.reconcile.test_recount import random_run

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.alone]


def _undetermined() -> Run:
    run = kept_run()
    run.predicted[1] |= {"fate": "undetermined", "offset": None}
    return run


def _diverged() -> Run:
    run = kept_run()
    run.replicate(3, [1000, 1002], high_watermark=2, predict=False)
    run.diverged = [{"offset": 1, "replicas": {"1": "m1", "2": "m1", "3": "m2"}}]
    return run


def _without_outcomes() -> Run:
    run = Run()
    run.produce("m0", None, 0)
    return run


def _runs() -> dict[str, Run]:
    """Return runs with the same record ids, in which the same offset holds another record."""
    return {
        "kept+more~4.4.0": kept_run(),
        "undetermined": _undetermined(),
        "diverged": _diverged(),
        "without-outcomes": _without_outcomes(),
        "nothing": Run(),
        **{f"random-{seed}": random_run(seed, 20) for seed in (1, 2)},
    }


def _told(found: Reconciliation | ReconcileError) -> tuple[object, ...]:
    assert isinstance(found, Reconciliation), found
    return found.counts, found.samples, found.records


def test_together_and_alone_give_the_same(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [run.write(tmp_path / name) for name, run in _runs().items()]
    with monkeypatch.context() as patched:
        patched.delattr(job, "reconcile_from_files")  # one query is to do
        together = [_told(found) for found in reconcile_all(spark, paths)]

    assert together == [_told(reconcile_from_files(spark, path)) for path in paths]
    assert len({str(told) for told in together}) == len(paths)


def test_one_that_cannot_be_reconciled_keeps_no_other_from_it(spark: SparkSession, tmp_path: Path) -> None:
    paths = [kept_run().write(tmp_path / name) for name in ("a", "b", "c")]
    (paths[1] / "topic" / "part-0.parquet").write_bytes(b"no Parquet file")

    first, broken, last = reconcile_all(spark, paths)

    assert isinstance(broken, ReconcileError)
    assert "topic/part-0.parquet" in str(broken)
    for found in (first, last):
        assert isinstance(found, Reconciliation)
        assert found.counts.classes["kept"] == 2


def test_a_run_of_many_records_is_reconciled_alone(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "SMALL_RUN_RECORDS", 4)
    asked: list[list[str]] = []
    reconciled = job._reconciled

    def watched(session: SparkSession, runs: list[Path]) -> list[Reconciliation]:
        asked.append([run.name for run in runs])
        return reconciled(session, runs)

    monkeypatch.setattr(job, "_reconciled", watched)
    paths = [kept_run().write(tmp_path / "a"), random_run(1, 5).write(tmp_path / "b"), kept_run().write(tmp_path / "c")]
    found = reconcile_all(spark, paths)

    assert asked == [["a", "c"], ["b"]]
    assert [len(_told(one)[2]) for one in found if isinstance(one, Reconciliation)][::2] == [4, 4]


@pytest.mark.parametrize("names", [("x/run", "y/run"), ("a run", "b run")])
def test_runs_that_their_names_do_not_tell_apart_are_reconciled_one_by_one(
    spark: SparkSession, tmp_path: Path, names: tuple[str, str]
) -> None:
    one, other = kept_run(), kept_run()
    other.topic.pop()
    found = reconcile_all(spark, [run.write(tmp_path / name) for run, name in zip((one, other), names, strict=True)])

    assert [_classes(one)["lost"] for one in found] == [0, 1]


def _classes(found: Reconciliation | ReconcileError) -> dict[str, int]:
    assert isinstance(found, Reconciliation), found
    return dict(found.counts.classes)
