"""What is a scenario? A schedule with the requirement it proves, and where it applies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.where import EVERYWHERE, Where
from oracle.vocabulary import AREAS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.catalogue.questions import ScheduleQuestion
    from oracle.schedule import Schedule

REQUIREMENT_ID = re.compile(rf"^({'|'.join(AREAS)})-\d\d$")
QUICK = ("quick", "full")
"""The profiles of an entry that every run takes unless told otherwise."""
FULL = ("full",)
"""The profile of an entry that only a run of the whole catalogue takes."""


def requirements_among(sources: Iterable[str]) -> tuple[str, ...]:
    """Return the requirement ids among sources."""
    return tuple(source for source in sources if REQUIREMENT_ID.match(source))


@dataclass(frozen=True, slots=True)
class Scenario:
    """A catalogue entry whose subject is the fate of records.

    Attributes:
        name: requirement id with its variant, such as ``EL-02/unsafe``: what people select by.
        schedule: settings and steps.
        explanation: what a reader should look for in the report.
        variant: ``safe`` or ``unsafe`` for a pair that differs in its settings only, else None.
        profiles: ``quick`` and/or ``full``.
        where: the releases that have what the scenario is about.
        questions: what the run must answer besides numbers and records.
    """

    name: str
    schedule: Schedule
    explanation: str
    variant: str | None = None
    profiles: tuple[str, ...] = FULL
    where: Where = EVERYWHERE
    questions: tuple[ScheduleQuestion, ...] = ()

    @property
    def id(self) -> str:
        """Return the schedule's id: area and sentence."""
        return self.schedule.id

    @property
    def requirement(self) -> str:
        """What brokers must do, in one sentence that can be disputed."""
        return self.schedule.requirement

    @property
    def sources(self) -> tuple[str, ...]:
        """Requirement ids it proves, documents, KIPs and issues."""
        return self.schedule.sources

    def requirements(self) -> tuple[str, ...]:
        """Return the requirement ids among the sources."""
        return requirements_among(self.sources)
