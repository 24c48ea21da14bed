"""What is a consumer answered, by which broker, and when? Fetches, offsets, and the order of a fetch session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import Offset

KIP_392 = Rule(
    name="followers-serve-consumers",
    source="KIP-392, ReplicaManager.fetchMessages",
    says="A follower serves consumers up to its high watermark.",
)
"""Which broker shows records to a consumer? The leader alone, and from 2.4 on followers as well.

A follower bounds what it shows by its own high watermark, which may lag behind the leader's. In 2.4 and 2.5 a leader
therefore answered a waiting fetch as soon as it had a higher high watermark to tell than the follower had been told,
records or not, and followers fetched half as often again (KAFKA-9731, KAFKA-9952).

Source: KIP-392, ReplicaManager.fetchMessages; KAFKA-9952, DelayedFetch.tryComplete (case H).

Mutant: followers-serve-nobody, which a consumer of a follower notices.
"""
HIGH_WATERMARK_PUSHED = Rule(
    name="high-watermark-is-pushed",
    source="KAFKA-9731, KAFKA-9952, DelayedFetch.tryComplete",
    says="A risen high watermark answers a waiting fetch without records.",
)


def waits_for_records(_told: Offset, _high_watermark: Offset) -> bool:
    """Let a waiting fetch wait for records, or for its time."""
    return False


def wakes_for_news(told: Offset, high_watermark: Offset) -> bool:
    """Answer a waiting fetch once there is a higher high watermark than the follower was told last."""
    return high_watermark > told


KIP_207 = Rule(
    name="latest-offset-waits-for-epoch-start",
    source="KIP-207, Partition.fetchOffsetForTimestamp",
    says="A new leader tells no latest offset until its high watermark reaches its epoch's start.",
)
"""What does a new leader answer to a consumer that asks for the latest offset? Not yet, from 2.2 on.

A new leader's high watermark may lag behind the one that consumers have seen already, until its followers have fetched
from it up to where its epoch starts. Up to 2.1 it answers that old high watermark, so that a consumer's latest offset
steps back; from 2.2 it answers OFFSET_NOT_AVAILABLE (LEADER_NOT_AVAILABLE to ListOffsets before version 5), and the
consumer asks again.

Mutant: tells-the-latest-offset-too-early, which a question between two steps notices.
"""


def latest_offset_at_once(_high_watermark: Offset, _epoch_start: Offset) -> bool:
    """Answer the high watermark as it is."""
    return True


def latest_offset_from_epoch_start(high_watermark: Offset, epoch_start: Offset) -> bool:
    """Answer once the high watermark has reached the start of the leader's epoch."""
    return high_watermark >= epoch_start


LOOKUP_ENDS_AT_HIGH_WATERMARK = Rule(
    name="lookup-by-time-ends-at-high-watermark",
    source="KIP-79, KafkaApis.handleOffsetRequestV1",
    says="A lookup by time may tell the record at the high watermark.",
)
"""Up to where does a consumer find records by time? Below the high watermark; up to 0.10.2 also the one at it.

Mutant: finds-by-time-what-is-not-committed, which a lookup before replication notices.
"""

BEYOND_END_AT_ONCE = Rule(
    name="fetch-beyond-the-end-is-answered-at-once",
    source="KAFKA-16452, DelayedFetch.tryComplete",
    says="A leader answers at once a fetch beyond the end that it may show, the high watermark for a consumer.",
)
"""How long does a consumer's fetch wait that asks beyond the high watermark? From 3.8 on it does not.

Up to 3.7 a fetch between the high watermark and the log end offset waits for its minimum of bytes until its time is
over. From 3.8 on the leader takes it for one that asks a leader which has truncated, and answers at once.

Source: KAFKA-16452, DelayedFetch.tryComplete at 3.7.2 and 3.8.0.

Mutant: lets-a-fetch-beyond-the-end-wait, which an examination of one broker notices.
"""


def beyond_end_waits(_offset: Offset, _end: Offset) -> bool:
    """Let it wait as any fetch that has not its minimum of bytes."""
    return False


def beyond_end_at_once(offset: Offset, end: Offset) -> bool:
    """Answer a fetch that asks beyond the end."""
    return offset > end


EVERY_ANSWERED_MOVES = Rule(
    name="every-answered-partition-moves-to-the-end",
    source="KIP-227, FetchSession.PartitionIterator",
    says="In a fetch session every partition of an answer moves to the end of the leader's order.",
)
"""In which order does a leader serve the partitions of a fetch session? One that had its turn moves to the end.

From 3.0 on that is a partition that gave records. Before, every partition of an answer moved, also one that is in it
for its new high watermark alone: where an answer is full, partitions behind others waited longer, though not for ever.

Source: KIP-227, KAFKA-12330, FetchSession.PartitionIterator at 2.8.1 and 3.0.0.

Mutant: moves-what-gave-no-records, which the examination FE-03/sessions notices.
"""
GAVE_RECORDS_MOVES = Rule(
    name="partition-that-gave-records-moves-to-the-end",
    source="KAFKA-12330, FetchSession.PartitionIterator",
    says="In a fetch session a partition that gave records moves to the end of the leader's order.",
)


def every_answered_moves(_has_records: bool) -> bool:
    """Move it whether it gave records or not."""
    return True


def gave_records_moves(has_records: bool) -> bool:
    """Move it if it gave records."""
    return has_records
