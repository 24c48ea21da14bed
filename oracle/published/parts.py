"""What is a state of the published replication modules made of? Small immutable parts.

The specification's state, part by part:

    leaderAndIsrRequests    one `Request` for each leader epoch, None while it has not been sent; none is ever lost
    quorumState             `Quorum`; the next leader epoch is its epoch plus one
    nextRecordId            a number
    replicaLog[r]           `Replica.log`
    replicaState[r]         the rest of `Replica`
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from oracle.log import NO_EPOCH, ReplicaLog
from oracle.vocabulary import BrokerId, LeaderEpoch, Offset

Isr: TypeAlias = frozenset[BrokerId]
LOG_START = Offset(0)


@dataclass(frozen=True, slots=True)
class Request:
    """A LeaderAndIsr request, named by its leader epoch: who leads, and who is in sync."""

    leader: BrokerId | None
    isr: Isr


@dataclass(frozen=True, slots=True)
class Quorum:
    """What the controller has decided last, but for the ISR, which the leader may have changed since."""

    isr: Isr
    leader: BrokerId | None = None
    leader_epoch: LeaderEpoch = NO_EPOCH


@dataclass(frozen=True, slots=True)
class Replica:
    """One replica: its log and what it believes.

    Attributes:
        broker: whose replica it is.
        log: what it stores.
        high_watermark: first offset that it does not know to be committed.
        leader_epoch: epoch of the request that it obeys.
        request: that request; None if it has seen none.
        isr: the ISR of that request; as leader, with its own changes.
    """

    broker: BrokerId
    log: ReplicaLog = field(default_factory=ReplicaLog)
    high_watermark: Offset = LOG_START
    leader_epoch: LeaderEpoch = NO_EPOCH
    request: Request | None = None
    isr: Isr = frozenset()

    @property
    def leader(self) -> BrokerId | None:
        """Whom it believes to lead."""
        return self.request.leader if self.request else None

    @property
    def presumes_leadership(self) -> bool:
        """Whether it accepts writes: it believes to be the leader, rightly or not."""
        return self.leader == self.broker

    @property
    def log_end_offset(self) -> Offset:
        """Offset of its next record."""
        return self.log.log_end_offset

    @property
    def epoch_start_offset(self) -> Offset:
        """First offset of its leader epoch's own records; the log end offset while there are none."""
        own = (n for n, entry in enumerate(self.log.entries) if entry.leader_epoch == self.leader_epoch)
        return Offset(next(own, self.log_end_offset))


def is_true_leader(quorum: Quorum, replica: Replica) -> bool:
    """Tell whether a replica that presumes to lead does so by the quorum's last word."""
    return quorum.leader == replica.broker and quorum.leader_epoch == replica.leader_epoch
