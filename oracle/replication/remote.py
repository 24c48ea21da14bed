"""What does a leader know about a follower? Its log end offset, and whether it counts as caught up.

A follower outside the ISR that is caught up holds the high watermark back as ISR members do (HW-08). Kafka decides it
by the clock: caught up within replica.lag.time.max.ms. The model has no clock: every moment of being caught up still
counts until a new leader epoch resets it, or until the event that the lag time has passed.

Sources: kafka.cluster.Replica (updateFetchState, resetReplicaState); IS-03, HW-08.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.replacing import replace

if TYPE_CHECKING:
    from oracle.vocabulary import BrokerId, Offset


@dataclass(frozen=True, slots=True)
class RemoteReplica:
    """A leader's copy of a follower's progress.

    Attributes:
        log_end_offset: offset of its last fetch; None before the first in this leadership.
        leader_end_before: the leader's log end offset at the follower's previous fetch.
        has_recent_fetch: whether that previous fetch has a time that still counts.
        is_caught_up: whether it had everything at a moment that still counts.
        is_this_incarnation: whether it has fetched since its broker last started (KIP-903).
    """

    broker: BrokerId
    log_end_offset: Offset | None = None
    leader_end_before: Offset | None = None
    has_recent_fetch: bool = False
    is_caught_up: bool = False
    is_this_incarnation: bool = False

    def fetched(self, offset: Offset, leader_end: Offset) -> RemoteReplica:
        """Record a fetch: at the leader's end now, or at its end of the previous fetch (IS-03)."""
        has_reached_previous = self.leader_end_before is not None and offset >= self.leader_end_before
        has_caught_up = offset >= leader_end or (has_reached_previous and self.has_recent_fetch)
        return RemoteReplica(
            broker=self.broker,
            log_end_offset=offset,
            leader_end_before=leader_end,
            has_recent_fetch=True,
            is_caught_up=self.is_caught_up or has_caught_up,
            is_this_incarnation=True,
        )

    def in_new_epoch(self, leader_end: Offset, *, is_in_sync: bool, trusts_last_fetch: bool) -> RemoteReplica:
        """Start anew when the same leader leads on in a new epoch; the end offset is kept."""
        return replace(
            self,
            leader_end_before=leader_end,
            has_recent_fetch=is_in_sync or trusts_last_fetch,
            is_caught_up=is_in_sync,
        )

    def lagged(self) -> RemoteReplica:
        """Forget when it was caught up and when it fetched: both are longer ago than the lag time."""
        return replace(self, has_recent_fetch=False, is_caught_up=False)

    def restarted(self) -> RemoteReplica:
        """Remember that its broker has started again: this one is another incarnation."""
        return replace(self, is_this_incarnation=False)
