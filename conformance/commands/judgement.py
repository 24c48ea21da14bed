"""``judge``: what does an old run mean? Needs its files only, neither brokers nor Docker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.catalogue.answers import ANSWERS, measure
from conformance.commands.entry_of_run import asked_of, examination_of, questions_of
from conformance.commands.opened_run import open_run
from conformance.commands.other_rules import other_rules
from conformance.commands.stored_verdict import VERDICT, in_words, keep_before, stored_verdict
from conformance.judgement.verdicts import Conformance, Verdict, exit_code, not_run
from conformance.reconcile.errors import ReconcileError
from conformance.run_directory import RunDirectory, RunDirectoryError
from conformance.spark_extra import require_spark
from conformance.spark_master import DEFAULT_MASTER, check_master
from conformance.spark_room import SparkRoom
from conformance.stages.beginning import EXAMINATION
from conformance.stages.judging import as_json, judge_run
from conformance.stages.repredict import repredict, repredict_answers
from oracle.predict import PointUnavailableError
from oracle.schedule import ScheduleError
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.console import Console


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """What to judge, and by which prediction."""

    run: Path
    repredict: bool = False
    rules_of: str | None = None
    metadata: str | None = None
    spark_master: str = DEFAULT_MASTER
    require_promise: bool = False


def judge_again(console: Console, options: JudgeOptions) -> int:
    """Judge a run and return the exit code.

    Raises:
        RunDirectoryError: the directory is no run.
        SparkMissingError: Spark is not installed.
    """
    require_spark()
    run = open_run(options.run)
    before = stored_verdict(run)
    try:
        verdict = _judged(run, options)
    except (RunDirectoryError, ReconcileError) as error:
        verdict = Verdict(Conformance.HARNESS_ERROR, None, str(error))
        _print(console, run, verdict, before, VERDICT)
        return exit_code([(verdict.counted, verdict.promise)])
    except PointUnavailableError as unavailable:
        verdict = not_run(str(unavailable))
    except ScheduleError as error:
        verdict = Verdict(Conformance.DEVIATES, None, f"those rules cannot bring about this schedule: {error}")
    _print(console, run, verdict, before, keep_before(run, before))
    return exit_code([(verdict.counted, verdict.promise)], require_promise=options.require_promise)


def _judged(run: RunDirectory, options: JudgeOptions) -> Verdict:
    about = run.read_json("run.json")
    if about.get("not_run"):
        return judge_run(run)
    run.check_frozen()
    rules = other_rules(run, options.rules_of, options.metadata)
    is_predicted_anew = options.repredict or rules is not None
    if about.get("harness_failure") is None:
        require_answers(run)
    if about.get("kind") == EXAMINATION:
        return _examined(run, rules) if is_predicted_anew else judge_run(run)
    if about.get("harness_failure") is None:
        measure_again(run)
    if not is_predicted_anew and not _has_records(run, about):
        return judge_run(run)
    check_master(options.spark_master)
    if about.get("harness_failure") is None:
        require_evidence(run)
    with SparkRoom(options.spark_master) as spark:
        spark.start()
        if is_predicted_anew:
            return repredict(run, spark, rules, questions_of(run))[1]
        spark.reconcile_again(run)
    return judge_run(run)


def require_answers(run: RunDirectory) -> None:
    """Refuse to hold against brokers what is missing in the directory of a run that was asked something.

    Raises:
        RunDirectoryError: what it answered, or what its answers are read from, is gone.
    """
    needed = [ANSWERS] if asked_of(run) else []
    if needed and run.read_json("run.json").get("kind") != EXAMINATION:
        needed += ["wire.ndjson", "timeline.ndjson", "observations.ndjson"]
    for name in needed:
        if not (run.path / name).exists():
            raise RunDirectoryError(f"{run.path / name} is missing: without it the run cannot be judged")


def measure_again(run: RunDirectory) -> None:
    """Answer a scenario's questions again from the run's files; what the catalogue no longer asks stays as it was.

    Raises:
        RunDirectoryError: a file that a question is answered from cannot be read; the answers stay as they were.
    """
    try:
        questions = questions_of(run)
    except RunDirectoryError:
        return
    try:
        if questions:
            measure(run, questions)
    except (LookupError, TypeError, ValueError) as damage:
        raise RunDirectoryError(f"{run.path}: its answers cannot be read from its files: {damage!r}") from damage


def _examined(run: RunDirectory, rules: tuple[str, str] | None) -> Verdict:
    examination = examination_of(run)
    about = run.read_json("run.json")
    version, metadata = rules or (about["kafka"], about["metadata"])
    reason = examination.where.reason_not_to_run(version, MetadataMode(metadata))
    return not_run(reason) if reason is not None else repredict_answers(run, examination.subject, rules)[1]


def require_evidence(run: RunDirectory) -> None:
    """Refuse to hold against brokers what is missing in the directory of a run that was whole.

    Raises:
        RunDirectoryError: what its probes measured, what was done when, or what was produced is gone.
    """
    for name in ("observations.ndjson", "timeline.ndjson"):
        if not (run.path / name).exists():
            raise RunDirectoryError(f"{run.path / name} is missing: without it the run cannot be judged")
    has_attempts = any((run.path / "ledger").glob("attempts-*.parquet"))
    if run.read_json("prediction/prediction.json")["records"] and not has_attempts:
        raise RunDirectoryError(f"{run.path / 'ledger'} has no attempts: without them the run cannot be judged")


def _has_records(run: RunDirectory, about: dict[str, Any]) -> bool:
    """Tell whether a run came as far as its records; one that a failure of ours ended before says so itself."""
    if about.get("end_offset") is None:
        return False
    return about.get("harness_failure") is None or any((run.path / "topic").glob("*.parquet"))


def _print(
    console: Console, run: RunDirectory, verdict: Verdict, before: dict[str, Any] | None, kept_as: str | None
) -> None:
    """Print a verdict, and the one that it took the place of, if that was another, or that it leaves where it is."""
    was = None if before is None or kept_as is None else {"kept_as": kept_as, **before}
    if console.as_json:
        told = as_json(verdict, run.read_json("run.json"))
        console.answer_json(told if was is None else told | {"before": was})
        return
    promise = f" + {verdict.promise.value}" if verdict.promise else ""
    console.answer(f"{run.path.name}: {verdict.conformance.value}{promise}: {verdict.reason}")
    for finding in verdict.findings:
        console.answer(f"  {finding.kind}: {finding.text}")
    if was is not None and kept_as == VERDICT:
        console.answer(f"  {VERDICT} is left as it was: {in_words(was)}")
    elif was is not None:
        console.answer(f"  was {in_words(was)} when it was judged before: kept as {kept_as}")
