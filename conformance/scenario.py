"""What is a scenario? A schedule with the requirement it proves, and where it applies."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oracle.schedule import Schedule

REQUIREMENT_ID = re.compile(r"^(HW|TR|LE|IS|AC|EL|RM|FE|RC)-\d\d$")


@dataclass(frozen=True, slots=True)
class Scenario:
    """A catalogue entry.

    Attributes:
        name: requirement id with its variant, such as ``EL-02/unsafe``: what people select by.
        schedule: settings and steps.
        variant: ``safe`` or ``unsafe`` for a pair that differs in its settings only, else None.
        profiles: ``quick`` and/or ``full``.
        explanation: what a reader should look for in the report.
    """

    name: str
    schedule: Schedule
    explanation: str
    variant: str | None = None
    profiles: tuple[str, ...] = field(default=("quick", "full"))

    def requirements(self) -> tuple[str, ...]:
        """Return the requirement ids among the schedule's sources."""
        return tuple(source for source in self.schedule.sources if REQUIREMENT_ID.match(source))
