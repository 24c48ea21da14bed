"""What is a state of the published replication modules made of? Small immutable parts.

The specification's state, part by part:

    leaderAndIsrRequests    one `LeaderAndIsrRequest` for each leader epoch, None until it is sent; none is ever lost
    quorumState             `Quorum`; the next leader epoch is its epoch plus one
    nextRecordId            a number
    replicaLog[r]           `SpecReplica.log`
    replicaState[r]         the rest of `SpecReplica`
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from oracle.explorer.factored import Field
from oracle.log import NO_EPOCH, ReplicaLog
from oracle.vocabulary import BrokerId, LeaderEpoch, Offset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.published.module import Constants


Isr: TypeAlias = frozenset[BrokerId]
LOG_START = Offset(0)


@dataclass(frozen=True, slots=True)
class LeaderAndIsrRequest:
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
class SpecReplica:
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
    request: LeaderAndIsrRequest | None = None
    isr: Isr = frozenset()

    @property
    def leader(self) -> BrokerId | None:
        """Whom it believes to lead."""
        return self.request.leader if self.request else None

    @property
    def presumes_leadership(self) -> bool:
        """Return whether it accepts writes: it believes to be the leader, rightly or not."""
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


def is_true_leader(quorum: Quorum, replica: SpecReplica) -> bool:
    """Return whether a replica that presumes to lead does so by the quorum's last word."""
    return quorum.leader == replica.broker and quorum.leader_epoch == replica.leader_epoch


# Where does each part of a replication module's state stand? The numbers of its fields.


@dataclass(frozen=True, slots=True)
class StateLayout:
    """The fields of a state: every replica, the next record, the quorum, and the request of each epoch."""

    constants: Constants

    @property
    def epochs(self) -> range:
        """Every leader epoch."""
        return range(self.constants.epochs + 1)

    def replica(self, broker: BrokerId) -> int:
        """Return the field of a broker's replica."""
        return broker - 1

    def pair(self, leader: BrokerId, follower: BrokerId) -> tuple[int, int]:
        """Return the fields of two replicas."""
        return self.replica(leader), self.replica(follower)

    @property
    def next_record(self) -> int:
        """Return the field of the next record."""
        return self.constants.replicas

    @property
    def quorum(self) -> int:
        """Return the field of the quorum's state."""
        return self.constants.replicas + 1

    def request(self, epoch: int) -> int:
        """Return the field of an epoch's request."""
        return self.quorum + 1 + epoch

    @property
    def requests(self) -> frozenset[int]:
        """Return the fields of all requests."""
        return frozenset(map(self.request, self.epochs))

    def fields(self) -> Iterator[Field]:
        """Yield the fields in the order of their numbers, with their initial parts."""
        brokers = self.constants.brokers
        requests = (len(brokers) + 1) << len(brokers)  # a leader or none, and a set of members
        for broker in brokers:
            yield Field(f"replica {broker}", self.constants.part_bits, SpecReplica(broker))
        yield Field("next record", self.constants.records.bit_length(), 0)
        yield Field("quorum", (requests * (len(self.epochs) + 1)).bit_length(), Quorum(frozenset(brokers)))
        for epoch in self.epochs:
            yield Field(f"request of epoch {epoch}", requests.bit_length(), None)
