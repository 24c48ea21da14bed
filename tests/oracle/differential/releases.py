"""What does a release do? One dictionary of facts per release, each written down from Kafka's source.

Nothing here is taken from ``oracle.rules``: that table and this one are two readings of the same source.
"""

from __future__ import annotations

from typing import Any

Facts = dict[str, Any]


def facts_of(version: str, metadata: str, *, eligible_leader_replicas: bool | None = None) -> Facts:
    """Return the facts of a release, such as ("2.8.2", "zookeeper")."""
    v = tuple(int(part) for part in version.split("."))
    kraft = metadata == "kraft"
    elr_default = kraft and v >= (4, 1)
    return {
        "version": v,
        "kraft": kraft,
        "old_format": False,
        # Replica.updateFetchStateOrThrow looks at the broker epoch, which only KRaft's fetches carry (KAFKA-15221).
        "fences_broker_epoch": kraft and v >= (3, 7),
        # KIP-724: from 3.0 on message.format.version is ignored.
        "heeds_format": v < (3, 0),
        # Log.maybeAssignEpochStartOffset has no cache to write to in an old format, from KAFKA-7897 on.
        "elects_in_any_format": v < (2, 1, 1),
        "elr": elr_default if eligible_leader_replicas is None else eligible_leader_replicas,
        # PartitionChangeBuilder.canElectLastKnownLeader answers yes whoever lives, up to KAFKA-19522.
        "elects_absent": v < (4, 1),
        **_truncation_facts(v),
        **_high_watermark_facts(v, kraft=kraft),
        **_controller_facts(v, kraft=kraft),
    }


def _truncation_facts(v: tuple[int, ...]) -> Facts:
    return {
        # ReplicaManager.makeFollowers up to 0.10.2 cuts to the high watermark; KIP-101 asks the leader first.
        "cuts_to_high_watermark": v < (0, 11),
        # ReplicaFetcherThread asks OffsetsForLeaderEpoch until fetches carry the last epoch (KAFKA-10554).
        "asks": (0, 11) <= v < (2, 8),
        # ReplicaFetcherThread.buildLeaderEpochRequest: a follower asked with epoch -1, until KAFKA-6859.
        "asks_without_epoch": (0, 11) <= v < (2, 1),
        # KIP-279, OffsetsForLeaderEpoch v1: the answer names an epoch.
        "answers_epoch": v >= (2, 0),
        # KAFKA-7415: entry at the election, conflicting entries dropped, answers below the first entry.
        "epoch_at_election": v >= (2, 0, 1),
        # LeaderEpochFileCache.endOffsetFor compares with the latest epoch first, even if both are none (KAFKA-6857).
        "tells_end_of_no_epoch": v in ((0, 11, 0, 0), (0, 11, 0, 1), (0, 11, 0, 2), (1, 0, 0), (1, 0, 1), (1, 1, 0)),
        # Log.truncateTo with nothing to cut: up to 2.6.0 it leaves the epoch cache alone (KAFKA-10706).
        "trims_epochs_always": v >= (2, 6, 1),
        # KIP-595: a fetch names its last epoch and the answer may be a diverging epoch.
        "fetch_names_epoch": v >= (2, 8),
        # Partition.makeFollower: same leader id, whatever the epoch; KAFKA-7164: at most one epoch on; KIP-320: never.
        "same_leader_gap": None if v < (2, 0, 1) else 1 if v < (2, 1) else 0,
        # ReplicaFetcherThread.initiateShutdown closes the connection; before, its shutdown waits (KAFKA-6051).
        "closes_former_fetch": v >= (1, 1),
        # handleOffsetOutOfRange exits if unclean election is off, until KAFKA-7414; in 0.10 the hook waits for the
        # lock that the exit was called under.
        "when_ahead": "hangs" if v < (0, 11) else "ends" if v < (2, 0, 1) else "cuts",
        # KIP-320: requests carry the current leader epoch.
        "fences": v >= (2, 1),
        "drops_old_lookup": v >= (2, 1, 1),  # KAFKA-7786: also FENCED_LEADER_EPOCH, else onPartitionFenced removes it
        "drops_old_fetch": (3, 9, 1) <= v < (4, 0) or v >= (4, 0, 1),  # KAFKA-18991
        "counts_diverging": v == (2, 8, 0),  # KAFKA-13141
        "high_watermark_before_cut": (2, 8) <= v < (3, 4, 1),  # KAFKA-14704
    }


def in_old_format(facts: Facts) -> Facts:
    """Return a release's facts for a topic whose records have no room for an epoch, where it looks at the format.

    Log.appendAsLeader and appendAsFollower assign an epoch from a batch of magic 2 only; up to KAFKA-7897
    Partition.makeLeader assigns one all the same.
    """
    if not facts["heeds_format"]:
        return facts
    notes_elections = facts["epoch_at_election"] and facts["elects_in_any_format"]
    return {**facts, "old_format": True, "epoch_at_election": notes_elections}


def _high_watermark_facts(v: tuple[int, ...], *, kraft: bool) -> Facts:
    return {
        # FetchSession.CachedPartition.maybeUpdateResponseData leaves out what it has told (KIP-227).
        "tells_once": v >= (1, 1),
        "epoch_in_session": not (2, 1) <= v < (2, 5),  # KAFKA-9338
        "answers_updated": v in ((1, 0, 0), (1, 0, 1), (1, 1, 0)),  # KAFKA-5758, KAFKA-7104
        # Partition.maybeExpandIsr: from KAFKA-7128 on also the epoch's start offset.
        "joins_at_epoch_start": v >= (2, 0, 1),
        # Which replica the controller lets join: KIP-841 refuses a fenced broker, KIP-903 one of an earlier start.
        "joins": "any" if v < (3, 3) else "this incarnation" if kraft and v >= (3, 5) else "alive",
        # Partition.maybeIncrementLeaderHW stands still under min ISR; the minimum is capped (KAFKA-15583).
        "needs_min_isr": v >= (3, 7),
        # getOutOfSyncReplicas exempts a follower at the leader's end (KAFKA-7152).
        "equal_end_stays": v >= (2, 1),
        # handleAlterIsrUpdate raised nothing until KAFKA-13091; a leader that writes the ISR itself does.
        "rises_after_shrink": not (2, 7) <= v < (3, 1),
        # updateFollowerFetchState looks at the high watermark only if the follower's end has moved.
        "rises_only_with_end": v >= (2, 4),
        # Which caught-up replica outside the ISR holds the high watermark back (isReplicaIsrEligible, KAFKA-15021).
        "waits_for": "any" if v < (3, 6) else "this incarnation" if kraft else "alive",
        # Replica.resetReplicaState sets the last fetch time of every follower up to 3.2, later of ISR members only.
        "resets_fetch_time_of_all": v < (3, 3),
    }


def _controller_facts(v: tuple[int, ...], *, kraft: bool) -> Facts:
    return {
        # Partition.expandIsr writes to ZooKeeper in one step; AlterIsr / AlterPartition asks (KIP-497).
        "asks_controller": v >= (2, 7),
        # PartitionChangeBuilder: leader epoch bump on ISR shrink before metadata version 3.6-IV0; ZooKeeper always.
        "shrink_bumps_epoch": not kraft or v < (3, 6),
        # KafkaController.removeReplicaFromIsr up to 1.0: with unclean election the last member leaves too.
        "empties_isr_if_unclean": v < (1, 1),
        # ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic answers no up to 3.8 (KAFKA-12670).
        "heeds_unclean_setting": not kraft or v >= (3, 9),
    }
