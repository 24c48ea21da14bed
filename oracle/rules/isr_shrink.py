"""Which silent followers does the leader remove from the ISR? All; later only those behind its end.

The leader looks every half replica.lag.time.max.ms for followers that it has not seen caught up for
longer than that. Up to 2.0 it removes such a follower even if it has everything: on an idle
partition a late fetch alone shrinks the ISR, and an unclean end may follow. From 2.1 a follower
whose end is the leader's stays.

Source: Partition.getOutOfSyncReplicas, later ReplicaState.isCaughtUp.

Mutant: silent-but-equal-leaves, which the story lag-idle-follower-on-2.1 notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import Offset

SILENT = Rule(
    name="silent-replica-leaves-isr",
    source="Partition.getOutOfSyncReplicas",
    says="A follower that has not caught up for the lag time leaves the ISR, whatever it lacks.",
)
BEHIND = Rule(
    name="only-lagging-replica-leaves-isr",
    source="KAFKA-7152, Partition.isFollowerOutOfSync",
    says="A follower leaves the ISR only if it lacks records of its leader.",
)


def silent(_follower_end: Offset | None, _leader_end: Offset) -> bool:
    """Remove whoever was not caught up in time."""
    return True


def behind(follower_end: Offset | None, leader_end: Offset) -> bool:
    """Remove whoever was not caught up in time and does not have the leader's last record."""
    return follower_end != leader_end
