"""RC-01 to RC-03: what is predicted of a run and of its doctored copies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from conformance.examining.doctored_runs import (
    AnomaliesAreCounted,
    DoctoringIsSeen,
    EveryRecordIsJoined,
    _anomalies,
    _is_frozen_before_reading,
)
from conformance.record.directory import RunDirectory
from conformance.record.reconciliation import COUNTS_FILE, Counts, Totals
from conformance.record.run import Frozen, Run, write_run
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from pathlib import Path

OLDEST = rules_for("0.10.2.2", MetadataMode.ZOOKEEPER)
NEWEST = rules_for("4.3.1", MetadataMode.KRAFT)


@pytest.mark.parametrize("rules", [OLDEST, NEWEST], ids=lambda rules: rules.version)
def test_each_outcome_is_counted(rules: object) -> None:
    predicted = {answer.what: answer.value for answer in EveryRecordIsJoined().predict(rules)}  # type: ignore[arg-type]

    assert [predicted[f"records {name}"] for name in ("produced", "read")] == [5, 3]
    assert [predicted[f"records {name}"] for name in ("acknowledged", "refused", "indeterminate")] == [3, 1, 1]
    assert [predicted[f"records in class {name}"] for name in ("kept", "absent")] == [3, 2]


def test_every_kind_of_anomaly_is_made_once() -> None:
    made = [answer.value for answer in AnomaliesAreCounted().predict(NEWEST)]
    kinds = {str(found).split()[0] for one in made if isinstance(one, list) for found in one}

    assert made[0] == []
    assert kinds == {
        *("lost", "phantom", "resurrected", "duplicated", "reordered", "moved", "value_changed", "diverged"),
    }


def test_the_rules_of_another_release_are_wrong_in_both_directions() -> None:
    oldest, newest = (
        {answer.what: answer.value for answer in DoctoringIsSeen().predict(rules)} for rules in (OLDEST, NEWEST)
    )

    assert oldest["verdict of the run"] == ["CONFORMS", "BROKEN_AS_PREDICTED"]
    assert newest["verdict of the run"] == ["CONFORMS", "KEPT"]
    assert {str(oldest[what]) for what in oldest if "when topic" in what} == {"['DEVIATES', 'BROKEN']"}


def test_anomalies_are_told_with_their_counts(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    classes = {"kept": 3, "moved": 2, "lost": 0, "duplicated": 1}
    counts = Counts(Totals(6, 6, 6, 6, 0), classes, classes, deviations=3, identity_holds=True)
    run.write(COUNTS_FILE, counts)

    assert _anomalies(run) == ["duplicated 1", "moved 2"]


@pytest.mark.parametrize(("read_at", "is_frozen_before"), [(1_700_000_001, True), (1_699_999_999, False)])
def test_what_was_read_before_the_prediction_was_frozen_shows(
    tmp_path: Path, read_at: int, is_frozen_before: bool
) -> None:
    run = RunDirectory(tmp_path)
    write_run(run, Run("4.3.1", "kraft", prediction=Frozen("", "2023-11-14T22:13:20.000+00:00", 0)))
    path = tmp_path / "topic" / "part.parquet"
    path.parent.mkdir()
    path.touch()
    os.utime(path, (read_at, read_at))

    assert _is_frozen_before_reading(run) is is_frozen_before
