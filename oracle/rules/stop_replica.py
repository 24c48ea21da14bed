"""Does a broker stop a replica that the controller wants stopped? From 2.6 on only if it was decided late enough.

From 2.6 on StopReplica carries a leader epoch, so that one which was overtaken by a newer decision is refused
(FENCED_LEADER_EPOCH). Up to 3.4.0 one of the replica's own epoch was refused as well: a reassignment that was cancelled
raises no leader epoch, so the replicas that it had added stayed (KAFKA-13972). One without an epoch is obeyed.

Source: KIP-570, KAFKA-13972, ReplicaManager.stopReplicas.

Mutant: stops-in-a-newer-epoch-only, which a question between two steps notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.log import NO_EPOCH
from oracle.rules.controller_epoch import is_news
from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import LeaderEpoch

NEWER_EPOCH = Rule(
    name="stop-replica-of-a-newer-epoch",
    source="KIP-570, ReplicaManager.stopReplicas",
    says="A broker obeys StopReplica only of a newer leader epoch than its replica's.",
)
SAME_EPOCH = Rule(
    name="stop-replica-of-the-same-epoch",
    source="KAFKA-13972, ReplicaManager.stopReplicas",
    says="A broker obeys StopReplica of its replica's own leader epoch and of newer ones.",
)


def in_any_epoch(_decided: LeaderEpoch, _known: LeaderEpoch) -> bool:
    """Obey whatever epoch it was decided in."""
    return True


def in_a_newer_epoch(decided: LeaderEpoch, known: LeaderEpoch) -> bool:
    """Obey if it was decided after what the broker knows of the partition."""
    return decided == NO_EPOCH or is_news(decided, known)


def in_the_same_epoch(decided: LeaderEpoch, known: LeaderEpoch) -> bool:
    """Obey if nothing newer is known of the partition."""
    return decided == known or in_a_newer_epoch(decided, known)
