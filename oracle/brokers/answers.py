"""What did the explorer find out? For one question: whether a record is lost, and whether a promise breaks.

A search that finds nothing says so with its bounds: never that nothing can happen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.brokers.model import Brokers
from oracle.brokers.search import schedule_of, search
from oracle.explorer.exploration import INTERRUPTED, Verdict
from oracle.explorer.search import Limits
from oracle.guarantees import PromiseVerdict
from oracle.predict import predict
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from oracle.brokers.questions import Question
    from oracle.explorer.exploration import Exploration
    from oracle.schedule import Schedule
    from oracle.state import PartitionState

LOST = "NothingAcknowledgedIsLost"
BROKEN = "AcknowledgedSurvives"


@dataclass(frozen=True, slots=True)
class Finding:
    """One search.

    Attributes:
        states: distinct states visited.
        depth: levels visited, counted in states.
        is_complete: whether the search ended by itself; if not, at its cap of states.
        actions: length of the shortest path to what was asked for; None if there is none within the bounds.
        steps: length of the schedule that shows it on brokers, with awaits; None without one.
        decided_by: what the prediction says about the lost record.
    """

    states: int
    depth: int
    is_complete: bool
    actions: int | None = None
    steps: int | None = None
    decided_by: str | None = None

    @property
    def words(self) -> str:
        """The finding in words."""
        if self.actions is not None:
            shown = "" if self.steps is None else f", schedule of {self.steps} steps: {self.decided_by}"
            return f"lost in {self.actions} actions{shown}"
        extent = "all" if self.is_complete else "capped"
        return f"none found ({self.states} states, depth {self.depth}, {extent})"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question.

    Attributes:
        lost: whether any acknowledged record is lost; None with acks=0, where nothing is acknowledged.
        broken: whether one is lost that the settings promise to keep; None where nothing was promised
            (acks=1, or a disk that forgets), or where nothing is lost at all.
    """

    lost: Finding | None
    broken: Finding | None = None

    @property
    def words(self) -> str:
        """The answer in words."""
        if self.lost is None:
            return "nothing is acknowledged"
        if self.broken is None:
            return self.lost.words
        if self.broken.actions is None:
            return f"{self.lost.words}, as the settings allow; promise broken: {self.broken.words}"
        return f"promise broken: {self.broken.words}"


def answer(asked: Question, max_states: int | None) -> Answer:
    """Search for a lost record, and for one whose loss breaks a promise.

    Raises:
        KeyboardInterrupt: if a search was interrupted: half an answer is none.
    """
    if asked.bounds.acks is Acks.NONE:
        return Answer(None)
    brokers = Brokers(asked.rules, asked.bounds)
    lost = _searched(brokers, LOST, max_states)
    is_promised = asked.bounds.acks is Acks.ALL and not asked.bounds.power_failure
    if lost.verdict is not Verdict.VIOLATED or not is_promised:
        return Answer(_finding(brokers, lost))
    broken = _searched(brokers, BROKEN, max_states)
    is_same = broken.path == lost.path
    return Answer(_finding(brokers, lost, has_schedule=not is_same), _finding(brokers, broken))


def _searched(brokers: Brokers, name: str, max_states: int | None) -> Exploration[PartitionState]:
    found = search(brokers, (name,), Limits(max_states))
    if found.stopped_by == INTERRUPTED:
        raise KeyboardInterrupt
    return found


def _finding(brokers: Brokers, found: Exploration[PartitionState], *, has_schedule: bool = True) -> Finding:
    """Return a search's result, with the schedule that shows it."""
    is_complete = found.verdict is not Verdict.UNFINISHED
    actions = len(found.path) - 1 if found.path else None
    schedule = schedule_of(brokers, found) if found.path and has_schedule else None
    if schedule is None:
        return Finding(found.distinct, found.depth, is_complete, actions)
    why = _why(schedule, brokers)
    return Finding(found.distinct, found.depth, is_complete, actions, len(schedule.steps), why)


def _why(schedule: Schedule, brokers: Brokers) -> str:
    """Return what the prediction says about the first acknowledged record that is lost."""
    gone = (PromiseVerdict.BROKEN, PromiseVerdict.ALLOWED_BY_SETTINGS)
    records = predict(schedule, brokers.rules).records
    return next(record.decided_by for record in records if record.promise.verdict in gone)
