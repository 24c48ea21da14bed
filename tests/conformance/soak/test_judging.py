"""What does a soak come to? Each thing that speaks against it must turn the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.record.directory import RunDirectory
from conformance.record.soak import AcksOfProducers
from conformance.record.soak_counted import OF_NOTE, ClassCounted, Compared, Control, SoakCounted
from conformance.record.soak_prediction import REPLICAS_FILE, replicas_schema, write_rows
from conformance.record.soak_verdict import read_soak_verdict
from conformance.record.verdict import Conformance, PromiseKept
from conformance.soak.judging import judge_soak
from tests.conformance.soak.judged import ALIKE, KEPT, PARTITION, PREDICTION
from tests.conformance.soak.soaks import SOAK

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.record.soak_prediction import SoakPrediction
    from conformance.record.soak_verdict import SoakVerdict


def counted(**fields: Any) -> SoakCounted:  # noqa: ANN401 - those of SoakCounted
    classes = fields.pop("classes", KEPT)
    partition = replace(PARTITION, classes=classes, primary=classes, **fields.pop("partition", {}))
    return SoakCounted((partition,), (), Compared(9, 0, 0), **{"identity_holds": True, "replicas": ALIKE, **fields})


def judged(
    tmp_path: Path, found: SoakCounted, prediction: SoakPrediction = PREDICTION, acks: AcksOfProducers = SOAK.acks
) -> SoakVerdict:
    run = RunDirectory(tmp_path)
    write_rows(run.path / REPLICAS_FILE, [], replicas_schema())
    verdict = judge_soak(run, replace(SOAK, acks=acks), prediction, found)
    assert read_soak_verdict(run) == verdict
    return verdict


def lose(tmp_path: Path, *ids: int) -> None:
    (tmp_path / OF_NOTE).mkdir(parents=True)
    table = pa.table({"record_id": [*ids, SOAK.base], "lost": [*(True for _ in ids), False]})
    pq.write_table(table, tmp_path / OF_NOTE / "part-0.parquet")


def test_all_as_predicted_conforms(tmp_path: Path) -> None:
    verdict = judged(tmp_path, counted())
    assert (verdict.conformance, verdict.promise) == (Conformance.CONFORMS, PromiseKept.KEPT)
    assert "1,000 acknowledged records are there" in verdict.reason


@pytest.mark.parametrize(
    ("found", "prediction", "says"),
    [
        (counted(classes={"phantom": ClassCounted(against=1)}), PREDICTION, "1 records are not as predicted"),
        (counted(partition={"not_predicted": 2}), PREDICTION, "2 offsets"),
        (counted(partition={"beyond_end": 3}), PREDICTION, "3 offsets"),
        (counted(), replace(PREDICTION, violation="broker 1 tells"), "no rule allows: broker 1 tells"),
    ],
)
def test_what_is_against_the_prediction_deviates(
    tmp_path: Path, found: SoakCounted, prediction: SoakPrediction, says: str
) -> None:
    verdict = judged(tmp_path, found, prediction)
    assert verdict.conformance is Conformance.DEVIATES
    assert says in verdict.reason


@pytest.mark.parametrize(
    ("found", "prediction", "says"),
    [
        (counted(), replace(PREDICTION, why_not="cut short"), "cut short"),
        (counted(), replace(PREDICTION, records={"either": 6}), "leaves open what became of 6"),
        (counted(identity_holds=False), PREDICTION, "does not add up"),
        (counted(control=Control(10, 9, 10, 0)), PREDICTION, "sample"),
        (counted(cross_check=("lost: 3, not 2",)), PREDICTION, "lost: 3, not 2"),
        (counted(replicas=None), PREDICTION, "replicas were not compared"),
    ],
)
def test_what_leaves_it_open_is_inconclusive(
    tmp_path: Path, found: SoakCounted, prediction: SoakPrediction, says: str
) -> None:
    verdict = judged(tmp_path, found, prediction)
    assert verdict.conformance is Conformance.INCONCLUSIVE
    assert says in verdict.reason


def test_a_little_may_be_left_open(tmp_path: Path) -> None:
    assert judged(tmp_path, counted(), replace(PREDICTION, records={"either": 5})).conformance is Conformance.CONFORMS


def lost(**how: int) -> SoakCounted:
    return counted(classes={"kept": ClassCounted(predicted=998), "lost": ClassCounted(**how)})


def test_a_predicted_loss_is_told_by_who_waited_for_what(tmp_path: Path) -> None:
    lose(tmp_path, SOAK.base + 1, SOAK.first_id(1) + 5)
    verdict = judged(tmp_path, lost(predicted=2))
    assert (verdict.conformance, verdict.promise) == (Conformance.CONFORMS, PromiseKept.BROKEN_AS_PREDICTED)
    assert "2 of 1,000 acknowledged records are lost, 1 of them with acks=all" in verdict.reason
    of_all = judged(tmp_path, lost(predicted=2), acks=AcksOfProducers.ALL)
    assert "all with acks=all" in of_all.reason
    of_leaders = judged(tmp_path, lost(predicted=2), acks=AcksOfProducers.LEADER)
    assert of_leaders.promise is PromiseKept.ALLOWED_BY_SETTINGS


def test_a_loss_against_the_prediction_breaks_the_promise(tmp_path: Path) -> None:
    lose(tmp_path, SOAK.base + 1, SOAK.base + 2)
    verdict = judged(tmp_path, lost(predicted=1, against=1))
    assert (verdict.conformance, verdict.promise) == (Conformance.DEVIATES, PromiseKept.BROKEN)
