"""Accepted findings are few, understood, about scenarios and releases that exist, and they end."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from conformance.expectations import (
    OURS,
    AcceptedFinding,
    ExpectationError,
    accepted_for,
    our_findings,
    read_accepted,
)
from conformance.judgement.comparison import checkpoint_rows
from conformance.record.observations import MeasuredCheckpoint, ReplicaSeen
from conformance.record.prediction import PredictedMoment, PredictedReplica
from conformance.record.verdict import NUMBERS
from conformance.registry import CATALOGUE

if TYPE_CHECKING:
    from pathlib import Path

ENTRY = """
[[accepted]]
finding = "TR-01"
release = "4.3.1"
reason = "It cuts one record too many."
issue = "KAFKA-1"
expires = 2027-06-30
"""
FORMER = """
[[deviates]]
scenario = "TR-01"
reason = "It cuts one record too many."
issue = "KAFKA-1"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "accepted.toml"
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, text: str) -> tuple[AcceptedFinding, ...]:
    return read_accepted(write(folder, text))


def test_an_entry_accepts_its_finding_on_its_release_only(tmp_path: Path) -> None:
    entries = read(tmp_path, ENTRY)

    found = accepted_for(entries, "TR-01", "4.3.1", "kraft")
    assert found is not None
    assert found.text == "KAFKA-1: It cuts one record too many."
    assert found.expires == date(2027, 6, 30)
    assert accepted_for(entries, "TR-02", "4.3.1", "kraft") is None
    assert accepted_for(entries, "TR-01", "3.9.2", "kraft") is None


def test_an_entry_may_be_about_a_kafka_of_the_users(tmp_path: Path) -> None:
    entries = read(tmp_path, f'{ENTRY}label = "fork"\n')

    assert accepted_for(entries, "TR-01", "4.3.1", "kraft", "fork") is not None
    assert accepted_for(entries, "TR-01", "4.3.1", "kraft") is None


@pytest.mark.parametrize(
    ("release", "modes"),
    [("3.9.2", ["kraft", "zookeeper"]), ("3.9.2/kraft", ["kraft"]), ("3.9.2/zookeeper", ["zookeeper"])],
)
def test_an_entry_may_be_about_one_metadata_mode(tmp_path: Path, release: str, modes: list[str]) -> None:
    entries = read(tmp_path, ENTRY.replace("4.3.1", release))

    assert [mode for mode in ("kraft", "zookeeper") if accepted_for(entries, "TR-01", "3.9.2", mode)] == modes


def test_a_release_may_be_a_build_of_the_users_that_the_table_does_not_know(tmp_path: Path) -> None:
    assert read(tmp_path, ENTRY.replace("4.3.1", "4.3.9"))[0].release == "4.3.9"


def test_an_entry_may_name_what_it_accepts(tmp_path: Path) -> None:
    (entry,) = read(tmp_path, f'{ENTRY}codes = ["high_watermark", "isr"]\n')
    assert entry.codes == ("high_watermark", "isr")


def test_the_reader_takes_the_words_of_another_finder(tmp_path: Path) -> None:
    path = write(tmp_path, f'{ENTRY}codes = ["unclean_election_is_on"]\n')

    assert read_accepted(path, {"unclean_election_is_on"})[0].codes == ("unclean_election_is_on",)
    with pytest.raises(ExpectationError, match="unknown codes unclean_election_is_on; known are alive"):
        read_accepted(path)


def test_every_number_that_is_compared_has_a_code() -> None:
    numbers = {"leader": 1, "isr": (1,), "elr": (), "remote_log_end_offsets": {2: 1}}
    replicas = {1: PredictedReplica(1, 1, alive=True, log_start_offset=1)}
    predicted = PredictedMoment(step=0, name="end", leadership=0, replicas=replicas, **numbers)
    seen = {1: ReplicaSeen(1, 1, alive=True, log_start_offset=1)}
    measured = MeasuredCheckpoint(name="end", settled=True, leader_epoch=0, replicas=seen, **numbers)

    assert {row.code for row in checkpoint_rows(predicted, measured)} == set(NUMBERS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[accepted", "Expected ']]'"),
        (ENTRY.replace('issue = "KAFKA-1"', ""), "entry 1: missing or unknown: issue"),
        (ENTRY.replace("expires = 2027-06-30", ""), "entry 1: missing or unknown: expires"),
        (ENTRY.replace('release = "4.3.1"', ""), "entry 1: missing or unknown: release"),
        (ENTRY.replace("2027-06-30", '"2027-06-30"'), "entry 1: expires is no day, such as 2027-06-30 without quotes"),
        (ENTRY.replace("2027-06-30", "2027-06-30T12:00:00"), "entry 1: expires is no day"),
        (ENTRY.replace('"KAFKA-1"', '" "'), "entry 1: issue is no text"),
        (ENTRY.replace('"TR-01"', "1"), "entry 1: finding is no text"),
        (ENTRY.replace("4.3.1", "9.9.9"), "entry 1: Kafka '9.9.9' is not a support"),
        (ENTRY.replace("4.3.1", "4.3"), "entry 1: release 4.3 names no patch: write 4.3.1"),
        (ENTRY.replace("4.3.1", "newest"), "entry 1: release newest names no patch: write 4."),
        (ENTRY.replace("4.3.1", "4.3.1/zookeeper"), "entry 1: 4.3.1 has no metadata mode 'zookeeper', but kraft"),
        (ENTRY.replace("4.3.1", "4.3.1/"), "entry 1: 4.3.1 has no metadata mode '', but kraft"),
        (f"{ENTRY}codes = ['hw']", "entry 1: unknown codes hw; known are alive, awaited_state, diverged, "),
        (f"{ENTRY}codes = [['isr']]", "entry 1: unknown codes ['isr']; known are "),
        (f"{ENTRY}codes = 'isr'", "entry 1: codes is no list; known codes are "),
        (ENTRY + ENTRY.replace("reason", "because"), "entry 2: missing or unknown: because, reason"),
        (ENTRY + ENTRY.replace("4.3.1", "4.3.1/kraft"), "entries 1 and 2 are both about TR-01"),
        ("accept = 1", 'an accepted finding is [[accepted]] with finding = "TR-01"'),
        ("accepted = ['TR-01']", "entry 1: an accepted finding is [[accepted]]"),
        (FORMER, '[[deviates]] is the former format: write [[accepted]] with finding = "TR-01", release ='),
        (FORMER + ENTRY, "[[deviates]] is the former format"),
    ],
)
def test_a_file_that_cannot_be_understood_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ExpectationError) as caught:
        read(tmp_path, text)

    assert str(caught.value).startswith(f"{tmp_path / 'accepted.toml'}: {message}")


def test_two_modes_of_one_release_have_an_entry_each(tmp_path: Path) -> None:
    both = ENTRY.replace("4.3.1", "3.9.2/kraft") + ENTRY.replace("4.3.1", "3.9.2/zookeeper")
    assert len(read(tmp_path, both)) == 2


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExpectationError, match=r"nowhere\.toml"):
        read_accepted(tmp_path / "nowhere.toml")


def test_every_entry_of_ours_is_about_a_scenario_there_is() -> None:
    assert our_findings() == read_accepted(OURS)
    assert {entry.finding for entry in our_findings()} <= {scenario.name for scenario in CATALOGUE}
