"""What happens to the high watermark below min.insync.replicas? From 3.7 it stands still.

Before, a leader alone went on committing (acks=1 records became visible, parked acks=all produces
ended with NOT_ENOUGH_REPLICAS_AFTER_APPEND); those records are the ones a later election loses.

Source: KAFKA-15583, KIP-966, Partition.maybeIncrementLeaderHW. Versions: 3.7 and newer.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

RULE = Rule(
    name="high-watermark-needs-min-isr",
    source="KAFKA-15583, KIP-966, Partition.maybeIncrementLeaderHW",
    versions="3.7 and newer",
    replaces=None,
    breaks="records become visible while fewer than min.insync.replicas replicas hold them",
)


def may_advance(isr_size: int, min_insync_replicas: int, replication_factor: int) -> bool:
    """Tell whether the high watermark may advance with this many in-sync replicas."""
    return isr_size >= min(min_insync_replicas, replication_factor)


def always_advances(_isr_size: int, _min_insync_replicas: int, _replication_factor: int) -> bool:
    """Advance whatever the ISR's size: releases before 3.7."""
    return True
