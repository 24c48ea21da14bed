"""Kafka's own topics: how they are created, what they hold, and since when there are any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.audit.cluster import NotSeen
from oracle.vocabulary import CONSUMER_OFFSETS, TRANSACTION_STATE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.audit.cluster import BrokerSeen


@dataclass(frozen=True, slots=True)
class OwnTopic:
    """A topic that brokers create and write themselves.

    Attributes:
        factor: the broker setting that says with how many replicas it is created.
        content: what is lost with its records.
        request: the API key of a request that brokers speak where there can be such a topic; 0 of all.
    """

    factor: str
    content: str
    request: int = 0


OWN_TOPICS = {
    CONSUMER_OFFSETS: OwnTopic("offsets.topic.replication.factor", "committed offsets"),
    TRANSACTION_STATE: OwnTopic("transaction.state.log.replication.factor", "the state of transactions", 22),
    "__share_group_state": OwnTopic(
        "share.coordinator.state.topic.replication.factor", "the state of share groups", 76
    ),
}
"""By name. The requests are InitProducerId (KIP-98) and ShareGroupHeartbeat (KIP-932)."""


def possible(brokers: Sequence[BrokerSeen]) -> tuple[str, ...]:
    """Return those that a cluster can have, by what its brokers speak; of who does not tell that, all."""
    spoken = [one.speaks for one in brokers]
    return tuple(
        name
        for name, own in OWN_TOPICS.items()
        if any(isinstance(one, NotSeen) or own.request in one.requests for one in spoken)
    )
