"""What happened, and why? Every change of the model's state with its step, its cause and its rule.

A change is found by comparing two states with one event between them; no rule writes its own history,
so a story cannot say what the model did not do.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from oracle.steps import STEP_NAMES

if TYPE_CHECKING:
    from oracle.rules.rule import Rule
    from oracle.steps import Step
    from oracle.vocabulary import BrokerId, Label


class ChangeKind(StrEnum):
    """What kind of number or fact changed."""

    APPENDED = "appended"
    CUT = "cut"
    HIGH_WATERMARK = "high_watermark"
    COMMITTED = "committed"
    ANSWERED = "answered"
    ELECTED = "elected"
    LEADERLESS = "leaderless"
    ISR = "isr"
    HELD = "held"
    LET_GO = "let_go"
    PROCESS = "process"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that happened.

    Attributes:
        step: index of the step during which it happened; -1 when the partition was created.
        during: that step in words, such as ``step 3 (produce m1)``.
        text: what happened and what caused it.
        broker: whose state changed; None if it is the producer's or the controller's.
        records: the records it is about.
        rule: what decided it; None for a fault, which no rule decides.
        hold: the hold that caught or let go a frame of this broker's.
    """

    step: int
    during: str
    kind: ChangeKind
    text: str
    broker: BrokerId | None = None
    records: tuple[Label, ...] = ()
    rule: Rule | None = None
    hold: str | None = None

    def sentence(self) -> str:
        """Return what happened as one line, its rule in brackets."""
        return self.text if self.rule is None else f"{self.text} [{self.rule.name}]"

    def as_json(self) -> dict[str, Any]:
        """Return the change as ``predict --explain --json`` has it."""
        return {
            "step": self.step,
            "during": self.during,
            "kind": self.kind.value,
            "text": self.text,
            "broker": self.broker,
            "records": list(self.records),
            "hold": self.hold,
            "rule": None if self.rule is None else {"name": self.rule.name, "source": self.rule.source},
        }


Chronicle = tuple[Change, ...]
_WORDS = {kind: word for word, kind in STEP_NAMES.items()}


def step_words(index: int, step: Step) -> str:
    """Return a step's number, counted from 1, and what it is, in the words of a schedule."""
    return f"step {index + 1} ({_WORDS[type(step)]} {_subject(step)})"


def _subject(step: Step) -> str:
    first: object = getattr(step, fields(step)[0].name)
    if isinstance(first, tuple):
        return ", ".join(str(part) for part in first)
    return "none" if first is None else str(first)
