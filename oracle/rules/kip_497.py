"""Who commits an ISR change that a leader wants? From 2.7 the controller, on request.

While the request is under way the leader counts the maximal ISR (committed plus joining), so that
a replica the controller may already have added holds the high watermark back. Before, the leader
wrote the ISR to ZooKeeper itself, in one step.

Source: KIP-497, Partition.PartitionState. Versions: 2.7 and newer.

Mutant: writes-the-isr-itself, which a question between two steps notices.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

RULE = Rule(
    name="maximal-isr",
    source="KIP-497, AlterIsr / AlterPartition",
    versions="2.7 and newer",
    replaces=None,
    breaks="a replica the controller already counts does not hold the high watermark back",
)
