"""What does a controller decide? The shape that each controller's rules fill in.

Mutant: elects-a-dead-replica, which the story elr-off notices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oracle.vocabulary import LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from oracle.rules.rule import Rule
    from oracle.schedule import TopicSettings
    from oracle.state import ControllerView
    from oracle.vocabulary import BrokerId


@dataclass(frozen=True, slots=True)
class ElectedPartition:
    """What a controller decides about: the assignment and the topic's settings."""

    assignment: tuple[BrokerId, ...]
    settings: TopicSettings


@dataclass(frozen=True, slots=True)
class ElectionRules:
    """A controller's reactions, each from its view to its next view.

    Attributes:
        removed: a broker's registration is gone (session expired, fenced, controlled shutdown).
        returned: a broker is registered and unfenced again; the flag says whether it had shut down cleanly.
        joined: a leader's wish to add replicas to the ISR is committed.
        left: a leader's wish to remove replicas from the ISR is committed.
        elect: a leader for a partition that has none.
        heeding: the same with an eye on unclean.leader.election.enable, if these have none (KAFKA-12670).
    """

    rule: Rule
    removed: Callable[[ControllerView, ElectedPartition, BrokerId], ControllerView]
    returned: Callable[[ControllerView, ElectedPartition, BrokerId, bool], ControllerView]
    joined: Callable[[ControllerView, ElectedPartition, BrokerId], ControllerView]
    left: Callable[[ControllerView, ElectedPartition, Collection[BrokerId]], ControllerView]
    elect: Callable[[ControllerView, ElectedPartition], ControllerView]
    heeding: ElectionRules | None = None


def with_leader(view: ControllerView, leader: BrokerId, *, clean: bool) -> ControllerView:
    """Return the view with a new leader in the next leader epoch."""
    view = bumped(replace(view, leader=leader))
    return replace(view, leaderships=(*view.leaderships, (view.leader_epoch, leader, clean)))


def bumped(view: ControllerView) -> ControllerView:
    """Return the view in the next leader epoch."""
    return replace(view, leader_epoch=LeaderEpoch(view.leader_epoch + 1))


def re_elected(
    view: ControllerView,
    partition: ElectedPartition,
    elect: Callable[[ControllerView, ElectedPartition], ControllerView],
) -> ControllerView:
    """Return the view after its leader is gone: with another one, or with none, one epoch on."""
    view = replace(view, leader=None)
    elected = elect(view, partition)
    return bumped(view) if elected.leader is None else elected


def first_live(partition: ElectedPartition, view: ControllerView, among: Collection[BrokerId]) -> BrokerId | None:
    """Return the first registered replica in assignment order that is ``among`` (EL-04)."""
    live = (b for b in partition.assignment if b in view.registered and b in among)
    return next(live, None)
