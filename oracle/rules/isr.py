"""Who joins the ISR, who leaves it, and who decides?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.replication.remote import RemoteReplica
    from oracle.state import ControllerDecision, ReplicaState
    from oracle.vocabulary import Offset

JOIN_AT_HIGH_WATERMARK = Rule(
    name="join-isr-at-high-watermark",
    source="KAFKA-7128, Partition.maybeExpandIsr",
    says="A follower joins the ISR when it reaches the high watermark.",
)
"""When may a replica (re)join the ISR? At the high watermark; later also at the epoch's start.

Without the second condition a replica joins below records of the leader's epoch that the old high watermark does not
cover, is elected, and committed records are gone (KAFKA-7128).

Mutant: joins-at-the-high-watermark, which the story kafka-7128-on-2.0.1 notices.
"""
JOIN_AT_EPOCH_START = Rule(
    name="join-isr-at-epoch-start",
    source="KAFKA-7128, Partition.maybeExpandIsr",
    says="A follower joins the ISR when it reaches the high watermark and the start of the leader's epoch.",
)


def joins_at_high_watermark(fetch_offset: Offset, high_watermark: Offset, _epoch_start: Offset) -> bool:
    """Join once the fetch offset has reached the leader's high watermark."""
    return fetch_offset >= high_watermark


def joins_at_epoch_start(fetch_offset: Offset, high_watermark: Offset, epoch_start: Offset) -> bool:
    """Join once the fetch offset has reached the high watermark and the epoch's start offset."""
    return fetch_offset >= max(high_watermark, epoch_start)


ANY_JOINS = Rule(
    name="any-replica-may-join-isr",
    source="Partition.expandIsr, KafkaController.processAlterIsr",
    says="Any replica may join the ISR, whether its broker is registered or not.",
)
"""Which replica does the controller let into the ISR? Any; later only one that is unfenced, and of this start.

A leader may wish to add a replica whose broker has just been fenced or is shutting down: it would be elected although
it is not there (KAFKA-13916; with ZooKeeper KAFKA-14140). It may also wish on account of fetches that the broker sent
before it died and came back without its disk's tail: such a replica would count as in sync, and could be elected,
without records that are committed (KAFKA-14617).

Mutant: lets-a-fenced-replica-join, which the story kip-841-on-3.3 notices.
Mutant: lets-a-replica-of-an-earlier-start-join, which the story kip-903-on-3.5 notices.
"""
UNFENCED_JOINS = Rule(
    name="only-unfenced-replica-joins-isr",
    source="KIP-841, KAFKA-13916, KAFKA-14140, KafkaController.processAlterPartition",
    says="Only a replica whose broker is registered and not fenced may join the ISR.",
)
THIS_START_JOINS = Rule(
    name="only-replica-of-this-start-joins-isr",
    source="KIP-903, KAFKA-14617, ReplicationControlManager.ineligibleReplicasForIsr",
    says="Only a replica that has fetched since its broker's last start may join the ISR.",
)


def any_replica(_is_registered: bool, _remote: RemoteReplica) -> bool:
    """Let every assigned replica join."""
    return True


def unfenced(is_registered: bool, _remote: RemoteReplica) -> bool:
    """Let a replica join whose broker is registered and unfenced."""
    return is_registered


def of_this_start(is_registered: bool, remote: RemoteReplica) -> bool:
    """Let an unfenced replica join that has fetched since its broker's start."""
    return is_registered and remote.is_this_incarnation


KIP_497 = Rule(
    name="maximal-isr",
    source="KIP-497, AlterIsr / AlterPartition",
    says="A leader asks the controller to change the ISR, and counts who may be in it until it is answered.",
)
"""Who commits an ISR change that a leader wants? From 2.7 the controller, on request.

While the request is under way the leader counts the maximal ISR (committed plus joining), so that a replica the
controller may already have added holds the high watermark back. Before, the leader wrote the ISR to ZooKeeper itself,
in one step.

The answer says what was committed, and its leader takes it if it is of the epoch in which it leads: whether it has
heard of it otherwise, by the metadata log, or has not heard yet who leads now, does not matter. An answer that comes
after a decision which its leader has heard is ignored: the wish that it answers is gone.

Source: KIP-497, Partition.PartitionState, Partition.handleAlterPartitionUpdate.

Mutant: writes-the-isr-itself, which a question between two steps notices.
Mutant: waits-for-the-metadata-log, likewise.
"""


def takes_answer(answer: ControllerDecision, leader: ReplicaState) -> bool:
    """Return whether a leader takes what the controller has decided on its request."""
    return answer.leader_epoch == leader.leader_epoch


SILENT_LEAVES = Rule(
    name="silent-replica-leaves-isr",
    source="Partition.getOutOfSyncReplicas",
    says="A follower that has not caught up for the lag time leaves the ISR, whatever it lacks.",
)
"""Which silent followers does the leader remove from the ISR? All; later only those behind its end.

The leader looks every half replica.lag.time.max.ms for followers that it has not seen caught up for longer than that.
Up to 2.0 it removes such a follower even if it has everything: on an idle partition a late fetch alone shrinks the
ISR, and an unclean end may follow. From 2.1 a follower whose end is the leader's stays.

Source: Partition.getOutOfSyncReplicas, later ReplicaState.isCaughtUp.

Mutant: silent-but-equal-leaves, which the story lag-idle-follower-on-2.1 notices.
"""
BEHIND_LEAVES = Rule(
    name="only-lagging-replica-leaves-isr",
    source="KAFKA-7152, Partition.isFollowerOutOfSync",
    says="A follower leaves the ISR only if it lacks records of its leader.",
)


def silent_leaves(_follower_end: Offset | None, _leader_end: Offset) -> bool:
    """Remove whoever was not caught up in time."""
    return True


def behind_leaves(follower_end: Offset | None, leader_end: Offset) -> bool:
    """Remove whoever was not caught up in time and does not have the leader's last record."""
    return follower_end != leader_end
