"""Which schedules leave a race open? One on every release, one that a release closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.steps.brokers import Kill, Start
from oracle.steps.frames import AwaitHold, ReleaseHold
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import Acks, BrokerId, PointName
from tests.oracle.schedules import ONE, THREE, TWO, hold, produce, schedule

if TYPE_CHECKING:
    from oracle.schedule import Schedule
    from oracle.steps.step import Step

FOUR = BrokerId(4)
ANSWER_OF_EITHER_SIDE = (
    hold("answer", PointName.FETCH_RESPONSE, follower=TWO, fetch_offset=1),
    produce("m0"),
    AwaitHold("answer"),
    hold("next", follower=TWO),
    ReleaseHold("answer"),
    AwaitHold("next"),
    Checkpoint("broker 2 has m0"),
)
"""Broker 2's answer says that m0 is committed only if broker 3's fetch came first: it commits m0 as the second one."""


def answer_before_or_after_the_second_fetch(*more: Step) -> Schedule:
    """Broker 2 knows that m0 is committed or it does not; then more steps."""
    return schedule(*ANSWER_OF_EITHER_SIDE, *more, replicas=(ONE, TWO, THREE), unclean=True)


def lost_or_kept() -> Schedule:
    """Broker 2 restarts and leads: up to 0.10.2 it has cut m0 if it did not know that m0 was committed."""
    return answer_before_or_after_the_second_fetch(
        Kill(TWO),
        hold("refetch", follower=TWO),
        Start(TWO),
        AwaitHold("refetch"),
        Kill(THREE),
        Kill(ONE),
        produce("m1"),
        Checkpoint("end"),
    )


def two_followers_report_to_a_new_leader() -> Schedule:
    """Brokers 3 and 4 have m1 and report it to broker 2, who also has m2: the second report commits m1."""
    return schedule(
        produce("m0"),
        hold("m1 of 3", follower=THREE, fetch_offset=2),
        hold("m1 of 4", follower=FOUR, fetch_offset=2),
        produce("m1", acks=Acks.LEADER),
        produce("m2", acks=Acks.LEADER),
        hold("next of 3", follower=THREE, leader=TWO, fetch_offset=3),
        hold("next of 4", follower=FOUR, leader=TWO, fetch_offset=3),
        Kill(ONE),
        Checkpoint("two followers of a new leader"),
        ReleaseHold("next of 3"),
        ReleaseHold("next of 4"),
        Checkpoint("end"),
        replicas=(ONE, TWO, THREE, FOUR),
    )
