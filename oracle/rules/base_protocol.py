"""What does every release do? The rules that no change has touched, so that a prediction can cite them too.

Sources: kafka.cluster.Partition, ReplicaManager, AbstractFetcherThread; requirements HW-03 … HW-13, AC-02 … AC-05.

Mutant: leader-counts-only-itself, which the story nine-rows notices.
"""

from __future__ import annotations

from oracle.rules.rule import Rule


def _rule(name: str, source: str, breaks: str) -> Rule:
    return Rule(name=name, source=source, versions="all", replaces=None, breaks=breaks)


LEADER_APPENDS = _rule(
    "leader-appends-first",
    "HW-05, ReplicaManager.appendRecords",
    "a follower has a record that its leader does not have",
)
FOLLOWER_APPENDS = _rule(
    "follower-appends-what-it-fetched",
    "HW-04, ReplicaFetcherThread.processPartitionData",
    "a replica never catches up with its leader",
)
HIGH_WATERMARK_OF_LEADER = _rule(
    "high-watermark-is-lowest-end-offset",
    "HW-07, HW-08, Partition.maybeIncrementLeaderHW",
    "a record is committed that an in-sync replica lacks",
)
HIGH_WATERMARK_OF_FOLLOWER = _rule(
    "follower-learns-high-watermark-from-answer",
    "HW-06, ReplicaFetcherThread.processPartitionData",
    "a follower exposes what is not committed",
)
HIGH_WATERMARK_RESTORED = _rule(
    "high-watermark-is-restored-from-checkpoint",
    "HW-13, ReplicaManager.checkpointHighWatermarks",
    "a restarted replica knows a high watermark that nobody told it",
)
ACKNOWLEDGED = _rule(
    "acks-decides-when-the-producer-is-answered",
    "AC-02, DelayedProduce",
    "a producer is told of a record that may still vanish",
)
REFUSED = _rule(
    "leader-refuses-without-enough-in-sync-replicas",
    "AC-04, Partition.appendRecordsToLeader",
    "a record is accepted with fewer copies than min.insync.replicas",
)
INVALID_ACKS = _rule(
    "acks-is-all-none-or-one",
    "AC-01, ReplicaManager.appendRecords",
    "a record is written although nobody knows what its producer waits for",
)
NO_LEADER = _rule("nobody-to-send-to", "AC-07, MetadataCache", "a record is accepted by a broker that does not lead")
INDETERMINATE = _rule(
    "silence-is-no-refusal",
    "AC-03, AC-05, DelayedProduce",
    "a producer takes a timeout for a refusal",
)
OUT_OF_RANGE = _rule(
    "out-of-range-cuts-to-leader-end",
    "TR-09, AbstractFetcherThread.fetchOffsetAndTruncate",
    "a follower that is ahead of its leader never fetches again",
)
