"""``judge``: what does an old run mean? Needs its files only, neither brokers nor Docker."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.catalogue.examination import Examination
from conformance.catalogue.questions import measure
from conformance.commands.choosing import other_rules
from conformance.commands.parser import add_json, add_require_promise, refuse
from conformance.expectations import accepted_in
from conformance.judgement.open_outcomes import write_measured_outcome
from conformance.judgement.verdicts import WIRE_UNCHECKED, exit_code, not_run
from conformance.reconcile.errors import ReconcileError
from conformance.record.answers import ANSWERS_FILE, read_predicted
from conformance.record.bundle import is_bundle, unpack
from conformance.record.digests import check_digests, renew_digest
from conformance.record.directory import RunDirectory, RunDirectoryError, as_plain, cleaned
from conformance.record.ledger import ATTEMPTS_PREFIX, ledger_files
from conformance.record.observations import OBSERVATIONS_FILE
from conformance.record.prediction import check_frozen, read_prediction
from conformance.record.run import Run, open_run, read_run
from conformance.record.schedule import read_schedule
from conformance.record.timeline import TIMELINE_FILE
from conformance.record.verdict import TRACE, VERDICT_FILE, Conformance, Verdict, read_verdict, write_verdict
from conformance.record.wire import WIRE_FILE
from conformance.registry import CATALOGUE
from conformance.run_options import DEFAULT_MASTER, add_accept
from conformance.spark_extra import require_spark
from conformance.spark_master import check_master
from conformance.spark_thread import SparkThread
from conformance.stages.judging import judge_run, of_run, refusing_contradictions, require_finished
from conformance.stages.repredict import own_rules, repredict, repredict_answers
from conformance.work_directory import work_directory
from oracle.predict import NotOnReleaseError
from oracle.steps.step import ScheduleError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from conformance.catalogue.examination import Entry
    from conformance.catalogue.questions import ScheduleQuestion
    from conformance.commands.parser import Parser
    from conformance.console import Console
    from conformance.expectations import AcceptedFinding
    from conformance.record.bundle import Bundle
    from conformance.record.trace_check import TraceResult
    from oracle.rules.rule_set import RuleSet


DESCRIPTION = """Judges a finished run again from its files; no broker is started. A verdict that differs, as that of
another tester may, takes the first one's place; the first is named and kept as verdict.before.json. Of a
bundle every file is verified, and every run judged; the bundle stays as it is, and nothing is written.
Files that cannot be judged any more leave verdict.json as it was, and the exit code is 4. With --rules-
of or --repredict the same run is held against a new prediction, by another release's rules or by its
own; that verdict is written beside the first."""
EPILOG = """examples:
  kafka-conformance judge runs/RUN                        the same verdict, or both
  kafka-conformance judge runs/RUN --rules-of 4.4.0       what would differ under another release's rules
  kafka-conformance judge bundle.tgz                      what runs that somebody else packed come to

exit codes: those of the run that it judges, see run --help
"""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """What to judge, and by which prediction.

    Attributes:
        run: its directory, or a bundle of runs.
    """

    run: Path
    repredict: bool = False
    rules_of: str | None = None
    metadata: str | None = None
    spark_master: str = DEFAULT_MASTER
    require_promise: bool = False
    accepted: tuple[AcceptedFinding, ...] = ()


def add_judge(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("run", type=Path, metavar="RUN", help="a run directory, or a bundle of runs")
    parser.add_argument("--repredict", action="store_true", help="predict anew; a second verdict beside the first")
    parser.add_argument("--rules-of", metavar="VERSION", help="predict with another release's rules")
    parser.add_argument("--metadata", choices=("zookeeper", "kraft"), help="metadata mode of those rules")
    parser.add_argument("--spark-master", default=DEFAULT_MASTER, help=f"Spark master (default: {DEFAULT_MASTER})")
    add_require_promise(parser)
    add_accept(parser.add_argument)
    add_json(parser)
    parser.set_defaults(command=_judge)


def _judge(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.repredict or parsed.rules_of:
        refuse(parsed, ["--accept"], "is about the run's own verdict, not one by another prediction.")
    about = parsed.run, parsed.repredict, parsed.rules_of, parsed.metadata, parsed.spark_master, parsed.require_promise
    return judge_again(console, JudgeOptions(*about, accepted_in(parsed.accept)))


@dataclass(frozen=True, slots=True)
class _Rejudged:
    """What a run comes to now, what it came to before, and under which name that is kept, if it is another.

    Attributes:
        is_copy: whether it is one of a bundle, whose texts are somebody else's; nothing of it is kept.
    """

    run: RunDirectory
    about: Run
    verdict: Verdict
    before: Verdict | None
    kept_as: str | None
    is_copy: bool = False


def judge_again(console: Console, options: JudgeOptions) -> int:
    """Judge a run, or all of a bundle, and return the exit code.

    Raises:
        RunDirectoryError: the directory is no run, or the file no bundle.
        SparkMissingError: Spark is not installed.
    """
    require_spark()
    with SparkThread(options.spark_master) as spark:
        if is_bundle(options.run):
            return _judge_bundle(console, spark, options)
        told = _judged_again(spark, open_run(options.run), options)
    _print(console, told)
    return _code([told], options)


def _judge_bundle(console: Console, spark: SparkThread, options: JudgeOptions) -> int:
    """Verify a bundle, judge its runs in a directory that is removed again, and return the exit code."""
    into, told = work_directory("bundle"), []
    try:
        bundle = unpack(options.run, into)
        for name in bundle.runs:
            told.append(cleaned(replace(_judged_again(spark, RunDirectory(into / name), options), is_copy=True)))
            if not console.as_json:
                _print(console, told[-1])
    finally:
        shutil.rmtree(into, ignore_errors=True)
    _print_bundle(console, options.run, bundle, told)
    return _code(told, options)


def _code(told: Sequence[_Rejudged], options: JudgeOptions) -> int:
    verdicts = [(one.verdict.counted, one.verdict.promise) for one in told]
    return exit_code(verdicts, require_promise=options.require_promise)


def _judged_again(spark: SparkThread, run: RunDirectory, options: JudgeOptions) -> _Rejudged:
    about, before = Run("", ""), stored_verdict(run)
    try:
        about = read_run(run)
        verdict = _judged(spark, run, options)
    except (RunDirectoryError, ReconcileError) as error:
        return _Rejudged(run, about, Verdict(Conformance.HARNESS_ERROR, None, str(error)), before, VERDICT_FILE)
    except NotOnReleaseError as unavailable:
        verdict = not_run(str(unavailable))
    except ScheduleError as error:
        verdict = Verdict(Conformance.DEVIATES, None, f"those rules cannot bring about this schedule: {error}")
    return _Rejudged(run, about, verdict, before, keep_before(run, before))


def _judged(spark: SparkThread, run: RunDirectory, options: JudgeOptions) -> Verdict:
    about = read_run(run)
    if about.not_run:
        return judge_run(run, options.accepted)
    require_finished(run, about)
    check_digests(run)
    check_frozen(run)
    rules = other_rules(run, options.rules_of, options.metadata)
    is_predicted_anew = options.repredict or rules is not None
    if about.harness_failure is None:
        require_answers(run)
    if about.is_examination:
        return _examined(run, rules) if is_predicted_anew else judge_run(run, options.accepted)
    if about.harness_failure is None:
        measure_again(run)
    if not is_predicted_anew and not _has_records(run, about):
        return judge_run(run, options.accepted)
    check_master(options.spark_master)
    if about.harness_failure is None:
        require_evidence(run)
    spark.start()
    if is_predicted_anew:
        return repredict(run, spark, rules, questions_of(run))[1]
    with refusing_contradictions(run):
        write_measured_outcome(run)
    spark.reconcile_again(run)
    return judge_run(run, options.accepted)


def require_answers(run: RunDirectory) -> None:
    """Refuse to hold against brokers what is missing in the directory of a run that was asked something.

    Raises:
        RunDirectoryError: what it answered, or what its answers are read from, is gone.
    """
    needed = [ANSWERS_FILE] if asked_of(run) else []
    if needed and not read_run(run).is_examination:
        needed += [WIRE_FILE, TIMELINE_FILE, OBSERVATIONS_FILE]
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
            try:
                measure(run, questions)
            finally:  # whatever ends this, the file and its digest go together
                renew_digest(run, ANSWERS_FILE)
    except (LookupError, TypeError, ValueError) as damage:
        raise RunDirectoryError(f"{run.path}: its answers cannot be read from its files: {damage!r}") from damage


def _examined(run: RunDirectory, rules: RuleSet | None) -> Verdict:
    examination = examination_of(run)
    by = rules or own_rules(run)
    reason = examination.where.reason_not_to_run(by.version, by.metadata)
    return not_run(reason) if reason is not None else repredict_answers(run, examination.subject, rules)[1]


def require_evidence(run: RunDirectory) -> None:
    """Refuse to hold against brokers what is missing in the directory of a run that was whole.

    Raises:
        RunDirectoryError: what its probes measured, what was done when, or what was produced is gone.
    """
    for name in (OBSERVATIONS_FILE, TIMELINE_FILE):
        if not (run.path / name).exists():
            raise RunDirectoryError(f"{run.path / name} is missing: without it the run cannot be judged")
    if read_prediction(run).records and not ledger_files(run.path / "ledger", ATTEMPTS_PREFIX):
        raise RunDirectoryError(f"{run.path / 'ledger'} has no attempts: without them the run cannot be judged")


def _has_records(run: RunDirectory, about: Run) -> bool:
    """Return whether a run came as far as its records; one that a failure of ours ended before says so itself."""
    if about.end_offset is None:
        return False
    return about.harness_failure is None or any((run.path / "topic").glob("*.parquet"))


def _print(console: Console, told: _Rejudged) -> None:
    """Print a verdict, and the one that it took the place of, if that was another, or that it leaves where it is."""
    run, verdict, was = told.run, told.verdict, told.before
    if console.as_json:
        console.answer_json(_as_json(told))
        return
    console.answer(f"{run.path.name}: {_both(verdict)}: {verdict.reason}")
    for finding in verdict.findings:
        console.answer(f"  {finding.kind}: {finding.text}")
    if was is None or told.kept_as is None:
        return
    if told.is_copy:
        console.answer(f"  is {in_words(was)} in the bundle")
    elif told.kept_as == VERDICT_FILE:
        console.answer(f"  {VERDICT_FILE} is left as it was: {in_words(was)}")
    else:
        console.answer(f"  was {in_words(was)} when it was judged before: kept as {told.kept_as}")


def _as_json(told: _Rejudged) -> dict[str, Any]:
    was = told.before if told.kept_as is not None else None
    kept_as = {} if told.is_copy else {"kept_as": told.kept_as}
    kept = {} if was is None else {"before": {**kept_as, **as_plain(was)}}
    return {**as_plain(of_run(told.about, told.verdict)), **kept}


def _print_bundle(console: Console, path: Path, bundle: Bundle, told: Sequence[_Rejudged]) -> None:
    if console.as_json:
        runs = [{"run": one.run.path.name, **_as_json(one)} for one in told]
        console.answer_json({"bundle": str(path), "tester": bundle.tester, "runs": runs})
        return
    console.answer(f"{path}: {bundle.in_words()}, whole; packed by kafka-conformance {cleaned(bundle.tester)}")


# What does a run's verdict.json say, and does what is found now say otherwise? A verdict that differs is kept.
#
# The tester that judges a run again may be another than the one that ran it: its verdict takes the place of the stored
# one, which goes to ``verdict.before.json`` (then ``verdict.before-2.json``, and so on). Nothing that was judged is
# lost.


def stored_verdict(run: RunDirectory) -> Verdict | None:
    """Return verdict.json; None if there is none that can be read."""
    try:
        return read_verdict(run)
    except RunDirectoryError:
        return None


def _both(verdict: Verdict) -> str:
    return verdict.conformance.value + (f" + {verdict.promise.value}" if verdict.promise else "")


def in_words(stored: Verdict) -> str:
    """Return a stored verdict, such as ``CONFORMS + KEPT (35 numbers and 3 records as predicted, …)``."""
    return f"{_both(stored)} ({stored.reason})"


def keep_before(run: RunDirectory, before: Verdict | None) -> str | None:
    """Write down the verdict that there was before a run was judged again, if anything of it is gone.

    Returns:
        The name of the file that it was written to; None if nothing of it is gone.
    """
    now = stored_verdict(run)
    if before is None or now is None or _meaning(now) == _meaning(before):
        return None
    names = ("verdict.before.json", *(f"verdict.before-{number}.json" for number in range(2, 1000)))
    name = next(name for name in names if not run.has(name))
    write_verdict(run, before, name)
    return name


def _meaning(verdict: Verdict) -> tuple[object, ...]:
    """Return what a verdict says; not the numbers beside it, which a tester of old did not write down."""
    answers = verdict.conformance, verdict.promise, verdict.reason, verdict.accepted
    return (*answers, verdict.findings, verdict.losses, verdict.seconds)


def ended_otherwise(run: RunDirectory, result: TraceResult) -> str | None:
    """Return the stored verdict in words if it says otherwise of the wire than a check by the run's own rules."""
    stored = stored_verdict(run)
    if stored is None:
        return None
    was_violated = any(finding.kind == TRACE for finding in stored.findings)
    was_unchecked = WIRE_UNCHECKED in stored.reason
    if result.why_not is not None:
        differs = stored.conformance is Conformance.CONFORMS or was_violated
    else:
        differs = was_unchecked or was_violated is (result.violation is None)
    return in_words(stored) if differs else None


# Which entry of the catalogue was run? The one of that name, if it still does and asks the same.


def questions_of(run: RunDirectory) -> tuple[ScheduleQuestion, ...]:
    """Return the questions that a scenario's run was asked, to be measured or predicted again.

    Raises:
        RunDirectoryError: it was asked what the catalogue does not ask any more.
    """
    asked = asked_of(run)
    entry = _entry(run)
    if not asked:
        return ()
    if entry is None or isinstance(entry, Examination) or [one.what for one in entry.questions] != asked:
        raise RunDirectoryError(f"{run.path}: the catalogue does not ask any more what this run was asked")
    return entry.questions


def asked_of(run: RunDirectory) -> list[str]:
    """Return what a run was asked, as it was frozen."""
    return [question.what for question in read_predicted(run) or ()]


def examination_of(run: RunDirectory) -> Examination:
    """Return the examination that was held.

    Raises:
        RunDirectoryError: the catalogue does not hold it any more.
    """
    entry = _entry(run)
    if not isinstance(entry, Examination):
        raise RunDirectoryError(f"{run.path}: the catalogue does not hold this examination any more")
    return entry


def _entry(run: RunDirectory) -> Entry | None:
    name = read_run(run).scenario
    entry = next((one for one in CATALOGUE if one.name == name), None)
    if entry is None or isinstance(entry, Examination):
        return entry
    return entry if entry.schedule == read_schedule(run) else None
