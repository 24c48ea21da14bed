"""What is no fault of the brokers never ends with the exit code of a deviation."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from oracle.predict import PointUnavailableError
from tests.conformance.ideal_runs import write_ideal_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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

    monkeypatch.setattr("conformance.commands.catalogue.select", broken)

    assert main(["list", "TR-01"]) == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" in said.err
    assert said.err.endswith("kafka-conformance: the tester failed, not the brokers: KeyError('log_end_offset')\n")


def test_rules_without_the_schedules_point_do_not_apply_to_the_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def unavailable(*_: object) -> None:
        raise PointUnavailableError("Kafka 0.10.2.2 followers do not send OffsetsForLeaderEpoch", step=0)

    monkeypatch.setattr("conformance.commands.judgement._judged", unavailable)
    run = write_ideal_run(tmp_path)

    assert main(["judge", str(run.path), "--rules-of", "0.10.2.2"]) == 0
    assert "NOT_RUN: Kafka 0.10.2.2 followers do not send OffsetsForLeaderEpoch" in capsys.readouterr().out
