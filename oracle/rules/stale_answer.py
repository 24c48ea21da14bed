"""Does a follower use an answer to a request that it sent in an earlier leader epoch?

The connection to a leader that leads on in a new epoch lives on, and so does the request under way.
A lookup's answer is dropped from 2.1.1 (KAFKA-7786): 2.1.0 cuts by it, and takes a late refusal
(FENCED_LEADER_EPOCH) for one of the new epoch, so that it does not fetch until the epoch changes
again. A fetch's is dropped from 3.9.1 and 4.0.1 (KAFKA-18991): a late diverging epoch could cut
committed records.

A follower that takes another leader gets no such answer: its fetcher for the former one is shut down, which from 1.1 on
closes the connection at once, whatever it waits for. Before, whoever shuts it down waits for the answer, in the middle
of the controller's request: the broker hears no later decision until then, and what is seen of it depends on time-outs.
A schedule with a hold there is refused.

Source: AbstractFetcherThread.truncateToEpochEndOffsets, processFetchRequest; KAFKA-6051,
ReplicaFetcherThread.initiateShutdown, AbstractFetcherManager.shutdownIdleFetcherThreads.

Mutant: uses-a-stale-lookup, which the story kafka-7786-on-2.1.1 notices.
Mutant: waits-for-the-answer-of-a-former-leader, which a question between two steps notices.
Mutant: closes-the-connection-to-a-former-leader, likewise.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

LOOKUP_DROPPED = Rule(
    name="lookup-of-another-epoch-is-dropped",
    source="KAFKA-7786, AbstractFetcherThread.truncateToEpochEndOffsets",
    says="A follower drops the answer to a lookup of another leader epoch.",
)
FETCH_DROPPED = Rule(
    name="fetch-of-another-epoch-is-dropped",
    source="KAFKA-18991, AbstractFetcherThread.processFetchRequest",
    says="A follower drops the answer to a fetch of another leader epoch.",
)
CONNECTION_CLOSED = Rule(
    name="fetcher-closes-its-connection",
    source="KAFKA-6051, ReplicaFetcherThread.initiateShutdown",
    says="A follower that takes another leader closes the connection of its fetch.",
)
