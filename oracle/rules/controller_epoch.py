"""Does a broker obey a controller that has been replaced? It must not: its decisions may be taken back already.

With ZooKeeper every request of a controller carries the controller's epoch. A broker remembers the
highest one it has seen, over all requests, and refuses LeaderAndIsr, StopReplica and UpdateMetadata
of a lower one (STALE_CONTROLLER_EPOCH). Within one controller epoch a partition's decision counts
only in a higher leader epoch. In KRaft mode the metadata log has one writer, and the question does
not arise.

Source: ReplicaManager.becomeLeaderOrFollower, stopReplicas, maybeUpdateMetadataCache.

Mutant: obeys-a-replaced-controller, which a question between two steps notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import LeaderEpoch

RULE = Rule(
    name="stale-controller-is-refused",
    source="ReplicaManager.becomeLeaderOrFollower",
    says="A broker refuses requests of a lower controller epoch than it has seen.",
)


def is_obeyed(request_epoch: int, highest_seen: int) -> bool:
    """Return whether a broker takes a request of a controller with this epoch."""
    return request_epoch >= highest_seen


def is_news(decided: LeaderEpoch, known: LeaderEpoch) -> bool:
    """Return whether a partition's decision counts for a broker that knows a leader epoch."""
    return decided > known
