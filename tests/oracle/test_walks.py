"""Do random walks get anywhere? Each interesting place is visited, so a green property was not idle."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from oracle.vocabulary import ProduceOutcome
from tests.oracle.walks import Walk, walks

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.no_cover  # a search reaches much by chance; each branch has a test that names what it does

PLACES: dict[str, Callable[[Walk], bool]] = {
    "a clean election": lambda w: any(clean for _, _, clean in w.end.state.controller.leaderships[1:]),
    "an unclean election": lambda w: any(not clean for _, _, clean in w.end.state.controller.leaderships),
    "a truncation": lambda w: bool(w.end.state.history_truncations),
    "a loss": lambda w: bool(w.end.state.history_losses),
    "an ISR of one": lambda w: any(len(world.state.controller.isr) == 1 for world in w.worlds),
    "an empty ISR": lambda w: any(not world.state.controller.isr for world in w.worlds),
    "eligible leader replicas": lambda w: any(world.state.controller.elr for world in w.worlds),
    "no leader": lambda w: any(world.state.controller.leader is None for world in w.worlds),
    "a held frame": lambda w: any(armed.caught for world in w.worlds for armed in world.gate.holds),
    "a refused record": lambda w: any(p.outcome is ProduceOutcome.REFUSED for p in w.end.state.produces),
}


@cache
def visited() -> Counter[str]:
    """Return how many of a few hundred walks came through each place."""
    count: Counter[str] = Counter()

    @given(walks())
    @settings(max_examples=400, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    def walk_about(walk: Walk) -> None:
        count.update(place for place, is_reached in PLACES.items() if is_reached(walk))

    walk_about()
    return count


@pytest.mark.parametrize("place", PLACES)
def test_walks_get_there(place: str) -> None:
    assert visited()[place] > 0
