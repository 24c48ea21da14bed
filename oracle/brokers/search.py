"""Can it happen? One search of the brokers' model, and the schedule that shows what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.brokers.defects import Defect
from oracle.brokers.path_to_schedule import to_steps
from oracle.brokers.shrinking import shrunk
from oracle.explorer.model import Always, Sometimes
from oracle.explorer.search import NO_LIMITS, Limits, explore
from oracle.places import SOMETIMES
from oracle.properties import ALWAYS, ASKED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.brokers.actions import Action
    from oracle.brokers.model import Brokers
    from oracle.explorer.exploration import Exploration
    from oracle.schedule import Schedule
    from oracle.state import PartitionState

DEFECT_OF = {
    "AcknowledgedSurvives": Defect.PROMISE_BROKEN,
    "NothingAcknowledgedIsLost": Defect.ACKNOWLEDGED_LOST,
    "CommittedSurvives": Defect.COMMITTED_LOST,
    "InSyncLogsMatch": Defect.DIVERGED,
}
"""What a broken property still shows once everything is at rest; other properties show nothing then."""


def search(
    model: Brokers, names: Sequence[str] = tuple(ALWAYS), limits: Limits = NO_LIMITS
) -> Exploration[PartitionState]:
    """Search the brokers' model for the first state that breaks one of the named properties."""
    always = [Always(name, ASKED[name]) for name in names]
    sometimes = [Sometimes(name, holds) for name, holds in SOMETIMES.items()]
    return explore(model, always, sometimes, limits=limits)


def actions_of(found: Exploration[PartitionState]) -> tuple[tuple[Action, PartitionState], ...]:
    """Return a counterexample's actions with the states they lead to."""
    return tuple((step.label, step.state) for step in found.path[1:])  # type: ignore[misc]


def schedule_of(model: Brokers, found: Exploration[PartitionState]) -> Schedule | None:
    """Return the shortest schedule that shows a counterexample on brokers, or None if steps cannot show it."""
    defect = DEFECT_OF.get(found.property_name or "")
    if defect is None:
        return None
    partition = model.empty_schedule()
    return shrunk(to_steps(actions_of(found), partition, model.rules), partition, model.rules, defect)
