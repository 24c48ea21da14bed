"""What would another release's rules say of a run? A second prediction and verdict beside the first.

The evidence is copied into a directory of its own inside the run, so that nothing that was frozen
changes; the new verdict is also written as ``verdict-repredicted-<version>.json``.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.judging import as_json, judge_run
from conformance.open_outcomes import write_measured_outcome
from conformance.prediction_files import write_prediction
from conformance.run_directory import RunDirectory
from conformance.schedule_format import decode
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from conformance.spark_room import SparkRoom
    from conformance.verdicts import Verdict

EVIDENCE = ("ledger", "topic", "replica_logs", "reconciliation")
FILES = ("schedule.json", "observations.ndjson")
TRACED = ("wire.ndjson", "timeline.ndjson")
"""What the check of the wire trace reads besides; a run of old has none. They are linked: the trace is large."""


def repredict(
    run: RunDirectory, spark: SparkRoom, rules_of: tuple[str, str] | None = None
) -> tuple[RunDirectory, Verdict]:
    """Predict a run anew and judge it by that prediction.

    Args:
        run: a finished run.
        spark: where to reconcile.
        rules_of: (version, metadata mode) whose rules to use; None takes the run's own.

    Raises:
        ScheduleError: those rules cannot bring about what the schedule assumes.
    """
    about = run.read_json("run.json")
    version, metadata = rules_of or (about["kafka"], about["metadata"])
    second = _copied(run, f"repredicted-{version}-{metadata}")
    by = {"rules_of": version, "rules_metadata": metadata}
    second.write_json("run.json", about | {"run": f"{about['run']}/{second.path.name}", **by})
    schedule = decode(run.read_json("schedule.json"))
    prediction = predict(schedule, rules_for(version, MetadataMode(metadata)))
    write_prediction(second, prediction, about["record_id_base"])
    write_measured_outcome(second)
    spark.reconcile_again(second)
    verdict = judge_run(second)
    run.write_json(f"verdict-{second.path.name}.json", as_json(verdict, about) | by)
    return second, verdict


def _copied(run: RunDirectory, name: str) -> RunDirectory:
    path = run.path / name
    shutil.rmtree(path, ignore_errors=True)
    (path / "prediction").mkdir(parents=True)
    for part in EVIDENCE:
        if (run.path / part).is_dir():
            shutil.copytree(run.path / part, path / part)
    for file in FILES:
        shutil.copy(run.path / file, path / file)
    for file in TRACED:
        if (run.path / file).exists():
            (path / file).symlink_to(Path("..") / file)
    return RunDirectory(path)
