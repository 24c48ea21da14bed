"""Accepted deviations are few, understood, and about scenarios that exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.expectations import DIRECTORY, ExpectationError, accepted_deviation, load_expectations
from conformance.judgement.comparison import checkpoint_rows
from conformance.judgement.deviation_codes import NUMBERS
from conformance.record.observations import Checkpoint, ReplicaSeen
from conformance.record.prediction import PredictedMoment, PredictedReplica
from conformance.registry import CATALOGUE
from fault_injection.releases import find_release

if TYPE_CHECKING:
    from pathlib import Path

ENTRY = """
[[deviates]]
scenario = "TR-01"
reason = "It cuts one record too many."
issue = "KAFKA-1"
"""
FILES = sorted(DIRECTORY.glob("*.toml"))


def write(folder: Path, text: str) -> Path:
    path = folder / "4.3.1.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_entry_accepts_its_scenario_on_its_release_only(tmp_path: Path) -> None:
    write(tmp_path, ENTRY)

    found = accepted_deviation("4.3.1", "kraft", "TR-01", tmp_path)
    assert found is not None
    assert (found.issue, found.reason) == ("KAFKA-1", "It cuts one record too many.")
    assert accepted_deviation("4.3.1", "kraft", "TR-02", tmp_path) is None
    assert accepted_deviation("3.9.2", "kraft", "TR-01", tmp_path) is None


@pytest.mark.parametrize(("mode", "accepts"), [("kraft", True), ("zookeeper", False)])
def test_an_entry_may_concern_one_metadata_mode(tmp_path: Path, mode: str, *, accepts: bool) -> None:
    write(tmp_path, f'{ENTRY}metadata = "kraft"\n')

    assert (accepted_deviation("4.3.1", mode, "TR-01", tmp_path) is not None) is accepts


def test_an_entry_may_name_what_it_accepts(tmp_path: Path) -> None:
    write(tmp_path, f'{ENTRY}codes = ["high_watermark", "isr"]\n')
    found = accepted_deviation("4.3.1", "kraft", "TR-01", tmp_path)

    assert found is not None
    assert found.codes == ("high_watermark", "isr")


def test_every_number_that_is_compared_has_a_code() -> None:
    numbers = {"leader": 1, "isr": (1,), "elr": (), "remote_log_end_offsets": {2: 1}}
    replicas = {1: PredictedReplica(1, 1, alive=True, log_start_offset=1)}
    predicted = PredictedMoment(step=0, name="end", leadership=0, replicas=replicas, **numbers)
    seen = {1: ReplicaSeen(1, 1, alive=True, log_start_offset=1)}
    measured = Checkpoint(name="end", settled=True, leader_epoch=0, replicas=seen, **numbers)

    assert {row.code for row in checkpoint_rows(predicted, measured)} == set(NUMBERS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[deviates", "4.3.1.toml: "),
        (ENTRY.replace('issue = "KAFKA-1"', ""), "4.3.1.toml: entry 1: missing or unknown: issue"),
        (f"{ENTRY}codes = ['hw']", "4.3.1.toml: entry 1: unknown codes hw; known are alive, awaited_state, diverged, "),
        (f"{ENTRY}codes = [['isr']]", "4.3.1.toml: entry 1: unknown codes ['isr']; known are "),
        (f"{ENTRY}codes = 'isr'", "4.3.1.toml: entry 1: codes is no list; known codes are "),
        (ENTRY + ENTRY.replace("reason", "because"), "4.3.1.toml: entry 2: missing or unknown: because, reason"),
    ],
)
def test_a_file_that_cannot_be_understood_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ExpectationError) as caught:
        load_expectations(write(tmp_path, text))

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_every_entry_of_ours_is_about_a_scenario_and_a_release_there_are(path: Path) -> None:
    names = {scenario.name for scenario in CATALOGUE}

    assert find_release(path.stem).version == path.stem
    assert {entry.scenario for entry in load_expectations(path)} <= names
