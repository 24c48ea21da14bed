"""How did a follower truncate before leader epochs? It cut its log to its own high watermark.

Because of it a follower that restarts, or gets a new leader, removes records that are committed
but whose commitment it has not heard of yet; elected next, it loses them (KAFKA-1211).

Source: ReplicaManager.makeFollowers up to 0.10.2.

Mutant: cuts-nothing, which the golden prediction of TR-02 notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.log import UNDEFINED, EpochEnd, ReplicaLog
from oracle.rules.rule import Rule
from oracle.rules.truncation import Truncation, TruncationPoint

if TYPE_CHECKING:
    from oracle.vocabulary import LeaderEpoch, Offset

RULE = Rule(
    name="truncate-to-high-watermark",
    source="KAFKA-1211, ReplicaManager.makeFollowers",
    says="A new follower cuts its log to its own high watermark.",
)


def cut_to_high_watermark(log: ReplicaLog, high_watermark: Offset, _answer: EpochEnd) -> TruncationPoint:
    """Cut to the replica's own high watermark, whatever a leader says."""
    return TruncationPoint(min(high_watermark, log.log_end_offset))


def knows_no_epochs(_log: ReplicaLog, _epoch: LeaderEpoch) -> EpochEnd:
    """Answer that the epoch is unknown: there is no epoch cache."""
    return UNDEFINED


TRUNCATION = Truncation(
    rule=RULE,
    cuts_to_high_watermark=True,
    asks_leader=False,
    asks_without_epochs=False,
    checks_on_fetch=False,
    end_offset_for=knows_no_epochs,
    cut=cut_to_high_watermark,
)
