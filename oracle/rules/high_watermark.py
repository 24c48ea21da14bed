"""When does a leader raise its high watermark, and who holds it back? What its followers are told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.replication.remote import RemoteReplica

CHECKED_ON_EVERY_FETCH = Rule(
    name="every-fetch-checks-high-watermark",
    source="KAFKA-8841, Partition.maybeExpandIsr",
    says="Every fetch may raise the high watermark, also one that moves nothing.",
)
"""When does a leader look whether its high watermark may rise? On appends, fetches and ISR changes.

It need not look at every fetch: one that reports the same end offset cannot raise it, unless a replica that held it
back has meanwhile lagged for too long. Up to 2.3 every fetch is a look (KAFKA-8841), so such a high watermark rises on
an idle partition too; from 2.4 it waits for the next record. While the leader asks the controller to shrink the ISR
the old one still counts, so the answer is the moment to look: 2.7 to 3.0 forgot that, and acks=all producers on an
otherwise idle partition wait until they time out (KAFKA-13091).

Source: Partition.updateFollowerFetchState, handleAlterIsrUpdate.

Mutant: forgets-to-look-after-a-shrink, which the story kafka-13091-on-3.1 notices.
"""
NOT_CHECKED_ON_SHRINK = Rule(
    name="shrink-does-not-raise-high-watermark",
    source="KAFKA-13091, Partition.handleAlterIsrUpdate",
    says="The leader does not look at its high watermark when its ISR has shrunk.",
)

EVERY_CAUGHT_UP = Rule(
    name="caught-up-replica-holds-high-watermark",
    source="Partition.maybeIncrementLeaderHW",
    says="Every caught-up replica outside the ISR holds the high watermark back.",
)
"""Which replicas outside the ISR hold the high watermark back? Those that are caught up.

Otherwise a follower that returns would chase a high watermark that runs ahead of it. From 3.6 a replica that could not
join the ISR no longer counts (KAFKA-15021): one whose broker is not registered, or in KRaft mode fenced, or not yet
seen since its broker's start.

Up to 3.2 a new epoch of the same leader counts as a fetch of every follower, so that a removed replica which returns
at the leader's end of that moment is caught up at once; from 3.3 only for members of the ISR.

Source: Partition.maybeIncrementLeaderHW, Replica.resetReplicaState.

Mutant: waits-for-nobody, which the story caught-up-on-2.8 notices.
"""
REGISTERED_CAUGHT_UP = Rule(
    name="registered-caught-up-replica-holds-high-watermark",
    source="KAFKA-15021, Partition.isReplicaIsrEligible",
    says="A caught-up replica outside the ISR holds the high watermark back if its broker is registered.",
)
ELIGIBLE_CAUGHT_UP = Rule(
    name="eligible-caught-up-replica-holds-high-watermark",
    source="KAFKA-15021, Partition.isReplicaIsrEligible",
    says="A caught-up replica outside the ISR holds the high watermark back if it may join the ISR.",
)

TRUSTED_ON_RE_ELECTION = Rule(
    name="new-epoch-of-the-same-leader-counts-as-fetch",
    source="Partition.makeLeader, Replica.resetLastCaughtUpTime",
    says="A new epoch of the same leader counts as a fetch of every follower.",
)


def every_caught_up(remote: RemoteReplica, _is_registered: bool) -> bool:
    """Wait for each caught-up replica."""
    return remote.is_caught_up


def registered_caught_up(remote: RemoteReplica, is_registered: bool) -> bool:
    """Wait for a caught-up replica whose broker is registered."""
    return remote.is_caught_up and is_registered


def eligible_caught_up(remote: RemoteReplica, is_registered: bool) -> bool:
    """Wait for a caught-up replica whose broker is not fenced and has fetched since it started."""
    return remote.is_caught_up and is_registered and remote.is_this_incarnation


NEEDS_MIN_ISR = Rule(
    name="high-watermark-needs-min-isr",
    source="KAFKA-15583, KIP-966, Partition.maybeIncrementLeaderHW",
    says="The high watermark stands still with fewer in-sync replicas than min.insync.replicas.",
)
"""What happens to the high watermark below min.insync.replicas? From 3.7 it stands still.

Before, a leader alone went on committing (acks=1 records became visible, parked acks=all produces ended with
NOT_ENOUGH_REPLICAS_AFTER_APPEND); those records are the ones a later election loses. The minimum is since then at most
the replication factor (a larger one refused every acks=all).

Mutant: commits-below-min-isr, which the story strict-min-isr notices.
"""


def min_isr_as_configured(min_insync_replicas: int, _replication_factor: int) -> int:
    """Return the minimum as it is configured, even if no ISR can ever be that large."""
    return min_insync_replicas


def min_isr_at_most_all(min_insync_replicas: int, replication_factor: int) -> int:
    """Return the minimum, at most the replication factor."""
    return min(min_insync_replicas, replication_factor)


ANSWERED_AFTER_UPDATE = Rule(
    name="immediate-response-carries-new-high-watermark",
    source="KAFKA-5758, KAFKA-7104",
    says="An immediate fetch response carries the high watermark that this fetch has raised.",
)
"""Which high watermark does an immediate fetch response carry? The one before its own update.

In 1.0.0, 1.0.1 and 1.1.0 it was the one after: newer than the records in the same answer.

Source: KAFKA-5758, reverted by KAFKA-7104 (1.0.2, 1.1.1, 2.0.0); ReplicaManager.fetchMessages.

Mutant: answers-the-new-high-watermark, which the story kafka-5758-on-1.1.1 notices.
"""
