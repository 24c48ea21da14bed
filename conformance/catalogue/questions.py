"""What must a run answer besides numbers and records? Questions with a predicted and a measured answer.

A question is predicted before the first step and frozen with the prediction; it is measured afterwards, from the
run's files alone. An answer that is missing, or not the predicted one, is a deviation.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from conformance.record.answers import (
    Between,
    ComparedAnswer,
    MeasuredAnswer,
    PredictedAnswer,
    read_measured,
    read_predicted,
    replace_measured,
    write_compared,
)
from conformance.record.run import read_run
from conformance.stalls import NS_PER_MS, touches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from conformance.record.answers import Value
    from conformance.record.directory import RunDirectory
    from conformance.record.prediction import FrozenPrediction
    from conformance.record.run import Stall
    from oracle.rules.rule_set import RuleSet

STALL_ALLOWANCE_MS = 500
"""How much later than the protocol's own formula a measured time may be, on a machine that others use too.

A stall of the machine that is longer is measured (``conformance.stalls``) and makes the answer inconclusive.
"""


class NotSeenError(Exception):
    """The run's files do not hold what a question is measured by; the text says what was looked for."""


def formula_ms(low: int, high: int) -> Between:
    """Return the range of a time in ms that the protocol's formula gives, with the allowance for a stall above it."""
    return Between(low, high + STALL_ALLOWANCE_MS, "ms")


Expected: TypeAlias = "Value | Between"
"""What is predicted: one value, or a range."""


@dataclass(frozen=True, slots=True)
class Took:
    """A measured time: only a stall of the machine within it can have made it longer.

    Attributes:
        from_ns: when it began, monotonic.
        to_ns: when it ended.
    """

    from_ns: int
    to_ns: int

    @property
    def ms(self) -> int:
        """Return the answer: whole milliseconds."""
        return (self.to_ns - self.from_ns) // NS_PER_MS


Measured: TypeAlias = "Value | Took"
"""What is measured: one value, or a time with its begin and its end."""


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """What is asked and its answer: predicted, then a range is allowed, or measured.

    Attributes:
        what: the question; unique within its scenario or examination.
        value: the answer.
    """

    what: str
    value: Expected | Took

    @property
    def predicted(self) -> PredictedAnswer:
        """Return the answer as it is frozen."""
        assert not isinstance(self.value, Took), "a time is predicted as a range"
        return PredictedAnswer(self.what, self.value, in_words(self.value))

    @property
    def measured(self) -> MeasuredAnswer:
        """Return the answer as it is noted."""
        if isinstance(self.value, Took):
            return MeasuredAnswer(self.what, self.value.ms, from_ns=self.value.from_ns, to_ns=self.value.to_ns)
        assert not isinstance(self.value, Between), "what is measured is one value"
        return MeasuredAnswer(self.what, self.value)


@dataclass(frozen=True, slots=True)
class ScheduleQuestion:
    """One question of a scenario.

    Attributes:
        what: the question in words; unique within its scenario.
        predict: (the release's rules, prediction.json) -> the answer that must come; pure.
        measure: run directory -> the answer that came; reads files only.
            Raises ``NotSeenError`` if the files do not hold what it looks for.
    """

    what: str
    predict: Callable[[RuleSet, FrozenPrediction], Expected]
    measure: Callable[[RunDirectory], Measured]


def agrees(expected: Expected, measured: Value) -> bool:
    """Return whether a measured answer is the predicted one; a truth value is no number."""
    if isinstance(expected, Between):
        return expected.holds(measured)
    return expected == measured and isinstance(expected, bool) == isinstance(measured, bool)


def in_words(expected: Expected | Took) -> str:
    """Return an answer as people read it."""
    if isinstance(expected, Took):
        return str(expected.ms)
    if isinstance(expected, Between):
        return f"{expected.low} to {expected.high} {expected.unit}"
    if expected is None:
        return "none"
    if isinstance(expected, bool):
        return "yes" if expected else "no"
    if isinstance(expected, list):
        return "[" + ", ".join(in_words(one) for one in expected) + "]"
    return str(expected)


# What was asked of a run, what was predicted, and what was measured? The files of both, and their comparison.
#
# ``prediction/questions.json`` is frozen with the prediction; ``answers.ndjson`` gets every answer as it is
# measured. A question that was predicted must be answered once, and nothing else may be answered.


def predicted_answers(
    questions: Iterable[ScheduleQuestion], rules: RuleSet, prediction: FrozenPrediction
) -> tuple[QuestionAnswer, ...]:
    """Predict the answer to every question of a scenario, given what the model says of its records and numbers."""
    return tuple(QuestionAnswer(question.what, question.predict(rules, prediction)) for question in questions)


def measure(run: RunDirectory, questions: Iterable[ScheduleQuestion]) -> None:
    """Answer every question of a scenario from its run's files; what was answered before stays until all are.

    Raises:
        RunDirectoryError: a file that a question is answered from cannot be read.
    """
    replace_measured(run, [_measured(run, question) for question in questions])


def _measured(run: RunDirectory, question: ScheduleQuestion) -> MeasuredAnswer:
    try:
        return QuestionAnswer(question.what, question.measure(run)).measured
    except NotSeenError as unseen:
        return MeasuredAnswer(question.what, why_not=str(unseen))


def compare_answers(
    run: RunDirectory, *, is_complete: bool, told: Sequence[ComparedAnswer] = ()
) -> list[ComparedAnswer]:
    """Compare every predicted answer with the measured one and write reconciliation/questions.json.

    Args:
        run: a run; one that asked nothing has no such file and nothing to compare.
        is_complete: whether the run took its course; what an interrupted one did not answer speaks against nobody.
        told: what brokers answered to steps of the schedule, compared already.

    Raises:
        RunDirectoryError: a file cannot be read.
    """
    predicted = read_predicted(run)
    if predicted is None and not told:
        return []
    expected: dict[str, Expected] = {one.what: one.predicted for one in predicted or ()}
    asked = [*told, *_questions(run, expected, is_complete=is_complete)]
    write_compared(run, asked)
    return asked


def _questions(run: RunDirectory, predicted: Mapping[str, Expected], *, is_complete: bool) -> list[ComparedAnswer]:
    if not predicted:
        return []
    answers = read_measured(run)
    times = Counter(answer.what for answer in answers)
    stalls = read_run(run).stalls
    asked = [_compared(answer, predicted, times[answer.what], stalls) for answer in answers]
    if is_complete:
        missing = ((what, value) for what, value in predicted.items() if what not in times)
        asked += [ComparedAnswer(what, in_words(value), None, None, agrees=False) for what, value in missing]
    return asked


def _compared(
    answer: MeasuredAnswer, predicted: Mapping[str, Expected], times: int, stalls: Sequence[Stall]
) -> ComparedAnswer:
    what = answer.what
    expected = in_words(predicted[what]) if what in predicted else None
    if times > 1:
        return ComparedAnswer(what, expected, None, f"answered {times} times", agrees=False)
    if answer.why_not is not None:
        return ComparedAnswer(what, expected, None, answer.why_not, agrees=False)
    expectation = predicted.get(what)
    unit = f" {expectation.unit}" if isinstance(expectation, Between) else ""
    is_right = what in predicted and agrees(predicted[what], answer.value)
    excuse = None if is_right else _stall_behind(expectation, answer, stalls)
    parts = _parts(expectation, answer.value)
    return ComparedAnswer(
        what, expected, in_words(answer.value) + unit, None, agrees=is_right, stall_ms=excuse, parts=parts
    )


def _parts(expected: Expected, value: Value) -> tuple[bool, ...]:
    """Return of two lists of one length whether each part is as predicted."""
    if not isinstance(expected, list) or not isinstance(value, list) or len(expected) != len(value):
        return ()
    return tuple(agrees(wanted, found) for wanted, found in zip(expected, value, strict=True))


def _stall_behind(expected: Expected, answer: MeasuredAnswer, stalls: Sequence[Stall]) -> int | None:
    """Return the longest stall in ms if the stalls meanwhile are long enough to explain a time outside its range."""
    distance = expected.distance(answer.value) if isinstance(expected, Between) else None
    if distance is None or answer.from_ns is None or answer.to_ns is None:
        return None
    meanwhile = [stall.for_ms for stall in stalls if touches(stall, answer.from_ns, answer.to_ns)]
    if max(meanwhile, default=0) <= STALL_ALLOWANCE_MS or distance > sum(meanwhile):
        return None
    return max(meanwhile)
