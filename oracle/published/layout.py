"""Where does each part of a replication module's state stand? The numbers of its fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.explorer.factored import Field
from oracle.published.parts import Quorum, Replica

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.published.constants import Constants
    from oracle.vocabulary import BrokerId


@dataclass(frozen=True, slots=True)
class Layout:
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
        """The field of the next record."""
        return self.constants.replicas

    @property
    def quorum(self) -> int:
        """The field of the quorum's state."""
        return self.constants.replicas + 1

    def request(self, epoch: int) -> int:
        """Return the field of an epoch's request."""
        return self.quorum + 1 + epoch

    @property
    def requests(self) -> frozenset[int]:
        """The fields of all requests."""
        return frozenset(map(self.request, self.epochs))

    def fields(self) -> Iterator[Field]:
        """Yield the fields in the order of their numbers, with their initial parts."""
        brokers = self.constants.brokers
        requests = (len(brokers) + 1) << len(brokers)  # a leader or none, and a set of members
        for broker in brokers:
            yield Field(f"replica {broker}", self.constants.part_bits, Replica(broker))
        yield Field("next record", self.constants.records.bit_length(), 0)
        yield Field("quorum", (requests * (len(self.epochs) + 1)).bit_length(), Quorum(frozenset(brokers)))
        for epoch in self.epochs:
            yield Field(f"request of epoch {epoch}", requests.bit_length(), None)
