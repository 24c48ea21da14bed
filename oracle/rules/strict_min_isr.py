"""What happens to the high watermark below min.insync.replicas? From 3.7 it stands still.

Before, a leader alone went on committing (acks=1 records became visible, parked acks=all produces
ended with NOT_ENOUGH_REPLICAS_AFTER_APPEND); those records are the ones a later election loses.
The minimum is since then at most the replication factor (a larger one refused every acks=all).

Source: KAFKA-15583, KIP-966, Partition.maybeIncrementLeaderHW.

Mutant: commits-below-min-isr, which the story strict-min-isr notices.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

RULE = Rule(
    name="high-watermark-needs-min-isr",
    source="KAFKA-15583, KIP-966, Partition.maybeIncrementLeaderHW",
    says="The high watermark stands still with fewer in-sync replicas than min.insync.replicas.",
)


def as_configured(min_insync_replicas: int, _replication_factor: int) -> int:
    """Return the minimum as it is configured, even if no ISR can ever be that large."""
    return min_insync_replicas


def at_most_all(min_insync_replicas: int, replication_factor: int) -> int:
    """Return the minimum, at most the replication factor."""
    return min(min_insync_replicas, replication_factor)
