"""Does a soak end right whose topic is read on another machine, and is refused what could not be read there?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.standalone import Place, standalone
from conformance.cli import main
from conformance.reconcile.session import end_running_session
from tests.fault_injection.cluster.namespaces import another_machine, require_permission

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.alone, pytest.mark.timeout(600)]
KILL = "faults: [{at_s: 2, kind: kill, broker: 1, for_s: 1}]"
EMPTY_THERE = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"')
"""Runs a command to which a directory is another one, and empty."""


def soaked(tmp_path: Path, *options: str) -> int:
    """Run a small soak with a kill; return its exit code."""
    end_running_session()
    file = tmp_path / "faults.yaml"
    file.write_text(KILL)
    small = ["--duration", "8s", "--rate", "400", "--partitions", "2", "--producers", "2", "--seed", "12"]
    where = ["--runs-dir", str(tmp_path / "soaks"), "--backend", "process", "--faults", str(file), "--json"]
    return main(["soak", *small, *where, *options])


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


@pytest.mark.parametrize("kafka", ["4.4.0", "0.10.2.2"])
def test_executors_on_another_machine_read_what_was_sent(
    kafka: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with another_machine() as there:
        place = Place(there.own_address, tuple(there.command))
        with standalone(tmp_path / "spark", 1, there.our_address, place) as engine:
            reached = ["--advertise", there.our_address, "--spark-master", engine.url]
            code = soaked(tmp_path, "--kafka", kafka, *reached)
    answer = told(capsys)
    assert (code, answer["verdict"]["conformance"]) == (0, "CONFORMS"), answer["verdict"]
    assert answer["counted"]["identity_holds"]
    assert sum(one["read"] for one in answer["counted"]["partitions"]) > 1000


def test_brokers_that_executors_do_not_reach_are_missed_before_records_are_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with another_machine() as there:
        place = Place(there.own_address, tuple(there.command))
        driver = [f"--spark-conf=spark.driver.{name}={there.our_address}" for name in ("host", "bindAddress")]
        with standalone(tmp_path / "spark", 1, there.our_address, place) as engine:
            code = soaked(tmp_path, "--spark-master", engine.url, *driver)
        complaint = capsys.readouterr().err
        assert code == 2, complaint
        assert f"executors of {engine.url} tried to reach the brokers at 127.0.0.1:" in complaint
    assert not list((tmp_path / "soaks").glob("*/producers/*"))


def test_a_directory_that_executors_do_not_share_is_refused_before_brokers_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require_permission(("unshare", "--mount"))
    (tmp_path / "soaks").mkdir()
    with standalone(tmp_path / "spark", 1, place=Place(command=(*EMPTY_THERE, str(tmp_path / "soaks")))) as engine:
        code = soaked(tmp_path, "--spark-master", engine.url)
        complaint = capsys.readouterr().err
    assert code == 2, complaint
    assert f"--runs-dir must be on a file system that executors of {engine.url} share with this machine" in complaint
    assert not list((tmp_path / "soaks").iterdir())


def test_a_cluster_without_a_worker_is_refused_before_brokers_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.spark_thread.STANDALONE_PATIENCE_S", 15.0)
    with standalone(tmp_path / "spark", workers=0) as engine:
        code = soaked(tmp_path, "--spark-master", engine.url)
        complaint = capsys.readouterr().err
    assert code == 2, complaint
    assert f"Spark on {engine.url} has had no executor for 15 s: no worker has a core" in complaint
    assert not list((tmp_path / "soaks").iterdir())
