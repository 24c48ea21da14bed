"""What does a truncation rule decide? The shape that each truncation module fills in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.log import EpochEnd, ReplicaLog
    from oracle.rules.rule import Rule
    from oracle.vocabulary import LeaderEpoch, Offset


@dataclass(frozen=True, slots=True)
class TruncationPoint:
    """Where a follower cuts its log, and whether it may fetch afterwards or must ask again."""

    offset: Offset
    is_final: bool = True


@dataclass(frozen=True, slots=True)
class Truncation:
    """How a follower makes its log a prefix of its leader's.

    Attributes:
        cuts_to_high_watermark: cut at once on becoming follower, asking nobody.
        asks_leader: look the last epoch up with OffsetsForLeaderEpoch before the first fetch.
        asks_without_epochs: even if the follower has no epoch to ask about (KAFKA-6859).
        checks_on_fetch: the leader compares the last fetched epoch and answers a diverging epoch.
        end_offset_for: the leader's answer about an epoch.
        cut: the follower's cut from (own log, where to cut if the leader cannot tell, leader's answer).
        stamps_epochs: batches carry the leader epoch they were written in.
    """

    rule: Rule
    cuts_to_high_watermark: bool
    asks_leader: bool
    asks_without_epochs: bool
    checks_on_fetch: bool
    end_offset_for: Callable[[ReplicaLog, LeaderEpoch], EpochEnd]
    cut: Callable[[ReplicaLog, Offset, EpochEnd], TruncationPoint]
    stamps_epochs: bool = True

    def looks_up(self, log: ReplicaLog) -> bool:
        """Return whether a follower with this log asks before it fetches."""
        return self.asks_leader and (self.asks_without_epochs or bool(log.epochs))

    def cuts_at_once(self, log: ReplicaLog) -> bool:
        """Return whether a follower with this log cuts to its high watermark, having no epoch to ask or tell about."""
        return self.cuts_to_high_watermark or not (self.stamps_epochs or self.asks_without_epochs or log.epochs)
