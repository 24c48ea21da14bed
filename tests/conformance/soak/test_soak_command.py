"""What does the command ``soak`` take, say and refuse, before it starts anything?"""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.commands.soaking import faults_named, many


@pytest.mark.parametrize(("text", "records"), [("7", 7), ("500K", 500_000), ("10m", 10**7), ("1.5M", 1_500_000)])
def test_a_number_of_records_has_units(text: str, records: int) -> None:
    assert many(text) == records


@pytest.mark.parametrize("text", ["", "M", "ten", "0", "-3", "0.1", "inf", "infM", "nan"])
def test_what_is_no_number_of_records_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError):
        many(text)


def test_faults_are_a_seed_a_file_or_none() -> None:
    assert faults_named("7") == 7
    assert faults_named("none") is None
    assert faults_named("my/faults.yaml") == Path("my/faults.yaml")


def planned(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert main(["soak", "--plan", "--kafka", "4.4.0", *options]) == 0
    return capsys.readouterr().out


def test_the_same_seed_plans_the_same_faults(capsys: pytest.CaptureFixture[str]) -> None:
    first = planned(capsys, "--faults", "7", "--duration", "5m")
    assert planned(capsys, "--faults", "7", "--duration", "5m", "--seed", "9") == first
    assert planned(capsys, "--seed", "7", "--duration", "5m") == first
    assert planned(capsys, "--faults", "8", "--duration", "5m") != first
    assert len(first.splitlines()) > 5
    assert planned(capsys, "--faults", "none") == ""


def test_faults_are_drawn_for_as_long_as_load_lasts(capsys: pytest.CaptureFixture[str]) -> None:
    minutes = planned(capsys, "--seed", "7", "--duration", "5m")
    assert planned(capsys, "--seed", "7", "--duration", "1h", "--records", "300K", "--rate", "1000") == minutes
    assert planned(capsys, "--seed", "7", "--duration", "5m", "--records", "10M", "--rate", "1000") == minutes


def test_a_file_of_faults_is_planned_as_it_stands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("faults:\n- {at_s: 5, kind: kill, broker: 2, for_s: 3}\n- {at_s: 30, kind: roll}\n")
    told = planned(capsys, "--faults", str(file)).splitlines()
    assert len(told) == 2
    assert "broker 2" in told[0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--replicas", "2", "--min-insync-replicas", "3"], "there are 2 replicas"),
        (["--replicas", "1", "--min-insync-replicas", "2"], "there are 1 replicas"),
        (["--kafka", "0.10.2.2", "--idempotent"], "0.10.2.2 has no idempotent producers (KIP-98, from 0.11 on)"),
        (["--faults", "."], "Is a directory"),
        (["--rules-of", "9.9.9"], "9.9.9"),
        (["--accept", "findings.toml"], "--accept"),
        (["--no-fetch-sessions"], "--no-fetch-sessions"),
        (["--rate", "2"], "at least one record a second"),
        (["--idempotent", "--acks", "1"], "--acks all"),
        (["--faults", "no-such-file.yaml"], "no-such-file.yaml"),
        (["--records", "900000000000"], "free"),
        (["--kafka", "9.9"], "9.9"),
        (["--acks", "2"], "--acks"),
        (["--advertise", "198.51.100.1"], "is no address of this machine that brokers can listen on"),
        (["--advertise", "there.invalid"], "--advertise there.invalid: it does not resolve"),
        (["--spark-conf", "spark.master=yarn"], "--spark-master says it"),
        (["--spark-conf", "executor.memory=1g"], "is no setting of Spark"),
        (["--spark-conf", "spark.a=1", "--spark-conf", "spark.a=2"], "spark.a is given twice"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_starts(
    options: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _code(["soak", "--backend", "process", "--runs-dir", str(tmp_path / "soaks"), *options]) == 2
    assert says in capsys.readouterr().err
    assert not any((tmp_path / "soaks").glob("*"))


def _code(words: list[str]) -> int:
    try:
        return main(words)
    except SystemExit as ended:
        return int(str(ended.code))
