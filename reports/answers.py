"""What does a report know about a question? What was asked, and both answers in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with its answers.

    Attributes:
        predicted: the predicted answer; empty if nobody predicted that this is answered.
        measured: the measured answer; empty if there is none.
        remark: why there is none, or why it does not count.
        agrees: whether measured is as predicted; None if the run never came that far.
    """

    what: str
    predicted: str
    measured: str
    remark: str
    agrees: bool | None

    @property
    def differs(self) -> bool:
        """Whether the answer speaks against the brokers."""
        return self.agrees is False


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """Questions about one step, or about none.

    Attributes:
        step: number and prose of the step; empty if the questions name none.
        asked: the questions, without the step.
    """

    step: str
    asked: tuple[Asked, ...]


def by_step(asked: Sequence[Asked], steps: Sequence[str]) -> tuple[AnswerGroup, ...]:
    """Group questions that begin with the number and prose of a step; their order stays."""
    parted = [_parted(one, steps) for one in asked]
    groups = groupby(parted, key=lambda pair: pair[0])
    return tuple(AnswerGroup(step, tuple(one for _, one in members)) for step, members in groups)


def _parted(asked: Asked, steps: Sequence[str]) -> tuple[str, Asked]:
    number = asked.what.partition(". ")[0]
    if number.isdecimal() and 0 < int(number) <= len(steps):
        step = f"{number}. {steps[int(number) - 1]}"
        if asked.what.startswith(f"{step}: "):
            return step, replace(asked, what=asked.what.removeprefix(f"{step}: "))
    return "", asked
