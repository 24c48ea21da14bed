"""Which requests and answers count no longer? Those of another leader epoch, controller epoch or broker epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.log import NO_EPOCH
from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import LeaderEpoch

KIP_320 = Rule(
    name="fence-leader-epoch",
    source="KIP-320, Partition.checkCurrentLeaderEpoch",
    says="A leader answers no request of another leader epoch.",
)
"""Who refuses a request from another epoch? From 2.1 the leader fences it.

Without it a follower or client that believes in another leader epoch is served, so a zombie can move the high
watermark or read records that were never committed (KAFKA-6880, KAFKA-7395).

Mutant: serves-an-older-epoch, which the story request-across-epochs notices.
"""


def is_served(request_epoch: LeaderEpoch, leader_epoch: LeaderEpoch) -> bool:
    """Return whether a leader in ``leader_epoch`` serves a request that carries ``request_epoch``."""
    return request_epoch == leader_epoch


def serves_any_epoch(_request_epoch: LeaderEpoch, _leader_epoch: LeaderEpoch) -> bool:
    """Serve every request: releases before 2.1 do not look at the epoch."""
    return True


FETCH_OF_EARLIER_START_REFUSED = Rule(
    name="fetch-of-an-earlier-start-is-refused",
    source="KAFKA-15221, Replica.updateFetchStateOrThrow",
    says="A leader refuses a fetch that its sender sent before the broker's last start.",
)
"""Does a leader count a fetch that reaches it after its sender was killed and started again?

A fetch can outlive its sender on the network. In KRaft mode it carries the sender's broker epoch from 3.5 on, and from
3.7 on a leader that knows a later epoch of an unfenced broker refuses it (NOT_LEADER_OR_FOLLOWER). Before, and in
ZooKeeper mode, it counts: a replica that has lost its disk's tail seems to have what it no longer has, the high
watermark rises past its end, and a clean election of it loses records that are acknowledged. A fetch that only its
connection did not survive counts at every release, if the leader epoch does (``KIP_320``).

Source: KAFKA-15221, Replica.updateFetchStateOrThrow, KRaftMetadataCache.getAliveBrokerEpoch.

Mutant: counts-a-fetch-of-an-earlier-start, which the story kafka-15221-on-3.7 notices.
"""

STALE_LOOKUP_DROPPED = Rule(
    name="lookup-of-another-epoch-is-dropped",
    source="KAFKA-7786, AbstractFetcherThread.truncateToEpochEndOffsets",
    says="A follower drops the answer to a lookup of another leader epoch.",
)
"""Does a follower use an answer to a request that it sent in an earlier leader epoch?

The connection to a leader that leads on in a new epoch lives on, and so does the request under way. A lookup's answer
is dropped from 2.1.1 (KAFKA-7786): 2.1.0 cuts by it, and takes a late refusal (FENCED_LEADER_EPOCH) for one of the new
epoch, so that it does not fetch until the epoch changes again. A fetch's is dropped from 3.9.1 and 4.0.1
(KAFKA-18991): a late diverging epoch could cut committed records.

A follower that takes another leader gets no such answer: its fetcher for the former one is shut down, which from 1.1
on closes the connection at once, whatever it waits for. Before, whoever shuts it down waits for the answer, in the
middle of the controller's request: the broker hears no later decision until then, and what is seen of it depends on
time-outs. A schedule with a hold there is refused.

Source: AbstractFetcherThread.truncateToEpochEndOffsets, processFetchRequest; KAFKA-6051,
ReplicaFetcherThread.initiateShutdown, AbstractFetcherManager.shutdownIdleFetcherThreads.

Mutant: uses-a-stale-lookup, which the story kafka-7786-on-2.1.1 notices.
Mutant: waits-for-the-answer-of-a-former-leader, which a question between two steps notices.
Mutant: closes-the-connection-to-a-former-leader, likewise.
"""
STALE_FETCH_DROPPED = Rule(
    name="fetch-of-another-epoch-is-dropped",
    source="KAFKA-18991, AbstractFetcherThread.processFetchRequest",
    says="A follower drops the answer to a fetch of another leader epoch.",
)
FORMER_CONNECTION_CLOSED = Rule(
    name="fetcher-closes-its-connection",
    source="KAFKA-6051, ReplicaFetcherThread.initiateShutdown",
    says="A follower that takes another leader closes the connection of its fetch.",
)

STALE_CONTROLLER_REFUSED = Rule(
    name="stale-controller-is-refused",
    source="ReplicaManager.becomeLeaderOrFollower",
    says="A broker refuses requests of a lower controller epoch than it has seen.",
)
"""Does a broker obey a controller that has been replaced? It must not: its decisions may be taken back already.

With ZooKeeper every request of a controller carries the controller's epoch. A broker remembers the highest one it has
seen, over all requests, and refuses LeaderAndIsr, StopReplica and UpdateMetadata of a lower one
(STALE_CONTROLLER_EPOCH). Within one controller epoch a partition's decision counts only in a higher leader epoch. In
KRaft mode the metadata log has one writer, and the question does not arise.

Source: ReplicaManager.becomeLeaderOrFollower, stopReplicas, maybeUpdateMetadataCache.

Mutant: obeys-a-replaced-controller, which a question between two steps notices.
"""


def is_obeyed(request_epoch: int, highest_seen: int) -> bool:
    """Return whether a broker takes a request of a controller with this epoch."""
    return request_epoch >= highest_seen


def is_news(decided: LeaderEpoch, known: LeaderEpoch) -> bool:
    """Return whether a partition's decision counts for a broker that knows a leader epoch."""
    return decided > known


NO_BROKER_EPOCH = -1
EARLIER_START_REFUSED = Rule(
    name="request-for-an-earlier-start-is-refused",
    source="KIP-380, KafkaApis.isBrokerEpochStale",
    says="A broker refuses a controller's request that names the broker epoch of an earlier start.",
)
"""Does a broker take a controller's request that was meant for an earlier start of it? From 2.2 on it does not.

Every start of a broker has a broker epoch, and from 2.2 on the controller's requests name the one that they are meant
for (STALE_BROKER_EPOCH). Before, a request that was sent before a restart, and arrives after it, is obeyed. One that
names no broker epoch is obeyed at every release.

Source: KIP-380, KafkaApis.isBrokerEpochStale. ZooKeeper mode.

Mutant: obeys-what-was-meant-for-an-earlier-start, which an examination of one broker notices.
"""


def for_any_start(_named: int, _own: int) -> bool:
    """Take it whatever broker epoch it names."""
    return True


def for_this_start(named: int, own: int) -> bool:
    """Take it unless it names the broker epoch of an earlier start."""
    return named in (NO_BROKER_EPOCH, own)


STOP_ANSWERS_PRODUCERS = Rule(
    name="stop-replica-answers-producers",
    source="KAFKA-9198, ReplicaManager.stopReplicas",
    says="A leader whose replica is stopped answers the producers that wait for it.",
)
"""Who hears that a leader's replica has been stopped? From 2.4 on the producers that wait: somebody else leads.

A leader that a reassignment removes hears of it by StopReplica alone. Up to 2.3 its producers wait on, until they time
out or the broker is assigned again and follows.

Mutant: leaves-producers-waiting-when-stopped, which a question between two steps notices.
Mutant: answers-producers-when-stopped, likewise.
"""
STOP_OF_NEWER_EPOCH = Rule(
    name="stop-replica-of-a-newer-epoch",
    source="KIP-570, ReplicaManager.stopReplicas",
    says="A broker obeys StopReplica only of a newer leader epoch than its replica's.",
)
"""Does a broker stop a replica that the controller wants stopped? From 2.6 on only if it was decided late enough.

From 2.6 on StopReplica carries a leader epoch, so that one which was overtaken by a newer decision is refused
(FENCED_LEADER_EPOCH). Up to 3.4.0 one of the replica's own epoch was refused as well: a reassignment that was cancelled
raises no leader epoch, so the replicas that it had added stayed (KAFKA-13972). One without an epoch is obeyed.

Mutant: stops-in-a-newer-epoch-only, which a question between two steps notices.
"""
STOP_OF_SAME_EPOCH = Rule(
    name="stop-replica-of-the-same-epoch",
    source="KAFKA-13972, ReplicaManager.stopReplicas",
    says="A broker obeys StopReplica of its replica's own leader epoch and of newer ones.",
)


def stops_in_any_epoch(_decided: LeaderEpoch, _known: LeaderEpoch) -> bool:
    """Obey whatever epoch it was decided in."""
    return True


def stops_in_a_newer_epoch(decided: LeaderEpoch, known: LeaderEpoch) -> bool:
    """Obey if it was decided after what the broker knows of the partition."""
    return decided == NO_EPOCH or is_news(decided, known)


def stops_in_the_same_epoch(decided: LeaderEpoch, known: LeaderEpoch) -> bool:
    """Obey if nothing newer is known of the partition."""
    return decided == known or stops_in_a_newer_epoch(decided, known)
