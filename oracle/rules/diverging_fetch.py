"""What else happens when a fetch turns out to diverge? Nothing; in a few releases too much.

2.8.0's leader recorded the diverging follower's fetch offset (KAFKA-13141), so that its high
watermark counted records the follower did not share. Up to 3.4.0 the follower took the leader's
high watermark before it cut its log (KAFKA-14704), and so exposed records that were never committed.

Source: ReplicaManager.updateFollowerFetchState, AbstractFetcherThread.processFetchRequest.

Mutant: counts-a-diverging-fetch, which loses an acknowledged record by a clean election.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

COUNTED = Rule(
    name="diverging-fetch-is-counted",
    source="KAFKA-13141",
    says="A leader counts the offset of a diverging fetch as its follower's log end offset.",
)
HIGH_WATERMARK_FIRST = Rule(
    name="high-watermark-before-cut",
    source="KAFKA-14704",
    says="A diverging follower takes its leader's high watermark before it cuts its log.",
)
