"""When does a leader look whether its high watermark may rise? On appends, fetches and ISR changes.

It need not look at every fetch: one that reports the same end offset cannot raise it, unless a
replica that held it back has meanwhile lagged for too long. Up to 2.3 every fetch is a look
(KAFKA-8841), so such a high watermark rises on an idle partition too; from 2.4 it waits for the
next record. While the leader asks the controller to shrink the ISR the old one still counts, so the
answer is the moment to look: 2.7 to 3.0 forgot that, and acks=all producers on an otherwise idle
partition wait until they time out (KAFKA-13091).

Source: Partition.updateFollowerFetchState, handleAlterIsrUpdate.

Mutant: forgets-to-look-after-a-shrink, which the story kafka-13091-on-3.1 notices.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

ON_EVERY_FETCH = Rule(
    name="every-fetch-checks-high-watermark",
    source="KAFKA-8841, Partition.maybeExpandIsr",
    says="Every fetch may raise the high watermark, also one that moves nothing.",
)
NOT_ON_SHRINK = Rule(
    name="shrink-does-not-raise-high-watermark",
    source="KAFKA-13091, Partition.handleAlterIsrUpdate",
    says="The leader does not look at its high watermark when its ISR has shrunk.",
)
