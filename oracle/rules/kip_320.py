"""Who refuses a request from another epoch? From 2.1 the leader fences it.

Without it a follower or client that believes in another leader epoch is served, so a zombie can
move the high watermark or read records that were never committed (KAFKA-6880, KAFKA-7395).

Source: KIP-320, Partition.checkCurrentLeaderEpoch.

Mutant: serves-an-older-epoch, which the story request-across-epochs notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import LeaderEpoch

RULE = Rule(
    name="fence-leader-epoch",
    source="KIP-320, Partition.checkCurrentLeaderEpoch",
    says="A leader answers no request of another leader epoch.",
)


def is_served(request_epoch: LeaderEpoch, leader_epoch: LeaderEpoch) -> bool:
    """Return whether a leader in ``leader_epoch`` serves a request that carries ``request_epoch``."""
    return request_epoch == leader_epoch


def serves_any_epoch(_request_epoch: LeaderEpoch, _leader_epoch: LeaderEpoch) -> bool:
    """Serve every request: releases before 2.1 do not look at the epoch."""
    return True
