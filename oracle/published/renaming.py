"""Which brokers may swap names? All of them in the replication modules; all but the leader in AsyncIsr."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from oracle.published.async_isr import ControllerState, IsrAt, LeaderState, Offsets, Requests
    from oracle.published.parts import Isr, Quorum, Replica, Request
    from oracle.vocabulary import BrokerId


@dataclass(frozen=True, slots=True)
class Names:
    """Other names of brokers."""

    of: Mapping[BrokerId, BrokerId]

    def isr(self, isr: Isr) -> Isr:
        """Rename the members of an ISR."""
        return frozenset(self.of[broker] for broker in isr)

    def leader(self, leader: BrokerId | None) -> BrokerId | None:
        """Rename a leader, if there is one."""
        return None if leader is None else self.of[leader]

    def request(self, request: Request | None) -> Request | None:
        """Rename the brokers of a request, if it has been sent."""
        return request and replace(request, leader=self.leader(request.leader), isr=self.isr(request.isr))

    def quorum(self, quorum: Quorum) -> Quorum:
        """Rename the brokers of the quorum's state."""
        return replace(quorum, leader=self.leader(quorum.leader), isr=self.isr(quorum.isr))

    def replica(self, replica: Replica) -> Replica:
        """Rename a replica and the brokers that it knows."""
        isr, request = self.isr(replica.isr), self.request(replica.request)
        return replace(replica, broker=self.of[replica.broker], request=request, isr=isr)

    def isr_at(self, one: IsrAt) -> IsrAt:
        """Rename the members of a versioned ISR."""
        return replace(one, isr=self.isr(one.isr))

    def requests(self, requests: Requests) -> Requests:
        """Rename the members of every ISR that was asked for."""
        return frozenset(map(self.isr_at, requests))

    def controller(self, controller: ControllerState) -> ControllerState:
        """Rename the members of every ISR that was written."""
        return replace(controller, written=tuple(map(self.isr_at, controller.written)))

    def leader_state(self, leader: LeaderState) -> LeaderState:
        """Rename the members that a leader knows and has asked for."""
        return replace(leader, known=self.isr_at(leader.known), pending=self.isr(leader.pending))

    def offsets(self, offsets: Offsets) -> Offsets:
        """Put every replica's offset where its broker's new name says."""
        renamed = sorted((self.of[broker], offsets[broker - 1]) for broker in self.of)
        return tuple(offset for _, offset in renamed)


def all_names(brokers: Sequence[BrokerId], fixed: int = 0) -> Iterator[Names]:
    """Yield every renaming that leaves the first ``fixed`` brokers as they are, the identity first."""
    for order in permutations(brokers[fixed:]):
        yield Names(dict(zip(brokers, (*brokers[:fixed], *order), strict=True)))
