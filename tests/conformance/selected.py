"""Which entries of the catalogue have a schedule? Tests about predictions ask for those alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.scenario import Scenario
from conformance.registry import select

if TYPE_CHECKING:
    from collections.abc import Sequence


def select_scenarios(globs: Sequence[str] = (), profile: str = "quick") -> tuple[Scenario, ...]:
    """Return those of the selected entries that have a schedule."""
    return tuple(entry for entry in select(globs, profile) if isinstance(entry, Scenario))
