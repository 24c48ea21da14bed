"""What was a run asked besides, what was predicted, and what did it answer? Three files.

``prediction/questions.json`` is frozen with the prediction; ``answers.ndjson`` gets every answer as it is measured;
``reconciliation/questions.json`` has both side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from conformance.record.directory import as_line
from oracle.error_codes import ERROR_NAMES, ErrorCode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.record.directory import RunDirectory

QUESTIONS_FILE = "prediction/questions.json"
ANSWERS_FILE = "answers.ndjson"
COMPARED_FILE = "reconciliation/questions.json"
AnswerValue: TypeAlias = int | str | bool | list[int | str] | None
"""One value of a broker's answer to a step."""
Value: TypeAlias = "int | str | bool | list[Value] | None"
"""An answer to a question: a JSON value without fractions and without objects."""


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
        """Return whether a measured value lies within the range."""
        return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high

    def distance(self, value: Value) -> int | None:
        """Return how far a measured number lies outside the range; None for what is no number."""
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        return max(self.low - value, value - self.high, 0)


@dataclass(frozen=True, slots=True)
class PredictedAnswer:
    """One question with the answer that must come.

    Attributes:
        what: the question; unique in its run.
        predicted: a value, or a range.
        in_words: the same as people read it.
    """

    what: str
    predicted: Between | int | str | bool | list[Any] | None
    in_words: str = ""


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """One question with the answer that came.

    Attributes:
        why_not: what the files do not hold; then there is no value.
        from_ns: of a time when it began, monotonic nanoseconds; ``to_ns`` when it ended.
    """

    what: str
    value: int | str | bool | list[Any] | None = None
    why_not: str | None = None
    from_ns: int | None = None
    to_ns: int | None = None


@dataclass(frozen=True, slots=True)
class ComparedAnswer:
    """One question with both answers, as a verdict and a report need them.

    Attributes:
        predicted: the predicted answer in words; None if it was not predicted that this is answered.
        measured: the measured answer in words; None if there is none.
        why_not: what was looked for in vain, if the measure said so.
        agrees: whether the measured answer is the predicted one.
        stall_ms: set for a time outside its range that stalls of the machine, measured meanwhile, may explain: how
            long the longest was.
        parts: of two lists of one length, whether each part is as predicted.
    """

    what: str
    predicted: str | None
    measured: str | None
    why_not: str | None
    agrees: bool
    stall_ms: int | None = None
    parts: tuple[bool, ...] = ()

    @property
    def text(self) -> str:
        """Return the comparison in one sentence."""
        if self.why_not is not None:
            return f"{self.what}: predicted {self.predicted}, {self.why_not}"
        if self.predicted is None:
            return f"{self.what}: measured {self.measured}, which nobody predicted"
        stall = f"; the machine stood still for {self.stall_ms} ms meanwhile" if self.stall_ms is not None else ""
        return f"{self.what}: predicted {self.predicted}, measured {self.measured or 'nothing'}{stall}"


@dataclass(frozen=True, slots=True)
class _Predicted:
    questions: tuple[PredictedAnswer, ...]


@dataclass(frozen=True, slots=True)
class _Compared:
    questions: tuple[ComparedAnswer, ...]


def write_predicted(run: RunDirectory, answers: Iterable[PredictedAnswer]) -> None:
    """Write the predicted answers; to be called before the prediction is frozen."""
    run.write(QUESTIONS_FILE, _Predicted(tuple(answers)))


def read_predicted(run: RunDirectory) -> tuple[PredictedAnswer, ...] | None:
    """Read the predicted answers; None of a run that was asked nothing.

    Raises:
        RunDirectoryError: they cannot be read.
    """
    return run.read(QUESTIONS_FILE, _Predicted).questions if run.has(QUESTIONS_FILE) else None


def add_measured(run: RunDirectory, answer: MeasuredAnswer) -> None:
    """Add a measured answer."""
    with (run.path / ANSWERS_FILE).open("a", encoding="utf-8") as file:
        file.write(_line(answer))


def replace_measured(run: RunDirectory, answers: Iterable[MeasuredAnswer]) -> None:
    """Write every measured answer anew; those before stay until all are given."""
    anew = run.path / f"{ANSWERS_FILE}.new"
    anew.write_text("".join([_line(answer) for answer in answers]), encoding="utf-8")
    anew.replace(run.path / ANSWERS_FILE)


def read_measured(run: RunDirectory) -> list[MeasuredAnswer]:
    """Read the measured answers in order; empty if there are none.

    Raises:
        RunDirectoryError: a line cannot be read.
    """
    return run.lines(ANSWERS_FILE, msgspec.json.Decoder(MeasuredAnswer).decode)


def write_compared(run: RunDirectory, asked: Iterable[ComparedAnswer]) -> None:
    """Write every question with both answers."""
    run.write(COMPARED_FILE, _Compared(tuple(asked)))


def read_compared(run: RunDirectory) -> tuple[ComparedAnswer, ...]:
    """Read every question with both answers; empty of a run that asked nothing, or was not judged.

    Raises:
        RunDirectoryError: they cannot be read.
    """
    return run.read(COMPARED_FILE, _Compared).questions if run.has(COMPARED_FILE) else ()


def _line(answer: MeasuredAnswer) -> str:
    """Return the line of an answer; one whose value is None is told apart from one that has none by ``why_not``."""
    return as_line(answer)


def error_words(code: str) -> str:
    """Return Kafka's name of a code with its number, as in ``FENCED_LEADER_EPOCH (74)``; other words stay."""
    number = int(code) if code.removeprefix("-").isdecimal() else None
    if number not in ERROR_NAMES:
        return code
    return f"{'no error' if number == ErrorCode.NONE else ERROR_NAMES[number]} ({code})"
