"""Search a published model by its name and constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.explorer.search import Limits, explore
from oracle.published.catalogue import subject
from oracle.published.module import Constants

if TYPE_CHECKING:
    from oracle.explorer.model import Exploration


def constants_of(text: str) -> Constants:
    """Return constants from replicas/log size/records/epochs."""
    return Constants(*map(int, text.split("/")))


def search(
    name: str, bounds: str, *invariants: str, with_symmetry: bool = False, max_states: int | None = None
) -> Exploration[int]:
    """Search a model for these invariants; none are checked if none are named."""
    found = subject(name, constants_of(bounds), with_symmetry=with_symmetry)
    wanted = [one for one in (*found.invariants, *found.further) if one.name in invariants]
    assert len(wanted) == len(invariants)
    return explore(found.model, wanted, limits=Limits(max_states=max_states))
