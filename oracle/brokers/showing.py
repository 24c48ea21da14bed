"""Which schedule shows what a cell loses? The one of a broken promise if there is one, else of an allowed loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.brokers.answers import BROKEN, LOST
from oracle.brokers.model import Brokers
from oracle.brokers.search import schedule_of, search
from oracle.explorer.search import Limits

if TYPE_CHECKING:
    from oracle.brokers.questions import Question
    from oracle.schedule import Schedule


def shown(asked: Question, max_states: int) -> Schedule | None:
    """Return a shortest schedule that loses an acknowledged record, or None if the search finds none."""
    brokers = Brokers(asked.rules, asked.bounds)
    for name in (BROKEN, LOST):
        found = search(brokers, (name,), Limits(max_states))
        schedule = schedule_of(brokers, found) if found.path else None
        if schedule is not None:
            return schedule
    return None
