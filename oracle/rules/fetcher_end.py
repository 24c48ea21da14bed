"""What becomes of a fetch under way when its follower takes another leader? Its connection is closed.

The fetcher of the former leader has no partition left and is shut down; from 1.1 on that closes its connection at
once, whatever it waits for. Before, whoever shuts it down waits for the answer, in the middle of the controller's
request: the broker hears no later decision until then, and what is seen of it depends on time-outs. A schedule with a
hold there is refused.

Source: KAFKA-6051, ReplicaFetcherThread.initiateShutdown; AbstractFetcherManager.shutdownIdleFetcherThreads.

Mutant: waits-for-the-answer-of-a-former-leader, which a question between two steps notices.
Mutant: closes-the-connection-to-a-former-leader, likewise.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

RULE = Rule(
    name="fetcher-closes-its-connection",
    source="KAFKA-6051, ReplicaFetcherThread.initiateShutdown",
    versions="1.1 and newer",
    replaces=None,
    breaks="a held fetch keeps its follower from taking another leader",
)
