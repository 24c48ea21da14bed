"""Are all records accounted for, all anomalies counted apart, and does whatever is doctored turn a verdict red?"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from conformance.catalogue.ladder import LADDER
from conformance.catalogue.questions import QuestionAnswer
from conformance.catalogue.scenario import Scenario
from conformance.examining import doctoring
from conformance.pipeline import Pipeline
from conformance.record.digests import write_digests
from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.record.reconciliation import Counts, read_counts
from conformance.record.run import read_run
from conformance.scenarios.truncation.tr_02_clean_elections import CLEAN_ELECTIONS_ONLY
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    kill,
    produce,
    start,
)
from conformance.stages.judging import judge_run
from conformance.stages.repredict import repredict
from oracle.predict import predict
from oracle.schedule import Schedule, TopicSettings
from oracle.vocabulary import Expectation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.examining.context import ExaminationContext
    from conformance.record.answers import Value
    from conformance.record.verdict import Verdict
    from oracle.rules.rule_set import RuleSet

    Doctor = Callable[[RunDirectory], None]

EVERY_OUTCOME = Scenario(
    name="one record of each outcome",
    explanation="Three records are acknowledged, one is refused, and of one nobody ever knows.",
    schedule=Schedule(
        id="reconciliation/one-record-of-each-outcome",
        requirement="Acknowledged records are in the topic; a refused one and one that no follower had are not.",
        sources=("RC-01",),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=2, unclean_leader_election=False),
        steps=(
            produce("m0", "m1"),
            hold_request("fetch of the torn record", follower=2, leader=1, fetch_offset=2),
            await_hold("fetch of the torn record"),
            produce("torn", expect=Expectation.PENDING),
            kill(1),
            await_outcome("torn", expect=Expectation.INDETERMINATE),
            await_leader(2),
            produce("refused", expect=Expectation.REFUSED, error="NOT_ENOUGH_REPLICAS"),
            start(1),
            await_isr(1, 2),
            produce("m2"),
            checkpoint("end"),
        ),
    ),
)


def examined(context: ExaminationContext, scenario: Scenario) -> tuple[RunDirectory, Verdict]:
    """Run a scenario within the examination's own run; return its directory and verdict."""
    runs = context.run.path / "examined"
    runs.mkdir(exist_ok=True)
    finished = Pipeline(context.cluster_pool, context.spark, runs, context.seed, context.progress).run(scenario)
    return finished.run, finished.verdict


def doctored(context: ExaminationContext, run: RunDirectory, doctor: Doctor) -> tuple[RunDirectory, Verdict]:
    """Doctor a copy of a run, reconcile and judge it again; return the copy and its verdict."""
    copy = RunDirectory(shutil.copytree(run.path, context.directory / doctor.__name__))
    doctor(copy)
    write_digests(copy)  # what is to be seen is the change itself
    context.spark.reconcile_again(copy)
    return copy, judge_run(copy)


def undoctored(run: RunDirectory) -> None:
    """Leave a copy as it is: whatever turns the others red is the doctoring."""


def in_a_word(doctor: Doctor) -> str:
    """Name what is done to a copy."""
    return doctor.__name__.replace("_", " ")


def words_of(verdict: Verdict) -> list[Value]:
    """Return a verdict's two answers."""
    return [verdict.conformance.value, verdict.promise.value if verdict.promise is not None else None]


FROZEN = "the prediction was frozen before the topic was read"
RECONCILED = "records in exactly one class"
TOTALS = ("produced", "predicted", "read", "acknowledged", "refused", "indeterminate")
CLASS_OF = {"present": "kept", "absent": "absent"}
"""The class of a record with a predicted fate, on brokers that behave."""
ORDINARY = ("kept", "absent", "deleted")
"""The classes that are no anomaly."""
ANOMALIES: dict[Doctor, tuple[str, ...]] = {
    undoctored: (),
    doctoring.topic_loses_m2: ("lost 1",),
    doctoring.topic_gains_a_foreign_record: ("phantom 1",),
    doctoring.topic_has_the_refused_record: ("reordered 1", "resurrected 1"),
    doctoring.topic_repeats_m0: ("duplicated 1",),
    doctoring.topic_swaps_m0_and_m1: ("moved 2", "reordered 1"),
    doctoring.topic_moves_m2: ("moved 1",),
    doctoring.topic_changes_a_value: ("value_changed 1",),
    doctoring.replica_log_of_2_has_m2_for_m1: ("diverged 1",),
}


@dataclass(frozen=True, slots=True)
class EveryRecordIsJoined:
    """The counts of a run in which one record of each outcome is produced."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            "run a scenario with acknowledged, refused and indeterminate records",
            "read from its files when the prediction was frozen, how many records were joined, and what of each",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Predict the counts from the predicted fates."""
        records = predict(EVERY_OUTCOME.schedule, rules).records
        fates = [record.fate.value for record in records]
        outcomes = [record.outcome.value for record in records]
        expected = {"produced": len(records), "predicted": len(records), "read": fates.count("present")}
        return (
            QuestionAnswer(FROZEN, value=True),
            *(QuestionAnswer(f"records {name}", expected.get(name, outcomes.count(name))) for name in TOTALS),
            *(QuestionAnswer(_in_class(name), fates.count(fate)) for fate, name in CLASS_OF.items()),
            QuestionAnswer(RECONCILED, len(records)),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Run it on real brokers."""
        run, _ = examined(context, EVERY_OUTCOME)
        yield QuestionAnswer(FROZEN, _is_frozen_before_reading(run))
        counts = counted(run)
        yield from (QuestionAnswer(f"records {name}", getattr(counts.totals, name)) for name in TOTALS)
        yield from (QuestionAnswer(_in_class(name), counts.primary.get(name, 0)) for name in CLASS_OF.values())
        yield QuestionAnswer(RECONCILED, sum(counts.primary.values()) if counts.identity_holds else None)


def counted(run: RunDirectory) -> Counts:
    """Return the counts of a run that was reconciled."""
    counts = read_counts(run)
    assert counts is not None, "the run was reconciled"
    return counts


def _in_class(name: str) -> str:
    return f"records in class {name}"


def _is_frozen_before_reading(run: RunDirectory) -> bool:
    """Compare the time in run.json with those of the files that the reading wrote."""
    about = read_run(run).prediction
    assert about is not None, "a run is examined after its prediction was frozen"
    frozen = datetime.fromisoformat(about.frozen_at)
    read = [path.stat().st_mtime for path in (run.path / "topic").glob("*.parquet")]
    return bool(read) and frozen < datetime.fromtimestamp(min(read), UTC)


@dataclass(frozen=True, slots=True)
class AnomaliesAreCounted:
    """One anomaly after the other, made in a copy of a faultless run's files."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            "run a scenario with acknowledged, refused and indeterminate records",
            *(
                f"copy the run, doctor it ({in_a_word(doctor)}), and reconcile it from its files"
                for doctor in ANOMALIES
            ),
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:  # noqa: ARG002 - the same on every release
        """Predict which anomalies are counted."""
        return tuple(QuestionAnswer(_found(doctor), [*found]) for doctor, found in ANOMALIES.items())

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Run it on real brokers, and doctor copies."""
        run, _ = examined(context, EVERY_OUTCOME)
        for doctor in ANOMALIES:
            copy, _ = doctored(context, run, doctor)
            yield QuestionAnswer(_found(doctor), _anomalies(copy))


def _found(doctor: Doctor) -> str:
    return f"anomalies when {in_a_word(doctor)}"


def _anomalies(run: RunDirectory) -> Value:
    classes = counted(run).classes
    return [f"{name} {count}" for name, count in sorted(classes.items()) if count and name not in ORDINARY]


EVERY_RECORD_IS_JOINED = EveryRecordIsJoined()
ANOMALIES_ARE_COUNTED = AnomaliesAreCounted()

RED: dict[Doctor, tuple[str, str]] = {
    doctoring.topic_loses_m2: ("DEVIATES", "BROKEN"),
    doctoring.topic_gains_a_foreign_record: ("DEVIATES", "BROKEN"),
    doctoring.topic_changes_a_value: ("DEVIATES", "BROKEN"),
    doctoring.ledger_forgets_m2: ("DEVIATES", "BROKEN"),
    doctoring.ledger_flips_the_outcome_of_m2: ("DEVIATES", "BROKEN"),
}
CHANGED = "the changed prediction is refused"
OTHER_RULES = "verdict by the rules of another release"
CUTTING, LATER = LADDER[0], LADDER[-1]
"""The line whose followers cut to the high watermark, and one whose followers do not."""


@dataclass(frozen=True, slots=True)
class DoctoringIsSeen:
    """The verdicts of one run of TR-02 and of its doctored copies."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            "run TR-02, whose outcome is another one since 0.11",
            *(f"copy the run, doctor it ({in_a_word(doctor)}), reconcile and judge it again" for doctor in RED),
            "change one byte of the frozen prediction of a copy and judge it",
            f"judge a copy by the rules of {CUTTING.text}, or on that line by those of {LATER.text}",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Predict every verdict."""
        honest: list[Value] = ["CONFORMS", _promise(rules)]
        otherwise = "BROKEN" if _loses(rules) else "KEPT"
        return (
            QuestionAnswer("verdict of the run", honest),
            QuestionAnswer(_judged(undoctored), [*honest]),
            *(QuestionAnswer(_judged(doctor), [*verdict]) for doctor, verdict in RED.items()),
            QuestionAnswer(CHANGED, value=True),
            QuestionAnswer(OTHER_RULES, ["DEVIATES", otherwise]),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Run it on real brokers, and judge doctored copies."""
        run, verdict = examined(context, CLEAN_ELECTIONS_ONLY)
        yield QuestionAnswer("verdict of the run", words_of(verdict))
        for doctor in (undoctored, *RED):
            yield QuestionAnswer(_judged(doctor), words_of(doctored(context, run, doctor)[1]))
        yield QuestionAnswer(CHANGED, _is_refused(context, run))
        other = LATER if context.rules.truncation.cuts_to_high_watermark else CUTTING
        yield QuestionAnswer(OTHER_RULES, words_of(repredict(run, context.spark, other.rules)[1]))


def _loses(rules: RuleSet) -> bool:
    """Return whether the release loses the record that TR-02 is about."""
    return any(record.fate.value == "lost" for record in predict(CLEAN_ELECTIONS_ONLY.schedule, rules).records)


def _promise(rules: RuleSet) -> str:
    return "BROKEN_AS_PREDICTED" if _loses(rules) else "KEPT"


def _judged(doctor: Doctor) -> str:
    return f"verdict when {in_a_word(doctor)}"


def _is_refused(context: ExaminationContext, run: RunDirectory) -> bool:
    """Return whether a copy is refused, one letter of whose frozen prediction has changed."""
    try:
        doctored(context, run, doctoring.prediction_changes_one_letter)
    except RunDirectoryError as refused:
        return "has changed since it was frozen" in str(refused)
    return False


DOCTORING_IS_SEEN = DoctoringIsSeen()
