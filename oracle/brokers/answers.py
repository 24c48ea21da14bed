"""What did the explorer find out? For one question: whether a record is lost, and whether a promise breaks.

A search that finds nothing says so with its bounds: never that nothing can happen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oracle.brokers.model import Brokers
from oracle.brokers.path_to_schedule import to_steps
from oracle.brokers.shrinking import PartitionDefect, shrunk
from oracle.explorer.model import INTERRUPTED, Always, SearchVerdict, Sometimes
from oracle.explorer.search import NO_LIMITS, Limits, explore
from oracle.guarantees import PromiseVerdict
from oracle.predict import predict
from oracle.properties import ALWAYS, ASKED, SOMETIMES
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from oracle.brokers.model import BrokerAction
    from oracle.brokers.questions import SearchQuestion
    from oracle.explorer.model import Exploration
    from oracle.schedule import Schedule
    from oracle.state import PartitionState
    from oracle.steps.step import Step


LOST = "NothingAcknowledgedIsLost"
BROKEN = "AcknowledgedSurvives"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One search.

    Attributes:
        states: distinct states visited.
        depth: levels visited, counted in states.
        is_complete: whether the search ended by itself; if not, at its cap of states.
        actions: length of the shortest path to what was asked for; None if there is none within the bounds.
        schedule: the steps that show it on brokers, with awaits; None without one.
        decided_by: what the prediction says about the lost record.
    """

    states: int
    depth: int
    is_complete: bool
    actions: int | None = None
    schedule: tuple[Step, ...] | None = None
    decided_by: str | None = None

    @property
    def steps(self) -> int | None:
        """Return the length of the schedule."""
        return None if self.schedule is None else len(self.schedule)

    def words(self, replicas: int) -> str:
        """Return the finding in words."""
        if self.actions is None:
            return f"{self.none_found(replicas)} ({self.states:,} states, depth {self.depth})"
        shown = "" if self.schedule is None else f", schedule of {self.steps} steps: {self.decided_by}"
        return f"lost in {self.actions} actions{shown}"

    def none_found(self, replicas: int) -> str:
        """Return how far was searched for what was not found: never that it cannot happen."""
        return (
            f"none found, RF {replicas} searched whole" if self.is_complete else f"none found in {self.states:,} states"
        )


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The answer to a question.

    Attributes:
        lost: whether any acknowledged record is lost; None with acks=0, where nothing is acknowledged.
        broken: whether one is lost that the settings promise to keep; None with acks=1, which promises nothing once
            the leader is gone, or where nothing is lost at all.
    """

    lost: SearchResult | None
    broken: SearchResult | None = None

    def words(self, replicas: int) -> str:
        """Return the answer in words."""
        if self.lost is None:
            return "nothing is acknowledged"
        if self.broken is None:
            return self.lost.words(replicas)
        if self.broken.actions is None:
            return f"{self.lost.words(replicas)}, as the settings allow; promise broken: {self.broken.words(replicas)}"
        return f"promise broken: {self.broken.words(replicas)}"


def answer(asked: SearchQuestion, max_states: int | None) -> SearchAnswer:
    """Search for a lost record, and for one whose loss breaks a promise.

    Raises:
        KeyboardInterrupt: if a search was interrupted: half an answer is none.
    """
    if asked.bounds.acks is Acks.NONE:
        return SearchAnswer(None)
    brokers = Brokers(asked.rules, asked.bounds)
    lost = _searched(brokers, LOST, max_states)
    if lost.verdict is not SearchVerdict.VIOLATED or asked.bounds.acks is not Acks.ALL:
        return SearchAnswer(_finding(brokers, lost))
    broken = _searched(brokers, BROKEN, max_states)
    is_same = broken.path == lost.path
    return SearchAnswer(_finding(brokers, lost, has_schedule=not is_same), _finding(brokers, broken))


def _searched(brokers: Brokers, name: str, max_states: int | None) -> Exploration[PartitionState]:
    found = search(brokers, (name,), Limits(max_states), sometimes={})
    if found.stopped_by == INTERRUPTED:
        raise KeyboardInterrupt
    return found


def _finding(brokers: Brokers, found: Exploration[PartitionState], *, has_schedule: bool = True) -> SearchResult:
    """Return a search's result, with the schedule that shows it."""
    is_complete = found.verdict is not SearchVerdict.UNFINISHED
    actions = len(found.path) - 1 if found.path else None
    schedule = schedule_of(brokers, found) if found.path and has_schedule else None
    if schedule is None:
        return SearchResult(found.distinct, found.depth, is_complete, actions)
    why = _why(schedule, brokers)
    return SearchResult(found.distinct, found.depth, is_complete, actions, schedule.steps, why)


def _why(schedule: Schedule, brokers: Brokers) -> str:
    """Return what the prediction says about the first acknowledged record that is lost."""
    gone = (PromiseVerdict.BROKEN, PromiseVerdict.ALLOWED_BY_SETTINGS)
    records = predict(schedule, brokers.rules).records
    return next(record.decided_by for record in records if record.promise.verdict in gone)


# Can it happen? One search of the brokers' model, and the schedule that shows what it found.


DEFECT_OF = {
    "AcknowledgedSurvives": PartitionDefect.PROMISE_BROKEN,
    "NothingAcknowledgedIsLost": PartitionDefect.ACKNOWLEDGED_LOST,
    "CommittedSurvives": PartitionDefect.COMMITTED_LOST,
    "InSyncLogsMatch": PartitionDefect.DIVERGED,
}
"""What a broken property still shows once everything is at rest; other properties show nothing then."""


def search(
    model: Brokers,
    names: Sequence[str] = tuple(ALWAYS),
    limits: Limits = NO_LIMITS,
    sometimes: Mapping[str, Callable[[PartitionState], bool]] = SOMETIMES,
) -> Exploration[PartitionState]:
    """Search the brokers' model for the first state that breaks one of the named properties.

    Args:
        model: to search.
        names: of the properties.
        limits: where the search stops.
        sometimes: the places that are counted on the way.
    """
    always = [Always(name, ASKED[name]) for name in names]
    places = [Sometimes(name, holds) for name, holds in sometimes.items()]
    return explore(model, always, places, limits=limits)


def actions_of(found: Exploration[PartitionState]) -> tuple[tuple[BrokerAction, PartitionState], ...]:
    """Return a counterexample's actions with the states they lead to."""
    return tuple((step.label, step.state) for step in found.path[1:])  # type: ignore[misc]


def schedule_of(model: Brokers, found: Exploration[PartitionState]) -> Schedule | None:
    """Return the shortest schedule that shows a counterexample on brokers, or None if steps cannot show it."""
    defect = DEFECT_OF.get(found.property_name or "")
    if defect is None:
        return None
    partition = model.empty_schedule()
    return shrunk(to_steps(actions_of(found), partition, model.rules), partition, model.rules, defect)


# Which schedule shows what a cell loses? The one of a broken promise if there is one, else of an allowed loss.


def shown(asked: SearchQuestion, found: SearchAnswer) -> Schedule | None:
    """Return the shortest schedule that an answer has, or None if it has none; nothing is searched."""
    results = (result for result in (found.broken, found.lost) if result is not None)
    steps = next((result.schedule for result in results if result.schedule is not None), None)
    return None if steps is None else replace(Brokers(asked.rules, asked.bounds).empty_schedule(), steps=steps)
