"""What does a follower do whose log ends after its leader's? It cuts; in old releases only with unclean election on.

Without it a follower up to 2.0.0 would rather end than lose records. From 0.11 on its fetcher throws
FatalExitError, and its thread calls System.exit: the shutdown hook runs, so the process ends as by SIGTERM. It hands
its leaderships over, leaves the ISR, writes its checkpoints and closes its session at once; nobody waits for a
timeout. A broker that has ended so does so again when it is started, unless its leader's log has grown past its own
meanwhile.

In 0.10 the fetcher calls System.exit itself, under the lock of its partitions. The hook hands the leaderships over,
which takes the broker out of the ISR, and closes the ports; then it waits for the request handlers, one of which waits
for that lock with the StopReplica of this very shutdown. So the process stays, with its ports closed and its session
open: its registration stands until somebody ends the process, no more checkpoints are owed to anybody, and the log is
not closed in order.

The topic's own setting counts, else the one in the broker's file. KAFKA-7414 let every follower cut.

Source: ReplicaFetcherThread.handleOffsetOutOfRange, ShutdownableThread.run, Kafka.main, KafkaServer.shutdown,
AbstractFetcherThread.removePartitions; KAFKA-7414.

Mutant: goes-on-although-ahead, which cuts although unclean election is off.

Mutant: ends-in-order-although-it-hangs, which gets to the end of its shutdown in 0.10.2.
"""

from __future__ import annotations

from enum import StrEnum

from oracle.rules.rule import Rule

GIVES_UP = Rule(
    name="ahead-of-leader-gives-up",
    source="KAFKA-7414",
    says="A follower ahead of its leader ends its broker unless unclean election is on.",
)
"""It says nothing where unclean election is on."""
HANGS = Rule(
    name="broker-that-gives-up-hangs",
    source="ShutdownableThread.run, KafkaServer.shutdown of 0.10.2",
    says="A broker that ends because it is ahead of its leader closes its ports and hangs.",
)


class WhenAhead(StrEnum):
    """What becomes of a follower that is ahead of its leader while unclean election is off."""

    CUTS = "it cuts its log to its leader's end"
    BROKER_HANGS = "its broker leaves the ISR, closes its ports and hangs"
    BROKER_ENDS = "its broker ends in good order"
