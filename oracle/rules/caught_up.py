"""Which replicas outside the ISR hold the high watermark back? Those that are caught up.

Otherwise a follower that returns would chase a high watermark that runs ahead of it. From 3.6 a
replica that could not join the ISR no longer counts (KAFKA-15021): one whose broker is not
registered, or in KRaft mode fenced, or not yet seen since its broker's start.

Up to 3.2 a new epoch of the same leader counts as a fetch of every follower, so that a removed
replica which returns at the leader's end of that moment is caught up at once; from 3.3 only for
members of the ISR.

Source: Partition.maybeIncrementLeaderHW, Replica.resetReplicaState.

Mutant: waits-for-nobody, which the story caught-up-on-2.8 notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.replication.remote import RemoteReplica

EVERY = Rule(
    name="caught-up-replica-holds-high-watermark",
    source="Partition.maybeIncrementLeaderHW",
    says="Every caught-up replica outside the ISR holds the high watermark back.",
)
REGISTERED = Rule(
    name="registered-caught-up-replica-holds-high-watermark",
    source="KAFKA-15021, Partition.isReplicaIsrEligible",
    says="A caught-up replica outside the ISR holds the high watermark back if its broker is registered.",
)
ELIGIBLE = Rule(
    name="eligible-caught-up-replica-holds-high-watermark",
    source="KAFKA-15021, Partition.isReplicaIsrEligible",
    says="A caught-up replica outside the ISR holds the high watermark back if it may join the ISR.",
)

TRUSTED_ON_RE_ELECTION = Rule(
    name="new-epoch-of-the-same-leader-counts-as-fetch",
    source="Partition.makeLeader, Replica.resetLastCaughtUpTime",
    says="A new epoch of the same leader counts as a fetch of every follower.",
)


def every(remote: RemoteReplica, _is_registered: bool) -> bool:  # noqa: FBT001 - shape of a rule
    """Wait for each caught-up replica."""
    return remote.is_caught_up


def registered(remote: RemoteReplica, is_registered: bool) -> bool:  # noqa: FBT001 - shape of a rule
    """Wait for a caught-up replica whose broker is registered."""
    return remote.is_caught_up and is_registered


def eligible(remote: RemoteReplica, is_registered: bool) -> bool:  # noqa: FBT001 - shape of a rule
    """Wait for a caught-up replica whose broker is not fenced and has fetched since it started."""
    return remote.is_caught_up and is_registered and remote.is_this_incarnation
