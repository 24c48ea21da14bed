"""What does every release do? The rules that no change has touched, so that a prediction can cite them too.

Sources: kafka.cluster.Partition, ReplicaManager, AbstractFetcherThread; requirements HW-03 … HW-13, AC-02 … AC-05.

Mutant: leader-counts-only-itself, which the story nine-rows notices.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

LEADER_APPENDS = Rule(
    "leader-appends-first",
    "HW-05, ReplicaManager.appendRecords",
    "A leader appends a record before any follower has it.",
)
FOLLOWER_APPENDS = Rule(
    "follower-appends-what-it-fetched",
    "HW-04, ReplicaFetcherThread.processPartitionData",
    "A follower appends what it fetched, in its leader's order.",
)
HIGH_WATERMARK_OF_LEADER = Rule(
    "high-watermark-is-lowest-end-offset",
    "HW-07, HW-08, Partition.maybeIncrementLeaderHW",
    "A leader's high watermark is the lowest log end offset of its in-sync replicas.",
)
HIGH_WATERMARK_OF_FOLLOWER = Rule(
    "follower-learns-high-watermark-from-answer",
    "HW-06, ReplicaFetcherThread.processPartitionData",
    "A follower learns the high watermark from the answers to its fetches.",
)
HIGH_WATERMARK_RESTORED = Rule(
    "high-watermark-is-restored-from-checkpoint",
    "HW-13, ReplicaManager.checkpointHighWatermarks",
    "A replica that restarts begins with the high watermark of its checkpoint file.",
)
ACKNOWLEDGED = Rule(
    "acks-decides-when-the-producer-is-answered",
    "AC-02, DelayedProduce",
    "A leader answers a producer when as many replicas as acks asks for have the record.",
)
REFUSED = Rule(
    "leader-refuses-without-enough-in-sync-replicas",
    "AC-04, Partition.appendRecordsToLeader",
    "A leader refuses acks=all with fewer in-sync replicas than min.insync.replicas.",
)
INVALID_ACKS = Rule(
    "acks-is-all-none-or-one", "AC-01, ReplicaManager.appendRecords", "A leader refuses acks other than all, 0 and 1."
)
NO_LEADER = Rule("nobody-to-send-to", "AC-07, MetadataCache", "Only the partition's leader takes a record.")
INDETERMINATE = Rule(
    "silence-is-no-refusal",
    "AC-03, AC-05, DelayedProduce",
    "A producer that got no answer does not know whether its record was written.",
)
OUT_OF_RANGE = Rule(
    "out-of-range-cuts-to-leader-end",
    "TR-09, AbstractFetcherThread.fetchOffsetAndTruncate",
    "A follower ahead of its leader cuts its log to its leader's end.",
)
RULES = tuple(rule for rule in [*vars().values()] if isinstance(rule, Rule))
"""Every release has them, so that no row of ``by_version`` does."""
