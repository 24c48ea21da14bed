"""What can notice a wrong rule? A written story, a golden prediction, a counterexample, a published count.

Each killer passes under the right rules and fails under the wrong ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from conformance.registry import select
from oracle.published import truncations
from oracle.steps.step import ScheduleError
from oracle.world import ImpossibleEventError
from tests.oracle import counterexamples, invariants
from tests.oracle.golden_text import golden_text
from tests.oracle.published.searching import search
from tests.oracle.test_golden_predictions import golden_path
from tests.oracle.transcript import rewritten
from tests.oracle.walks import followed

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.rules.rule_set import RuleSet

TRANSCRIPTS = Path(__file__).parent.parent / "transcripts"


class Killer(Protocol):
    """Something that notices a wrong rule."""

    def passes(self, change: Callable[[RuleSet], RuleSet]) -> bool:
        """Return whether all is as it should be under changed rules."""
        ...


@dataclass(frozen=True, slots=True)
class Story:
    """A transcript that would read differently."""

    stem: str

    def passes(self, change: Callable[[RuleSet], RuleSet]) -> bool:
        """Return whether the transcript reads as written."""
        text = (TRANSCRIPTS / f"{self.stem}.txt").read_text()
        try:
            return rewritten(text, change) == text
        except (AssertionError, ScheduleError):
            return False  # the model cannot even tell the story


@dataclass(frozen=True, slots=True)
class Golden:
    """A catalogue scenario whose prediction would be another one."""

    name: str

    def passes(self, change: Callable[[RuleSet], RuleSet]) -> bool:
        """Return whether every release predicts what its golden file says."""
        (scenario,) = select([self.name])
        return golden_path(scenario).read_text() == golden_text(scenario.schedule, change)


@dataclass(frozen=True, slots=True)
class Property:
    """A property of the model that would break on a counterexample of old rules."""

    invariant: str
    counterexample: str
    version: str

    def passes(self, change: Callable[[RuleSet], RuleSet]) -> bool:
        """Return whether the property holds in every world of the walk, or of the walk as a whole."""
        right = getattr(counterexamples, self.counterexample)(self.version)
        walk = followed(right.schedule, change(right.end.rules))
        holds = getattr(invariants, self.invariant)
        if self.invariant == "acknowledged_records_survive":
            return bool(holds(walk))
        return all(map(holds, walk.worlds))


@dataclass(frozen=True, slots=True)
class Answer:
    """A question to the model, outside any schedule, that would be answered differently."""

    question: Callable[[Callable[[RuleSet], RuleSet]], object]
    answer: object

    def passes(self, change: Callable[[RuleSet], RuleSet]) -> bool:
        """Return whether the answer is the right one."""
        try:
            return self.question(change) == self.answer
        except (ImpossibleEventError, LookupError):
            return False  # the model cannot even come to the question, or has no version to ask it in


@dataclass(frozen=True, slots=True)
class PublishedCount:
    """A published specification whose states would be counted differently, by the rules that predict brokers.

    Attributes:
        bounds: replicas/log size/records/epochs.
        counted: what TLC counts: generated, distinct, depth.
    """

    module: str
    bounds: str
    counted: tuple[int, int, int]

    def passes(self, _change: Callable[[RuleSet], RuleSet]) -> bool:
        """Return whether the explorer counts what TLC counts."""
        _forget_cuts()
        found = search(self.module, self.bounds)
        _forget_cuts()
        return (found.generated, found.distinct, found.depth) == self.counted


def _forget_cuts() -> None:
    """Let no cut that is remembered from other rules stand in for one of these."""
    for remembered in vars(truncations).values():
        if hasattr(remembered, "cache_clear"):
            remembered.cache_clear()
