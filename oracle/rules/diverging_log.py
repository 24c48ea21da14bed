"""What else becomes of a replica whose log is not its leader's? It may end, expose too much, or keep too much."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import Offset

AHEAD_GIVES_UP = Rule(
    name="ahead-of-leader-gives-up",
    source="KAFKA-7414",
    says="A follower ahead of its leader ends its broker unless unclean election is on.",
)
"""What does a follower do whose log ends after its leader's? It cuts; in old releases only with unclean election on.

Without it a follower up to 2.0.0 would rather end than lose records. From 0.11 on its fetcher throws FatalExitError,
and its thread calls System.exit: the shutdown hook runs, so the process ends as by SIGTERM. It hands its leaderships
over, leaves the ISR, writes its checkpoints and closes its session at once; nobody waits for a timeout. A broker that
has ended so does so again when it is started, unless its leader's log has grown past its own meanwhile.

In 0.10 the fetcher calls System.exit itself, under the lock of its partitions. The hook hands the leaderships over,
which takes the broker out of the ISR, and closes the ports; then it waits for the request handlers, one of which waits
for that lock with the StopReplica of this very shutdown. So the process stays, with its ports closed and its session
open: its registration stands until somebody ends the process, no more checkpoints are owed to anybody, and the log is
not closed in order.

The topic's own setting counts, else the one in the broker's file; where unclean election is on, the rule says nothing.
KAFKA-7414 let every follower cut.

Source: ReplicaFetcherThread.handleOffsetOutOfRange, ShutdownableThread.run, Kafka.main, KafkaServer.shutdown,
AbstractFetcherThread.removePartitions; KAFKA-7414.

Mutant: goes-on-although-ahead, which cuts although unclean election is off.
Mutant: ends-in-order-although-it-hangs, which gets to the end of its shutdown in 0.10.2.
"""
AHEAD_HANGS = Rule(
    name="broker-that-gives-up-hangs",
    source="ShutdownableThread.run, KafkaServer.shutdown of 0.10.2",
    says="A broker that ends because it is ahead of its leader closes its ports and hangs.",
)


class WhenAhead(StrEnum):
    """What becomes of a follower that is ahead of its leader while unclean election is off."""

    CUTS = "it cuts its log to its leader's end"
    BROKER_HANGS = "its broker leaves the ISR, closes its ports and hangs"
    BROKER_ENDS = "its broker ends in good order"


DIVERGING_FETCH_COUNTED = Rule(
    name="diverging-fetch-is-counted",
    source="KAFKA-13141",
    says="A leader counts the offset of a diverging fetch as its follower's log end offset.",
)
"""What else happens when a fetch turns out to diverge? Nothing; in a few releases too much.

2.8.0's leader recorded the diverging follower's fetch offset (KAFKA-13141), so that its high watermark counted records
the follower did not share. Up to 3.4.0 the follower took the leader's high watermark before it cut its log
(KAFKA-14704), and so exposed records that were never committed.

Source: ReplicaManager.updateFollowerFetchState, AbstractFetcherThread.processFetchRequest.

Mutant: counts-a-diverging-fetch, which loses an acknowledged record by a clean election.
"""
HIGH_WATERMARK_BEFORE_CUT = Rule(
    name="high-watermark-before-cut",
    source="KAFKA-14704",
    says="A diverging follower takes its leader's high watermark before it cuts its log.",
)

HIGH_WATERMARK_LEFT_BELOW = Rule(
    name="high-watermark-left-below-log-start",
    source="KAFKA-9491, Log.truncateFullyAndStartAt",
    says="A replica that empties its log and begins at a later offset keeps its old high watermark.",
)
"""Where is the high watermark of a follower whose log was emptied? Where its log begins anew.

A follower whose log ends before its leader's begins throws all of it away and begins where the leader does. In 2.4.0
its high watermark stayed below, where there is nothing: a leader looks its high watermark up in its log, so such a
replica took the leadership, and every record it was sent, with OFFSET_OUT_OF_RANGE, until it had fetched once.

Source: KAFKA-9491, Log.truncateFullyAndStartAt, Log.updateLogStartOffset.

Mutant: high-watermark-left-below-the-start, which a question between two steps notices.
"""


def moved_to_start(high_watermark: Offset, start: Offset) -> Offset:
    """Move the high watermark to where the log begins."""
    return max(high_watermark, start)


def left_below(high_watermark: Offset, _start: Offset) -> Offset:
    """Leave the high watermark where it was."""
    return high_watermark


STOPPING_LEADER_CUTS = Rule(
    name="stopping-leader-cuts-to-high-watermark",
    source="ControlledShutdownLeaderSelector, ReplicaManager.makeFollowers",
    says="A leader that stops gracefully cuts its log to its high watermark.",
)
"""What becomes of the log of a leader that stops gracefully? It follows its successor for a moment, then exits.

A ZooKeeper-era controller moves the leadership before it lets the broker go, and tells it so like everybody else. Up
to 0.10.2 becoming a follower cuts the log to the high watermark at once, and that is what stays on the disk. Later a
follower asks its leader first, and exits before it has the answer: the log stays as it was. Without a successor in the
ISR nothing moves.

Measured: 0.10.2.2 cuts, 2.0.1 and 2.8.2 keep. Sources: ControlledShutdownLeaderSelector,
KafkaServer.controlledShutdown, ReplicaManager.makeFollowers.

Mutant: stopping-leader-cuts-its-log, which the story stopping-leader-on-0.11 notices.
"""
STOPPING_LEADER_KEEPS = Rule(
    name="stopping-leader-keeps-its-log",
    source="KafkaServer.controlledShutdown, AbstractFetcherThread",
    says="A leader that stops gracefully keeps its log.",
)
