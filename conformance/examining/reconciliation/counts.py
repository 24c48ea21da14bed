"""Is every record accounted for, and is every kind of anomaly found and counted apart?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.examining.reconciliation import doctoring
from conformance.examining.reconciliation.examined_run import EVERY_OUTCOME, doctored, examined, in_a_word, undoctored
from conformance.record.reconciliation import Counts, read_counts
from conformance.record.run import read_run
from oracle.predict import predict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.context import ExaminationContext
    from conformance.examining.reconciliation.examined_run import Doctor
    from conformance.record.answers import Value
    from conformance.record.directory import RunDirectory
    from oracle.rules.rule_set import RuleSet

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
