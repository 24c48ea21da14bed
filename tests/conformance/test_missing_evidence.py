"""Is a run whose evidence was removed held against the tester, not against the brokers?"""

from pathlib import Path

import pytest

from conformance.commands.judgement import require_evidence
from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.record.prediction import PREDICTION_FILE
from tests.conformance.verdict_facts import M0, facts

FILES = ("observations.ndjson", "timeline.ndjson", "ledger/attempts-00000.parquet")


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    for name in ("prediction", "ledger"):
        (tmp_path / name).mkdir()
    for name in FILES:
        (tmp_path / name).touch()
    run = RunDirectory(tmp_path)
    run.write(PREDICTION_FILE, facts(M0).prediction)
    return run


def test_a_whole_run_can_be_judged(run: RunDirectory) -> None:
    require_evidence(run)


@pytest.mark.parametrize("name", FILES)
def test_a_run_without_its_evidence_cannot_be_judged(run: RunDirectory, name: str) -> None:
    (run.path / name).unlink()
    with pytest.raises(RunDirectoryError, match=name.partition("/")[0]):
        require_evidence(run)


def test_a_run_that_produced_nothing_needs_no_ledger(run: RunDirectory) -> None:
    (run.path / "ledger/attempts-00000.parquet").unlink()
    run.write(PREDICTION_FILE, facts().prediction)
    require_evidence(run)
