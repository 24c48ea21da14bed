"""Is a cluster replaced where its brokers could not be registered again for a minute, and nowhere else?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pytest

from conformance.stages.on_brokers import outlived_by_sessions
from oracle.vocabulary import Timing
from tests.oracle.schedules import schedule

if TYPE_CHECKING:
    from conformance.stages.on_brokers import BrokerRun
    from oracle.schedule import Schedule


@dataclass
class Brokers:
    """Which brokers run."""

    live: frozenset[int]

    def is_alive(self, broker: int) -> bool:
        return broker in self.live


@dataclass
class Ended:
    """A run whose steps were taken."""

    schedule: Schedule
    cluster: Brokers


@pytest.mark.parametrize(
    ("timing", "live", "why"),
    [
        (Timing.LAG, {1}, "the sessions of brokers that are down (2) last a minute"),
        (Timing.LAG, {1, 2}, ""),
        (Timing.SESSION, {1}, ""),
    ],
)
def test_brokers_that_are_down_under_lag_have_their_cluster_replaced(timing: Timing, live: set[int], why: str) -> None:
    stage = Ended(schedule(timing=timing), Brokers(frozenset(live)))
    assert outlived_by_sessions(cast("BrokerRun", stage)) == why
