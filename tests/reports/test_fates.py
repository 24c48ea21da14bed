"""Are prediction and measurement of a record that is gone told by one word, on every release?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from reports.fates import gone_word, predicted_fate
from reports.load import load_run
from reports.load_race import load_race
from reports.verdict_words import CLASS_MEANINGS
from tests.reports.golden_runs import loss
from tests.reports.golden_writer import write_golden

if TYPE_CHECKING:
    from pathlib import Path


def record(fate: str, outcome: str | None, *, was_committed: bool = False) -> dict[str, Any]:
    return {"label": "m1", "fate": fate, "outcome": outcome, "was_committed": was_committed}


@pytest.mark.parametrize(
    ("predicted", "measured", "words"),
    [
        (record("lost", "acknowledged", was_committed=True), "acknowledged", ("lost", "lost")),
        (record("lost", "indeterminate", was_committed=True), "indeterminate", ("lost", "lost")),
        (record("absent", "acknowledged"), "acknowledged", ("lost", "lost")),  # acks=1: acknowledged, never committed
        (record("absent", "refused"), "refused", ("absent", "absent")),
        (record("absent", "indeterminate"), "indeterminate", ("absent", "absent")),
        (record("absent", None), "acknowledged", ("lost", "lost")),  # whether it is acknowledged was left open
        (record("absent", "refused"), "acknowledged", ("absent", "lost")),  # they differ, and so do the words
        (record("present", "acknowledged"), "acknowledged", ("present", "lost")),
    ],
)
def test_one_word_for_both_where_they_agree(predicted: dict[str, Any], measured: str, words: tuple[str, str]) -> None:
    assert (predicted_fate(predicted, measured), gone_word(predicted, measured)) == words


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
    ends = [record("present", "acknowledged") | {"offset": 1}, record("absent", "acknowledged")]
    race = load_race({"alternatives": [{"records": [end]} for end in ends]})
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
