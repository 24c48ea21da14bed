"""What would another release's rules say of a run? A second prediction and verdict beside the first.

The evidence is copied into a directory of its own inside the run, so that nothing that was frozen
changes; the new verdict is also written as ``verdict-repredicted-<version>.json``.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.catalogue.answers import ANSWERS, predicted_answers
from conformance.judgement.open_outcomes import write_measured_outcome
from conformance.judgement.prediction_files import write_prediction
from conformance.run_directory import RunDirectory
from conformance.schedules.schedule_format import decode
from conformance.stages.examining import freeze_answers
from conformance.stages.judging import as_json, judge_run
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from conformance.catalogue.examination import Subject
    from conformance.catalogue.questions import Question
    from conformance.judgement.verdicts import Verdict
    from conformance.spark_room import SparkRoom
    from oracle.rules.rule_set import RuleSet

EVIDENCE = ("ledger", "topic", "replica_logs", "reconciliation")
FILES = ("schedule.json", "observations.ndjson", ANSWERS)
TRACED = ("wire.ndjson", "timeline.ndjson")
"""What the check of the wire trace reads besides; a run of old has none. They are linked: the trace is large."""


def repredict(
    run: RunDirectory,
    spark: SparkRoom,
    rules_of: tuple[str, str] | None = None,
    questions: tuple[Question, ...] = (),
) -> tuple[RunDirectory, Verdict]:
    """Predict a run anew and judge it by that prediction.

    Args:
        run: a finished run.
        spark: where to reconcile.
        rules_of: (version, metadata mode) whose rules to use; None takes the run's own.
        questions: what the run was asked; its answers were measured.

    Raises:
        ScheduleError: those rules cannot bring about what the schedule assumes.
    """
    rules = _rules(run, rules_of)
    second = _begun(run, rules)
    base = run.read_json("run.json")["record_id_base"]
    prediction = predict(decode(run.read_json("schedule.json")), rules)
    write_prediction(second, prediction, base, predicted_answers(questions, rules, prediction.as_json()))
    write_measured_outcome(second)
    spark.reconcile_again(second)
    return second, _judged(run, second, rules)


def repredict_answers(
    run: RunDirectory, subject: Subject, rules_of: tuple[str, str] | None = None
) -> tuple[RunDirectory, Verdict]:
    """Predict the answers of an examination anew and judge it by them; its arguments are those of ``repredict``."""
    rules = _rules(run, rules_of)
    second = _begun(run, rules)
    freeze_answers(second, subject.predict(rules))
    return second, _judged(run, second, rules)


def _rules(run: RunDirectory, rules_of: tuple[str, str] | None) -> RuleSet:
    about = run.read_json("run.json")
    version, metadata = rules_of or (about["kafka"], about["metadata"])
    return rules_for(version, MetadataMode(metadata))


def _begun(run: RunDirectory, rules: RuleSet) -> RunDirectory:
    """Copy the evidence to where the second prediction and verdict go."""
    second = _copied(run, f"repredicted-{rules.version}-{rules.metadata.value}")
    about = run.read_json("run.json")
    second.write_json("run.json", about | {"run": f"{about['run']}/{second.path.name}", **_by(rules)})
    return second


def _by(rules: RuleSet) -> dict[str, str]:
    return {"rules_of": rules.version, "rules_metadata": rules.metadata.value}


def _judged(run: RunDirectory, second: RunDirectory, rules: RuleSet) -> Verdict:
    verdict = judge_run(second)
    beside = as_json(verdict, run.read_json("run.json")) | _by(rules)
    run.write_json(f"verdict-{second.path.name}.json", beside)
    return verdict


def _copied(run: RunDirectory, name: str) -> RunDirectory:
    path = run.path / name
    shutil.rmtree(path, ignore_errors=True)
    (path / "prediction").mkdir(parents=True)
    for part in EVIDENCE:
        if (run.path / part).is_dir():
            shutil.copytree(run.path / part, path / part)
    for file in FILES:
        if (run.path / file).exists():
            shutil.copy(run.path / file, path / file)
    for file in TRACED:
        if (run.path / file).exists():
            (path / file).symlink_to(Path("..") / file)
    return RunDirectory(path)
