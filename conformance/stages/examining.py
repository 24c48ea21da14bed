"""How is an examination held? Its answers are predicted and frozen, brokers are examined, each answer is noted.

An examination leaves a run directory like a scenario's, without records; it is judged from its files alike.
"""

from __future__ import annotations

import shutil
from collections.abc import Generator
from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError, compare_answers
from conformance.examining.context import ExaminationContext
from conformance.interruption import AwaitedStateMissingError
from conformance.judgement.promises import PromisedAnswer
from conformance.judgement.verdicts import judge_answers
from conformance.observation.transaction_frames import refused_frame
from conformance.record.answers import add_measured, read_measured, read_predicted
from conformance.record.directory import RunDirectoryError
from conformance.record.transaction_course import read_course
from conformance.record.wire import frames_of
from conformance.work_directory import work_directory
from oracle.rules.transactions import swaps_of, transaction_rules
from oracle.transactions.promised import PROMISED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.catalogue.examination import ExaminationSubject
    from conformance.catalogue.questions import QuestionAnswer
    from conformance.cluster_pool import ClusterPool
    from conformance.record.answers import MeasuredAnswer
    from conformance.record.directory import RunDirectory
    from conformance.record.run import Run
    from conformance.record.verdict import Verdict
    from conformance.spark_thread import SparkThread


def examine(
    run: RunDirectory,
    subject: ExaminationSubject,
    cluster_pool: ClusterPool,
    spark: SparkThread,
    *,
    seed: int,
    progress: Callable[[str], None],
) -> None:
    """Examine real brokers and note every answer at once.

    Raises:
        AwaitedStateMissingError: the brokers did not do what had to be seen.
    """
    directory = work_directory("examination")
    context = ExaminationContext(cluster_pool, spark, run, directory, seed, progress)
    try:
        _note_all(run, subject.conduct(context))
    except NotSeenError as unseen:
        raise AwaitedStateMissingError(str(unseen)) from unseen
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _note_all(run: RunDirectory, answers: Iterator[QuestionAnswer]) -> None:
    """Note every answer; whatever happens between two of them, the examination ends what it started."""
    try:
        for answer in answers:
            add_measured(run, answer.measured)
    finally:
        if isinstance(answers, Generator):
            answers.close()


def judge_examination(run: RunDirectory, about: Run) -> Verdict:
    """Judge an examination by its files; the frozen prediction must have been checked.

    Raises:
        RunDirectoryError: a file cannot be read.
    """
    failure = about.harness_failure
    interruption = None if failure is None else (failure.kind, failure.message)
    asked = compare_answers(run, is_complete=failure is None)
    refused = _refused_frame(run, about) if interruption is None else None
    return judge_answers(asked, interruption, tuple(_promised(run)), refused)


def _refused_frame(run: RunDirectory, about: Run) -> str | None:
    """Return the first frame of a script of transactions that the rules do not allow; None of any other examination."""
    course = read_course(run)
    if course is None or not course.is_replayed:
        return None
    try:
        return refused_frame(frames_of(run), transaction_rules(swaps_of(about.rules[0]), course.level))
    except RunDirectoryError as unreadable:
        return f"the wire cannot be read: {unreadable}"


def _promised(run: RunDirectory) -> Iterator[PromisedAnswer]:
    """Yield what was promised, with what breaks it; one that was answered twice is known of neither answer."""
    measured: dict[str, list[MeasuredAnswer]] = {}
    for answer in read_measured(run):
        measured.setdefault(answer.what, []).append(answer)
    for question in read_predicted(run) or ():
        if question.what.startswith(PROMISED) and isinstance(question.predicted, list):
            values = [one.value for one in measured.get(question.what, ())]
            value = values[0] if len(values) == 1 and isinstance(values[0], list) else None
            yield PromisedAnswer(question.what, question.predicted, value)
