"""An examination without brokers: a subject that predicts one table of answers and gives another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.catalogue.examination import Examination
from conformance.catalogue.questions import QuestionAnswer
from conformance.catalogue.where import EVERYWHERE, Where
from conformance.record.answers import Between

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.examining.context import ExaminationContext
    from oracle.rules.rule_set import RuleSet

PREDICTED = (
    QuestionAnswer("connections of broker 2", 3),
    QuestionAnswer("milliseconds from the last fetch to the shrink", Between(10_000, 20_000, "ms")),
    QuestionAnswer("is the stale request refused", value=True),
)
MEASURED = (
    QuestionAnswer("connections of broker 2", 3),
    QuestionAnswer("milliseconds from the last fetch to the shrink", 14_900),
    QuestionAnswer("is the stale request refused", value=True),
)


@dataclass
class Table:
    """A subject that answers from a table, and then raises what it is told to."""

    measured: tuple[QuestionAnswer, ...] = MEASURED
    failure: BaseException | None = None
    contexts: list[Path] = field(default_factory=list)
    closed: int = 0

    def steps(self) -> tuple[str, ...]:
        return ("start one broker", "count its connections")

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:  # noqa: ARG002
        return PREDICTED

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        self.contexts.append(context.directory)
        try:
            yield from self.measured
            if self.failure is not None:
                raise self.failure
        finally:
            self.closed += 1


def examination(subject: Table, where: Where = EVERYWHERE) -> Examination:
    return Examination(
        name="FE-99",
        id="fetchers/a-table",
        requirement="A table answers as predicted.",
        sources=("FE-99", "004"),
        explanation="Nothing but a table.",
        examined=lambda: subject,
        where=where,
    )
