"""In which order does a leader serve the partitions of a fetch session? One that had its turn moves to the end.

From 3.0 on that is a partition that gave records. Before, every partition of an answer moved, also one that is in it
for its new high watermark alone: where an answer is full, partitions behind others waited longer, though not for ever.

Source: KIP-227, KAFKA-12330, FetchSession.PartitionIterator at 2.8.1 and 3.0.0.

Mutant: moves-what-gave-no-records, which the examination FE-03/sessions notices.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

EVERY_ANSWERED = Rule(
    name="every-answered-partition-moves-to-the-end",
    source="KIP-227, FetchSession.PartitionIterator",
    says="In a fetch session every partition of an answer moves to the end of the leader's order.",
)
GAVE_RECORDS = Rule(
    name="partition-that-gave-records-moves-to-the-end",
    source="KAFKA-12330, FetchSession.PartitionIterator",
    says="In a fetch session a partition that gave records moves to the end of the leader's order.",
)


def every_answered(_has_records: bool) -> bool:  # noqa: FBT001 - shape of a rule
    """Move it whether it gave records or not."""
    return True


def that_gave_records(has_records: bool) -> bool:  # noqa: FBT001 - shape of a rule
    """Move it if it gave records."""
    return has_records
