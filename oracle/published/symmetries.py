"""Which renamings of brokers leave a published model as it is, and which fields tell most brokers apart?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

from oracle.explorer.symmetry import Renaming
from oracle.published import async_isr
from oracle.published.parts import StateLayout

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from oracle.published.async_isr import ControllerState, IsrAt, LeaderState, Offsets, Requests
    from oracle.published.module import Constants
    from oracle.published.parts import Isr, LeaderAndIsrRequest, Quorum, SpecReplica
    from oracle.vocabulary import BrokerId


def of_replication(constants: Constants) -> tuple[tuple[Renaming, ...], frozenset[int]]:
    """Return the renamings of a replication module, and the fields to compare first."""
    layout = StateLayout(constants)
    names = all_names(constants.brokers)
    return tuple(_of_replicas(layout, one) for one in names), layout.requests | {layout.quorum, layout.next_record}


def _of_replicas(layout: StateLayout, names: Names) -> Renaming:
    replicas = {layout.replica(broker): layout.replica(other) for broker, other in names.of.items()}
    return Renaming(
        moves=replicas,
        renames={
            **dict.fromkeys(replicas, names.replica),
            **dict.fromkeys(layout.requests, names.request),
            layout.quorum: names.quorum,
        },
    )


def of_async_isr(constants: Constants) -> tuple[tuple[Renaming, ...], frozenset[int]]:
    """Return the renamings of AsyncIsr's followers, and the fields to compare first."""
    names = all_names(constants.brokers, fixed=async_isr.LEADER)
    head = frozenset({async_isr.CONTROLLER, async_isr.LEADER_STATE})
    return tuple(_of_followers(one) for one in names), head


def _of_followers(names: Names) -> Renaming:
    renames: dict[int, Callable[[Any], Hashable]] = {
        async_isr.CONTROLLER: names.controller,
        async_isr.LEADER_STATE: names.leader_state,
        async_isr.REQUESTS: names.requests,
        async_isr.OFFSETS: names.offsets,
    }
    return Renaming(moves={}, renames=renames)


# Which brokers may swap names? All of them in the replication modules; all but the leader in AsyncIsr.


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

    def request(self, request: LeaderAndIsrRequest | None) -> LeaderAndIsrRequest | None:
        """Rename the brokers of a request, if it has been sent."""
        return request and replace(request, leader=self.leader(request.leader), isr=self.isr(request.isr))

    def quorum(self, quorum: Quorum) -> Quorum:
        """Rename the brokers of the quorum's state."""
        return replace(quorum, leader=self.leader(quorum.leader), isr=self.isr(quorum.isr))

    def replica(self, replica: SpecReplica) -> SpecReplica:
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
