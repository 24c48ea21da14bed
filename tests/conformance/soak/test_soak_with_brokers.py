"""Does a soak end as predicted on real brokers, with every record in a class, and nothing left behind?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cli import main
from conformance.record.directory import RunDirectory
from conformance.record.soak import read_soak
from conformance.record.soak_prediction import read_soak_prediction

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(600)]
KILL = "faults: [{at_s: 2, kind: kill, broker: 1, for_s: 1}]"
SECOND_LEADER = "faults: [{at_s: 2, kind: second_leader, partition: 0, for_s: 1}]"


def soaked(
    kafka: str, faults: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[int, dict[str, Any]]:
    """Run a small soak; return its exit code and answer."""
    file = tmp_path / "faults.yaml"
    file.write_text(faults)
    small = ["--duration", "10s", "--rate", "400", "--partitions", "2", "--producers", "2", "--seed", "12"]
    where = ["--runs-dir", str(tmp_path / "soaks"), "--backend", "process", "--faults", str(file)]
    code = main(["soak", "--kafka", kafka, *small, *where, "--cross-check", "--json", *options])
    return code, json.loads(capsys.readouterr().out)


def apart(told: dict[str, Any]) -> int:
    """Return at how many offsets replicas differ, once all were read and nothing else is wrong with them."""
    replicas = told["counted"]["replicas"]
    assert (replicas["logs"], replicas["unread"], replicas["lost_tails"], replicas["rotten"]) == (6, [], [], 0)
    return sum(replicas["diverged"].values())


def test_a_soak_with_a_kill_is_as_predicted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = soaked("4.4.0", KILL, tmp_path, capsys, "--acks", "mixed", "--sample")
    assert (code, told["verdict"]["conformance"]) == (0, "CONFORMS"), told["verdict"]
    assert told["verdict"]["promise"] in ("KEPT", "ALLOWED_BY_SETTINGS")
    assert told["verdict"]["faults"]["done"] == 1
    run = RunDirectory(tmp_path / told["run"])
    soak = read_soak(run)
    assert told["counted"]["identity_holds"]
    assert told["counted"]["cross_check"] == []
    assert told["counted"]["control"]["records"] > 0
    assert apart(told) == 0
    assert read_soak_prediction(run).records["present"] == sum(soak.ends)
    assert "Acknowledged" in (run.path / "report.html").read_text()


def test_releases_before_epochs_lose_what_all_acknowledged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = soaked("0.10.2.2", SECOND_LEADER, tmp_path, capsys)
    assert (code, told["verdict"]["conformance"]) == (0, "CONFORMS"), told["verdict"]
    lost = sum(one["classes"]["lost"]["predicted"] for one in told["counted"]["partitions"])
    assert lost > 0
    assert told["verdict"]["promise"] == "BROKEN_AS_PREDICTED"
    assert apart(told) > 0, "whoever was cut before it led holds other records than who led before"
    assert told["verdict"]["replicas"]["offsets"]["predicted"] == apart(told)


def test_releases_with_epochs_keep_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = soaked("4.4.0", SECOND_LEADER, tmp_path, capsys)
    assert (code, told["verdict"]["promise"]) == (0, "KEPT"), told["verdict"]
    assert apart(told) == 0
