"""What does a loss with three replicas say about more? The same steps are tried, with the further ones out of the way.

Their brokers are killed before anything else, and started when all is over. That the record is lost then too is not
concluded: it is predicted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.brokers.answers import shown
from oracle.brokers.questions import question
from oracle.brokers.shrinking import PartitionDefect, defects, showing
from oracle.predict import predict
from oracle.schedule import TopicSettings
from oracle.steps.brokers import Kill
from oracle.steps.frames import AwaitHold
from oracle.steps.produce import AwaitOutcome
from oracle.steps.waits import AwaitIsr, Checkpoint
from oracle.vocabulary import BrokerId

if TYPE_CHECKING:
    from oracle.brokers.answers import SearchAnswer
    from oracle.brokers.questions import GuaranteeCell
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule

_ADDED = (AwaitHold, AwaitIsr, AwaitOutcome, Checkpoint)
"""Steps that a whole schedule has besides what happens (``with_awaits``)."""


REPLICAS_MAX = 5
"""The most replicas that steps are lifted to."""


def schedule_of_cell(rules: RuleSet, cell: GuaranteeCell, found: SearchAnswer) -> Schedule | None:
    """Return the schedule that shows the worst of a cell, or None if nothing is lost or no steps show it.

    Args:
        rules: the release's.
        cell: of as many replicas as one likes.
        found: the answer of the cell that was searched for it (``GuaranteeCell.searched``).
    """
    schedule = shown(question(rules, cell.searched), found)
    if schedule is None or cell == cell.searched:
        return schedule
    return lifted(schedule, cell.replicas, TopicSettings(cell.min_isr, cell.unclean), rules)


def lifted(schedule: Schedule, replicas: int, settings: TopicSettings, rules: RuleSet) -> Schedule | None:
    """Return the schedule that loses the record with more replicas, or None if the prediction does not.

    Args:
        schedule: loses an acknowledged record.
        replicas: how many the partition shall have.
        settings: the topic's then.
        rules: the release's.
    """
    further = [BrokerId(number) for number in range(len(schedule.replicas) + 1, replicas + 1)]
    partition = replace(schedule, replicas=(*schedule.replicas, *further), settings=settings, steps=())
    steps = (step for step in schedule.steps if not isinstance(step, _ADDED))
    return showing((*map(Kill, further), *steps), partition, rules, _worst(schedule, rules))


def _worst(schedule: Schedule, rules: RuleSet) -> PartitionDefect:
    found = defects(predict(schedule, rules))
    broken = PartitionDefect.PROMISE_BROKEN
    return broken if broken in found else PartitionDefect.ACKNOWLEDGED_LOST
