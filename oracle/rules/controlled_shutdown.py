"""What becomes of the log of a leader that stops gracefully? It follows its successor for a moment, then exits.

A ZooKeeper-era controller moves the leadership before it lets the broker go, and tells it so like
everybody else. Up to 0.10.2 becoming a follower cuts the log to the high watermark at once, and that
is what stays on the disk. Later a follower asks its leader first, and exits before it has the answer:
the log stays as it was. Without a successor in the ISR nothing moves.

Measured: 0.10.2.2 cuts, 2.0.1 and 2.8.2 keep. Sources: ControlledShutdownLeaderSelector,
KafkaServer.controlledShutdown, ReplicaManager.makeFollowers.

Mutant: stopping-leader-cuts-its-log, which the story stopping-leader-on-0.11 notices.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

CUTS = Rule(
    name="stopping-leader-cuts-to-high-watermark",
    source="ControlledShutdownLeaderSelector, ReplicaManager.makeFollowers",
    says="A leader that stops gracefully cuts its log to its high watermark.",
)
KEEPS = Rule(
    name="stopping-leader-keeps-its-log",
    source="KafkaServer.controlledShutdown, AbstractFetcherThread",
    says="A leader that stops gracefully keeps its log.",
)
