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
from conformance.record.soak_verdict import FaultsOfSoak, read_soak_verdict
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
    tmp_path: Path,
    found: SoakCounted,
    prediction: SoakPrediction = PREDICTION,
    acks: AcksOfProducers = SOAK.acks,
    **how: Any,  # noqa: ANN401 - faults, unrest
) -> SoakVerdict:
    run = RunDirectory(tmp_path)
    write_rows(run.path / REPLICAS_FILE, [], replicas_schema())
    verdict = judge_soak(run, replace(SOAK, acks=acks), prediction, found, **how)
    assert read_soak_verdict(run) == verdict
    return verdict


def lose(tmp_path: Path, *ids: int, how: str = "predicted") -> None:
    (tmp_path / OF_NOTE).mkdir(parents=True)
    lost = [*(True for _ in ids), False]
    table = pa.table({"record_id": [*ids, SOAK.base], "lost": lost, "judged": [how for _ in lost]})
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
        (counted(), replace(PREDICTION, records={"either": 6}), "leaves open what became of 6 offsets"),
        (counted(classes={"absent": ClassCounted(either=6)}), PREDICTION, "leaves open what became of 6 records"),
        (counted(partition={"outcomes": {}}), PREDICTION, "no record was acknowledged"),
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


def test_nothing_is_against_what_was_not_predicted(tmp_path: Path) -> None:
    lose(tmp_path, SOAK.first_id(1) + 5)
    cut_short = replace(PREDICTION, why_not="cut short", records={})
    found = counted(classes={"lost": ClassCounted(against=1)}, partition={"not_predicted": 1_000})
    verdict = judged(tmp_path, found, cut_short, AcksOfProducers.LEADER)
    assert (verdict.conformance, verdict.promise) == (Conformance.INCONCLUSIVE, PromiseKept.ALLOWED_BY_SETTINGS)
    assert judged(tmp_path, found, cut_short, AcksOfProducers.ALL).promise is PromiseKept.BROKEN


def test_replicas_that_did_not_come_to_rest_deviate(tmp_path: Path) -> None:
    verdict = judged(tmp_path, counted(), unrest="partition 3: out of sync: 2")
    assert verdict.conformance is Conformance.DEVIATES
    assert "not every replica came to rest: partition 3: out of sync: 2" in verdict.reason


def test_without_one_of_the_faults_that_were_asked_for_nothing_was_tried(tmp_path: Path) -> None:
    verdict = judged(tmp_path, counted(), faults=FaultsOfSoak(done=0, begun=2, left_out=3))
    assert verdict.conformance is Conformance.INCONCLUSIVE
    assert "none of the 5 faults was carried out" in verdict.reason
    one = judged(tmp_path, counted(), faults=FaultsOfSoak(done=1, begun=2, left_out=3, notes=("late",)))
    assert one.conformance is Conformance.CONFORMS
    assert one.faults == FaultsOfSoak(1, 2, 3, ("late",))


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


@pytest.mark.parametrize(
    ("acks", "promise"),
    [(AcksOfProducers.ALL, PromiseKept.BROKEN), (AcksOfProducers.LEADER, PromiseKept.ALLOWED_BY_SETTINGS)],
)
def test_a_loss_that_was_left_open_is_not_as_predicted(
    tmp_path: Path, acks: AcksOfProducers, promise: PromiseKept
) -> None:
    lose(tmp_path, SOAK.base + 1, SOAK.base + 2, how="either")
    verdict = judged(tmp_path, lost(either=2), acks=acks)
    assert (verdict.conformance, verdict.promise) == (Conformance.INCONCLUSIVE, promise)
    assert "2 acknowledged records are lost of which the wire leaves open" in verdict.reason
