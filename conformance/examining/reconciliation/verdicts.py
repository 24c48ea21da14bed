"""Does whatever is doctored turn the verdict red: the topic, the ledger, the prediction, the release's rules?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.ladder import LADDER
from conformance.catalogue.questions import QuestionAnswer
from conformance.examining.reconciliation import doctoring
from conformance.examining.reconciliation.examined_run import doctored, examined, in_a_word, undoctored, words_of
from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.scenarios.truncation.tr_02_clean_elections import CLEAN_ELECTIONS_ONLY
from conformance.stages.repredict import repredict
from oracle.predict import predict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.context import ExaminationContext
    from conformance.examining.reconciliation.examined_run import Doctor
    from conformance.record.answers import Value
    from oracle.rules.rule_set import RuleSet

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
