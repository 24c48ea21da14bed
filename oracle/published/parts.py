"""What is a state of the published replication modules made of? Small immutable parts.

The specification's state, part by part:

    leaderAndIsrRequests, nextLeaderEpoch   the history of `Request`s: request n has leader epoch n, so its length
                                            is the next epoch, and its last one is the quorum's leader and epoch
    quorumState.isr                         a frozenset
    nextRecordId                            a number
    replicaLog[r], replicaState[r]          one `Replica` each
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from oracle.log import NO_EPOCH, ReplicaLog
from oracle.vocabulary import BrokerId, LeaderEpoch, Offset

Isr: TypeAlias = frozenset[BrokerId]


@dataclass(frozen=True, slots=True)
class Request:
    """A LeaderAndIsr request; its leader epoch is its place in the history. It is never lost and never removed."""

    leader: BrokerId | None
    isr: Isr


History: TypeAlias = tuple[Request, ...]


@dataclass(frozen=True, slots=True)
class Replica:
    """One replica: its log and what it believes.

    Attributes:
        broker: whose replica it is.
        log: what it stores.
        high_watermark: first offset that it does not know to be committed.
        leader_epoch: of the last request that it followed, or NO_EPOCH.
        leader: whom it believes to lead.
        isr: the ISR of that request; as leader, with its own changes.
    """

    broker: BrokerId
    log: ReplicaLog = ReplicaLog()
    high_watermark: Offset = Offset(0)
    leader_epoch: LeaderEpoch = NO_EPOCH
    leader: BrokerId | None = None
    isr: Isr = frozenset()

    @property
    def presumes_leadership(self) -> bool:
        """Whether it accepts writes: it believes to be the leader, rightly or not."""
        return self.leader == self.broker

    @property
    def log_end_offset(self) -> Offset:
        """Offset of its next record."""
        return self.log.log_end_offset


def is_true_leader(history: History, replica: Replica) -> bool:
    """Tell whether a replica leads by the quorum's last word, and not by an older one."""
    is_current = replica.leader_epoch == len(history) - 1
    return replica.presumes_leadership and is_current and history[-1].leader == replica.broker


def epoch_start_offset(leader: Replica) -> Offset:
    """Return the first offset of the leader's own epoch; its log end offset if it has written nothing."""
    of_epoch = (n for n, entry in enumerate(leader.log.entries) if entry.leader_epoch == leader.leader_epoch)
    return Offset(next(of_epoch, leader.log_end_offset))
