"""What is no fault of the brokers never ends with the exit code of a deviation."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from oracle.predict import NotOnReleaseError
from tests.conformance.ideal_runs import write_ideal_run

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def own_sigterm() -> Iterator[None]:
    handler = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, handler)


def test_a_defect_of_the_tester_is_a_harness_error_with_its_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("log_end_offset")

    monkeypatch.setattr("conformance.commands.listing.select", broken)

    assert main(["list", "TR-01"]) == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" in said.err
    assert said.err.endswith("kafka-conformance: the tester failed, not the brokers: KeyError('log_end_offset')\n")


def test_rules_without_the_schedules_point_do_not_apply_to_the_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def unavailable(*_: object) -> None:
        raise NotOnReleaseError("Kafka 0.10.2.2 followers do not send OffsetsForLeaderEpoch", step=0)

    monkeypatch.setattr("conformance.commands.judgement._judged", unavailable)
    run = write_ideal_run(tmp_path)

    assert main(["judge", str(run.path), "--rules-of", "0.10.2.2"]) == 0
    assert "NOT_RUN: Kafka 0.10.2.2 followers do not send OffsetsForLeaderEpoch" in capsys.readouterr().out


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_disk_that_fails_during_a_run_is_a_harness_error_with_its_place(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int
) -> None:
    def fails(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("conformance.commands.running.run_scenarios", fails)

    assert main(["run", "TR-01", "--runs-dir", str(tmp_path)]) == 4
    said = capsys.readouterr().err
    assert said == f"kafka-conformance: {tmp_path}: {os.strerror(number)}; the run is incomplete\n"


def test_a_page_that_does_not_fit_is_a_harness_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = write_ideal_run(tmp_path)

    assert main(["report", str(run.path), "--out", "/dev/full"]) == 4
    said = capsys.readouterr().err
    assert said == "kafka-conformance: /dev/full: No space left on device; the file is incomplete\n"


@pytest.mark.parametrize("arguments", [["predict", "TR-01"], ["list", "--json"]])
def test_an_answer_that_does_not_fit_is_a_harness_error(arguments: list[str]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "conformance.cli", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    said = "kafka-conformance: standard output: No space left on device; the answer is incomplete\n"
    assert (done.returncode, done.stderr) == (4, said)


INTERRUPTED_IMPORT = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from conformance.cli import main
sys.exit(main(["list"]))
"""


@pytest.mark.parametrize("module", ["conformance.console", "conformance.registry"])
def test_an_interrupt_while_it_still_imports_is_no_traceback(module: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED_IMPORT.format(module=module)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "kafka-conformance: interrupted\n")


@pytest.mark.parametrize(
    ("command", "module", "said"),
    [
        ("predict", "prediction.predict_scenarios", "interrupted"),
        ("run", "running.run_scenarios", "interrupted; all brokers of this run were ended"),
    ],
)
def test_an_interrupt_speaks_of_brokers_where_there_were_some(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, module: str, said: str
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"conformance.commands.{module}", interrupted)

    assert main([command, "TR-01"]) == 130
    assert capsys.readouterr().err == f"kafka-conformance: {said}\n"
