"""Are prediction and measurement of a record that is gone told by one word, on every release?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from conformance.record.prediction import FrozenPrediction, PredictedOutcome, PredictedRecord
from reports.load import load_run
from reports.load_story import race_of
from reports.verdict_words import CLASS_MEANINGS
from tests.reports.golden_runs import loss
from tests.reports.golden_writer import GoldenRecord, predicted_record, write_golden

if TYPE_CHECKING:
    from pathlib import Path


def record(fate: str, outcome: str, *, was_committed: bool = False, offset: int | None = None) -> PredictedRecord:
    told = predicted_record(0, GoldenRecord("m1", fate, offset, None, None, outcome=outcome))
    return msgspec.convert(told | {"was_committed": was_committed}, PredictedRecord)


@pytest.mark.parametrize(
    ("predicted", "word"),
    [
        (record("lost", "acknowledged", was_committed=True), "lost"),
        (record("lost", "indeterminate", was_committed=True), "lost"),
        (record("absent", "acknowledged"), "lost"),  # acks=1: acknowledged, never committed
        (record("absent", "refused"), "absent"),
        (record("absent", "indeterminate"), "absent"),
        (record("present", "acknowledged"), "present"),
        (record("deleted", "acknowledged"), "deleted"),
    ],
)
def test_a_prediction_calls_an_end_as_the_reconciliation_does(predicted: PredictedRecord, word: str) -> None:
    assert predicted.called == word


def test_an_acknowledged_record_that_never_was_committed_is_lost_in_both_columns(tmp_path: Path) -> None:
    path = write_golden(loss(), tmp_path)
    prediction = json.loads((path / "prediction" / "prediction.json").read_text())
    for told in prediction["records"]:
        if told["label"] == "m1":
            told |= {"fate": "absent", "was_committed": False, "acks": 1}
    (path / "prediction" / "prediction.json").write_text(json.dumps(prediction))
    rows = {row.label: row for row in load_run(path).records.rows}
    assert (rows["m1"].predicted_fate, rows["m1"].measured_fate) == ("lost", "lost")
    assert load_run(path).records.acks == ("all", "1")


def test_the_meaning_of_absent_is_not_that_of_lost() -> None:
    assert CLASS_MEANINGS["absent"] == "neither committed nor acknowledged, and not in the topic"
    assert CLASS_MEANINGS["lost"] == "committed or acknowledged, and not in the topic"


def test_an_open_race_ends_with_the_same_words() -> None:
    nothing = {"checkpoints": (), "logs": {}, "diverged": (), "steps": ()}
    ends = [record("present", "acknowledged", offset=1), record("absent", "acknowledged")]
    alternatives = tuple(PredictedOutcome(race=(), records=(end,), **nothing) for end in ends)
    whose = {"scenario": "x", "kafka": "1.1.1", "metadata": "zookeeper", "rules": ()}
    race = race_of(FrozenPrediction(records=(), alternatives=alternatives, **whose, **nothing))
    assert race is not None
    assert [outcome.ends for outcome in race.outcomes] == [("m1 at offset 1",), ("m1 lost",)]


def test_a_record_that_is_not_shown_still_counts_among_the_acks(tmp_path: Path) -> None:
    golden = loss()
    many = tuple(replace(golden.records[0], label=f"r{number}") for number in range(205))
    path = write_golden(replace(golden, records=many, logs={}), tmp_path)
    prediction = json.loads((path / "prediction" / "prediction.json").read_text())
    prediction["records"][-1]["acks"] = 1
    (path / "prediction" / "prediction.json").write_text(json.dumps(prediction))
    records = load_run(path).records
    assert {row.acks for row in records.rows} == {"all"}
    assert records.acks == ("all", "1")
