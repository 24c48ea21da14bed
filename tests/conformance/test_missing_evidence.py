"""Is a run whose evidence was removed held against the tester, not against the brokers?"""

import json
from pathlib import Path

import pytest

from conformance.commands.judgement import require_evidence
from conformance.run_directory import RunDirectory, RunDirectoryError

FILES = ("observations.ndjson", "timeline.ndjson", "ledger/attempts-0.parquet")


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    for name in ("prediction", "ledger"):
        (tmp_path / name).mkdir()
    for name in FILES:
        (tmp_path / name).touch()
    (tmp_path / "prediction/prediction.json").write_text(json.dumps({"records": [{"label": "m0"}]}))
    return RunDirectory(tmp_path)


def test_a_whole_run_can_be_judged(run: RunDirectory) -> None:
    require_evidence(run)


@pytest.mark.parametrize("name", FILES)
def test_a_run_without_its_evidence_cannot_be_judged(run: RunDirectory, name: str) -> None:
    (run.path / name).unlink()
    with pytest.raises(RunDirectoryError, match=name.partition("/")[0]):
        require_evidence(run)


def test_a_run_that_produced_nothing_needs_no_ledger(run: RunDirectory) -> None:
    (run.path / "ledger/attempts-0.parquet").unlink()
    (run.path / "prediction/prediction.json").write_text(json.dumps({"records": []}))
    require_evidence(run)
