"""What is an examination? A catalogue entry about answers and counts, where no record's fate is the point.

Its subject predicts every answer before the first broker starts, and then conducts the examination on real
brokers: a puppet that speaks to one, a count of connections, a request that must be refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from conformance.catalogue.scenario import FULL, Scenario, requirements_among
from conformance.catalogue.where import EVERYWHERE, Where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.catalogue.questions import QuestionAnswer
    from conformance.examining.context import ExaminationContext
    from conformance.record.transaction_course import TransactionCourse
    from oracle.rules.rule_set import RuleSet


class Basis(StrEnum):
    """Where the predicted answers of an entry come from."""

    PREDICTED = "predicted"
    """The model plays the entry by the release's rules."""
    COMPUTED = "computed"
    """A rule outside the model gives them, such as the hash that spreads partitions over fetchers."""
    DOCUMENTED = "documented"
    """They are written down from Kafka's documentation and source: the subject lies outside replication."""


class ExaminationSubject(Protocol):
    """What an examination is about."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line, in prose."""

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Predict every answer; pure, called before any broker starts."""

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Examine real brokers and yield each answer as soon as it is measured.

        A missing answer deviates; an exception is a failure of the tester, unless it is a ``NotSeenError``.
        """


@runtime_checkable
class Pictured(Protocol):
    """A subject whose course can be drawn: a script of transactions."""

    def course(self, rules: RuleSet) -> TransactionCourse:
        """Return what each request does by the release's rules; pure, and as ``predict`` has the answers."""


@runtime_checkable
class Levelled(Protocol):
    """A subject whose cluster is formatted with a level of a feature, which can be another one."""

    def at_level(self, level: int | None) -> ExaminationSubject:
        """Return the same on a cluster of that level; None for what new clusters of the release have."""


@dataclass(frozen=True, slots=True)
class Examination:
    """A catalogue entry that asks brokers and compares their answers.

    Attributes:
        name: requirement id with its variant: what people select by.
        id: area and sentence, such as ``controller-requests/stale-epoch-is-refused``.
        requirement: what brokers must do, in one sentence that can be disputed.
        sources: requirement ids it proves, its own first; documents, KIPs and issues.
        explanation: what a reader should look for in the report.
        basis: where its predicted answers come from.
        examined: imports what conducts it, made with ``by``.
        where: the releases that have what is examined.
        variant: ``safe`` or ``unsafe`` for a pair that differs in its settings only, else None.
        profiles: ``quick`` and/or ``full``.
    """

    name: str
    id: str
    requirement: str
    sources: tuple[str, ...]
    explanation: str
    examined: Callable[[], ExaminationSubject]
    basis: Basis = Basis.PREDICTED
    where: Where = EVERYWHERE
    variant: str | None = None
    profiles: tuple[str, ...] = FULL

    @property
    def subject(self) -> ExaminationSubject:
        """What it is about, imported when it is asked for: the catalogue is read without clients and faults."""
        return self.examined()

    def requirements(self) -> tuple[str, ...]:
        """Return the requirement ids among the sources."""
        return requirements_among(self.sources)


def by(place: str) -> Callable[[], ExaminationSubject]:
    """Return what imports a subject when it is called.

    Args:
        place: the module below ``conformance.examining`` and the name there, such as ``lag:LAG_GAUGE``.
    """

    def imported() -> ExaminationSubject:
        module, _, name = place.partition(":")
        subject: ExaminationSubject = getattr(import_module(f"conformance.examining.{module}"), name)
        return subject

    return imported


Entry: TypeAlias = Scenario | Examination
"""What the catalogue consists of."""


BASIS_WORDS = {
    Basis.PREDICTED: "predicted by the model",
    Basis.COMPUTED: "computed by a rule outside the model",
    Basis.DOCUMENTED: "documented, not modelled",
}
"""Where predictions come from, in words."""


def basis_of(entry: Entry) -> Basis:
    """Return where an entry's predictions come from: every schedule's from the model."""
    return entry.basis if isinstance(entry, Examination) else Basis.PREDICTED


def without_sessions(entry: Entry) -> Entry:
    """Return an entry with followers that list every partition in every fetch, which an examination sets itself."""
    if isinstance(entry, Examination):
        return entry
    return replace(entry, schedule=replace(entry.schedule, fetch_sessions=False))
