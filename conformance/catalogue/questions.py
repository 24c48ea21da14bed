"""What must a run answer besides numbers and records? Questions with a predicted and a measured answer.

A question is predicted before the first step and frozen with the prediction; it is measured afterwards, from the
run's files alone. An answer that is missing, or not the predicted one, is a deviation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from conformance.stalls import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.run_directory import RunDirectory
    from oracle.rules.rule_set import RuleSet

STALL_ALLOWANCE_MS = 500
"""How much later than the protocol's own formula a measured time may be, on a machine that others use too.

A stall of the machine that is longer is measured (``conformance.stalls``) and makes the answer inconclusive.
"""

Value: TypeAlias = "int | str | bool | list[Value] | None"
"""An answer: a JSON value without fractions and without objects."""


class NotSeenError(Exception):
    """The run's files do not hold what a question is measured by; the text says what was looked for."""


@dataclass(frozen=True, slots=True)
class Between:
    """An expected range, ends included, for what no model can name exactly, such as a time.

    Attributes:
        unit: what is counted, such as ``ms``.
    """

    low: int
    high: int
    unit: str

    def holds(self, value: Value) -> bool:
        """Tell whether a measured value lies within the range."""
        return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high

    def distance(self, value: Value) -> int | None:
        """Return how far a measured number lies outside the range; None for what is no number."""
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        return max(self.low - value, value - self.high, 0)


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
        """The answer: whole milliseconds."""
        return (self.to_ns - self.from_ns) // NS_PER_MS


Measured: TypeAlias = "Value | Took"
"""What is measured: one value, or a time with its begin and its end."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is asked and its answer: predicted, then a range is allowed, or measured.

    Attributes:
        what: the question; unique within its scenario or examination.
        value: the answer.
    """

    what: str
    value: Expected | Took


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a scenario.

    Attributes:
        what: the question in words; unique within its scenario.
        predict: (the release's rules, prediction.json) -> the answer that must come; pure.
        measure: run directory -> the answer that came; reads files only.
            Raises ``NotSeenError`` if the files do not hold what it looks for.
    """

    what: str
    predict: Callable[[RuleSet, Mapping[str, Any]], Expected]
    measure: Callable[[RunDirectory], Measured]


def as_json(expected: Expected | Took) -> object:
    """Return an answer as prediction/questions.json has it."""
    if isinstance(expected, Took):
        return expected.ms
    if isinstance(expected, Between):
        return {"low": expected.low, "high": expected.high, "unit": expected.unit}
    return expected


def from_json(value: Any) -> Expected:  # noqa: ANN401 - a JSON value
    """Return a predicted answer, given as prediction/questions.json has it."""
    if isinstance(value, dict):
        return Between(value["low"], value["high"], value["unit"])
    expected: Value = value
    return expected


def agrees(expected: Expected, measured: Value) -> bool:
    """Tell whether a measured answer is the predicted one; a truth value is no number."""
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
