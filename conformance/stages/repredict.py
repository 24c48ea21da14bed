"""What would another release's rules say of a run? A second prediction and verdict beside the first.

The evidence is copied into a directory of its own inside the run, so that nothing that was frozen
changes; the new verdict is also written as ``verdict-repredicted-<version>.json``.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.catalogue.questions import predicted_answers
from conformance.judgement.open_outcomes import write_measured_outcome
from conformance.reconcile.errors import ReconcileError
from conformance.record.answers import ANSWERS_FILE
from conformance.record.digests import check_digests, write_digests
from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.record.observations import OBSERVATIONS_FILE
from conformance.record.prediction import frozen_form
from conformance.record.run import read_run, write_run
from conformance.record.schedule import SCHEDULE_FILE, read_schedule
from conformance.record.timeline import TIMELINE_FILE
from conformance.record.verdict import write_verdict
from conformance.record.wire import WIRE_FILE
from conformance.stages.judging import judge_run
from conformance.stages.predicting import course_by, freeze_answers, freeze_prediction
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.steps.step import ScheduleError
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.catalogue.examination import ExaminationSubject
    from conformance.catalogue.questions import ScheduleQuestion
    from conformance.record.verdict import Verdict
    from conformance.spark_thread import SparkThread
    from oracle.rules.rule_set import RuleSet

EVIDENCE = ("ledger", "topic", "replica_logs", "reconciliation")
FILES = (SCHEDULE_FILE, OBSERVATIONS_FILE, ANSWERS_FILE)
TRACED = (WIRE_FILE, TIMELINE_FILE)
"""What the check of the wire trace reads besides; a run of old has none. They are linked: the trace is large."""


def repredict(
    run: RunDirectory,
    spark: SparkThread,
    rules: RuleSet | None = None,
    questions: tuple[ScheduleQuestion, ...] = (),
) -> tuple[RunDirectory, Verdict]:
    """Predict a run anew and judge it by that prediction.

    Args:
        run: a finished run.
        spark: where to reconcile.
        rules: another release's; None takes those of the release that was run.
        questions: what the run was asked; its answers were measured.

    Raises:
        ScheduleError: those rules cannot bring about what the schedule assumes.
    """
    second = _predicted(run, rules or own_rules(run), questions)
    spark.reconcile_again(second)
    return second, _judged(run, second)


def repredict_all(run: RunDirectory, spark: SparkThread, others: Sequence[RuleSet]) -> list[Verdict | None]:
    """Predict a run by several rule sets and judge it by each, reconciled together; None by rules that cannot be."""
    seconds = [_predicted_or_none(run, rules) for rules in others]
    told = iter(spark.reconcile_all([second for second in seconds if second is not None]))
    return [None if second is None else _judged_or_none(run, second, next(told)) for second in seconds]


def _predicted(run: RunDirectory, rules: RuleSet, questions: tuple[ScheduleQuestion, ...]) -> RunDirectory:
    second = _begun(run, rules)
    prediction = predict(read_schedule(run), rules).as_json()
    answers = predicted_answers(questions, rules, frozen_form(prediction))
    freeze_prediction(second, prediction, read_run(run).record_id_base, answers)
    write_measured_outcome(second)
    return second


def _predicted_or_none(run: RunDirectory, rules: RuleSet) -> RunDirectory | None:
    try:
        return _predicted(run, rules, ())
    except (ScheduleError, RunDirectoryError):
        return None


def _judged_or_none(run: RunDirectory, second: RunDirectory, told: object) -> Verdict | None:
    try:
        return None if isinstance(told, ReconcileError) else _judged(run, second)
    except RunDirectoryError:
        return None


def repredict_answers(
    run: RunDirectory, subject: ExaminationSubject, rules: RuleSet | None = None
) -> tuple[RunDirectory, Verdict]:
    """Predict the answers of an examination anew and judge it by them; its arguments are those of ``repredict``."""
    rules = rules or own_rules(run)
    second = _begun(run, rules)
    freeze_answers(second, subject.predict(rules), course_by(subject, rules))
    return second, _judged(run, second)


def own_rules(run: RunDirectory) -> RuleSet:
    """Return the rules of the release that was run."""
    about = read_run(run)
    return rules_for(about.kafka, MetadataMode(about.metadata))


def _begun(run: RunDirectory, rules: RuleSet) -> RunDirectory:
    """Copy the evidence, as the run left it, to where the second prediction and verdict go."""
    check_digests(run)
    second = _copied(run, f"repredicted-{rules.version}-{rules.metadata.value}")
    about = read_run(run)
    name = f"{about.run}/{second.path.name}"
    write_run(second, replace(about, run=name, rules_of=rules.version, rules_metadata=rules.metadata.value))
    return second


def _judged(run: RunDirectory, second: RunDirectory) -> Verdict:
    write_digests(second)
    verdict = judge_run(second)
    write_verdict(run, verdict, f"verdict-{second.path.name}.json")
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
