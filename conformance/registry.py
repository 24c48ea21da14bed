"""Which scenarios are there? The catalogue, and selection from it by glob and profile."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from conformance.scenarios import election, high_watermark, produce_path, truncation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.scenario import Scenario

CATALOGUE: tuple[Scenario, ...] = (
    *high_watermark.SCENARIOS,
    *truncation.SCENARIOS,
    *produce_path.SCENARIOS,
    *election.SCENARIOS,
)


class UnknownScenarioError(ValueError):
    """A glob that matches no scenario."""


def select(globs: Sequence[str] = (), profile: str = "quick") -> tuple[Scenario, ...]:
    """Return the scenarios whose name, id or requirement matches any glob, in catalogue order.

    Raises:
        UnknownScenarioError: if a glob matches nothing; lists the names there are.
    """
    if not globs:
        return tuple(scenario for scenario in CATALOGUE if profile in scenario.profiles)
    for glob in globs:
        if not any(_matches(scenario, glob) for scenario in CATALOGUE):
            names = ", ".join(scenario.name for scenario in CATALOGUE)
            raise UnknownScenarioError(f"no scenario matches {glob!r}; there are: {names}")
    return tuple(s for s in CATALOGUE if any(_matches(s, glob) for glob in globs))


def _matches(scenario: Scenario, glob: str) -> bool:
    family = scenario.name.split("/", maxsplit=1)[0]
    return any(fnmatchcase(text, glob) for text in (scenario.name, family, scenario.schedule.id))
