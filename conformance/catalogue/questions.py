"""What must a run answer besides numbers and records? Questions with a predicted and a measured answer.

A question is predicted before the first step and frozen with the prediction; it is measured afterwards, from the
run's files alone. An answer that is missing, or not the predicted one, is a deviation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from conformance.record.answers import Between, MeasuredAnswer, PredictedAnswer
from conformance.stalls import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.record.answers import Value
    from conformance.record.directory import RunDirectory
    from conformance.record.prediction import FrozenPrediction
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
