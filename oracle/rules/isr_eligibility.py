"""Which replica does the controller let into the ISR? Any; later only one that is unfenced, and of this start.

A leader may wish to add a replica whose broker has just been fenced or is shutting down: it would be
elected although it is not there (KAFKA-13916; with ZooKeeper KAFKA-14140). It may also wish on account
of fetches that the broker sent before it died and came back without its disk's tail: such a replica would count as in
sync, and could be elected, without records that are committed (KAFKA-14617).

Sources: KafkaController.processAlterPartition, ReplicationControlManager.ineligibleReplicasForIsr;
KIP-841, KIP-903.

Mutant: lets-a-fenced-replica-join, which the story kip-841-on-3.3 notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.replication.remote import RemoteReplica

ANY = Rule(
    name="any-replica-may-join-isr",
    source="Partition.expandIsr, KafkaController.processAlterIsr",
    says="Any replica may join the ISR, whether its broker is registered or not.",
)
UNFENCED = Rule(
    name="only-unfenced-replica-joins-isr",
    source="KIP-841, KAFKA-13916, KAFKA-14140, KafkaController.processAlterPartition",
    says="Only a replica whose broker is registered and not fenced may join the ISR.",
)
THIS_START = Rule(
    name="only-replica-of-this-start-joins-isr",
    source="KIP-903, KAFKA-14617, ReplicationControlManager.ineligibleReplicasForIsr",
    says="Only a replica that has fetched since its broker's last start may join the ISR.",
)


def any_replica(_is_registered: bool, _remote: RemoteReplica) -> bool:  # noqa: FBT001 - shape of RuleSet.may_join
    """Let every assigned replica join."""
    return True


def unfenced(is_registered: bool, _remote: RemoteReplica) -> bool:  # noqa: FBT001 - shape of RuleSet.may_join
    """Let a replica join whose broker is registered and unfenced."""
    return is_registered


def of_this_start(is_registered: bool, remote: RemoteReplica) -> bool:  # noqa: FBT001 - shape of RuleSet.may_join
    """Let an unfenced replica join that has fetched since its broker's start."""
    return is_registered and remote.is_this_incarnation
