"""What do the requests of a controller say, for all versions at once?

Each function gives the fields of every version of its request; ``schema.built`` leaves out what the chosen version does
not have. Before LeaderAndIsr v2, UpdateMetadata v5 and StopReplica v1 partitions are one flat list, later they
are grouped by topic.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fault_injection.cluster.relay import Address
from fault_injection.puppets.connection import Values
from fault_injection.wire.controller_views import PartitionLeadership, StoppedReplica
from fault_injection.wire.views import NONE

PLAINTEXT = 0


@dataclass(frozen=True, slots=True)
class LiveBroker:
    """A broker that the controller says is alive, and where it is found.

    Attributes:
        id: its broker id.
        listeners: its addresses by listener name.
    """

    id: int
    listeners: Mapping[str, Address]


@dataclass(frozen=True, slots=True)
class Sender:
    """Who a request claims to come from.

    Attributes:
        controller_id: the controller.
        controller_epoch: its epoch.
        broker_epoch: the registration of the broker it is meant for (KIP-380); -1 is not checked.
    """

    controller_id: int
    controller_epoch: int
    broker_epoch: int = NONE

    def fields(self) -> dict[str, Any]:
        """Return the fields that all three requests have."""
        return {
            "controller_id": self.controller_id,
            "controller_epoch": self.controller_epoch,
            "broker_epoch": self.broker_epoch,
        }


def leader_and_isr(sender: Sender, decisions: Iterable[PartitionLeadership], live: Iterable[LiveBroker]) -> Values:
    """Return a LeaderAndIsr request; leaders are found at the inter-broker listener."""
    parts = [_decided(sender, decision) | {"is_new": decision.is_new} for decision in decisions]
    for part in parts:
        part["partition_epoch"] = part.pop("zk_version")
    leaders = []
    for broker in live:
        host, port = broker.listeners["REPLICATION"]
        leaders.append({"broker_id": broker.id, "host_name": host, "port": port})
    grouped = [_grouped(decision, part) for decision, part in zip(decisions, parts, strict=True)]
    return {
        **sender.fields(),
        "ungrouped_partition_states": parts,
        "topic_states": grouped,
        "live_leaders": leaders,
    }


def update_metadata(sender: Sender, decisions: Iterable[PartitionLeadership], live: Iterable[LiveBroker]) -> Values:
    """Return an UpdateMetadata request."""
    parts = [_decided(sender, decision) for decision in decisions]
    grouped = [_grouped(decision, part) for decision, part in zip(decisions, parts, strict=True)]
    return {
        **sender.fields(),
        "ungrouped_partition_states": parts,
        "topic_states": grouped,
        "live_brokers": [_live(broker) for broker in live],
    }


def stop_replica(sender: Sender, stopped: StoppedReplica) -> Values:
    """Return a StopReplica request for one replica; its leader epoch is there from v3 on."""
    state = {
        "partition_index": stopped.partition,
        "leader_epoch": stopped.leader_epoch,
        "delete_partition": stopped.is_deleted,
    }
    return {
        **sender.fields(),
        "delete_partitions": stopped.is_deleted,
        "ungrouped_partitions": [{"topic_name": stopped.topic, "partition_index": stopped.partition}],
        "topics": [{"name": stopped.topic, "partition_indexes": [stopped.partition]}],
        "topic_states": [{"topic_name": stopped.topic, "partition_states": [state]}],
    }


def _decided(sender: Sender, decision: PartitionLeadership) -> dict[str, Any]:
    return {
        "topic_name": decision.topic,
        "partition_index": decision.partition,
        "controller_epoch": sender.controller_epoch,
        "leader": decision.leader,
        "leader_epoch": decision.leader_epoch,
        "isr": list(decision.isr),
        "zk_version": decision.partition_epoch,
        "replicas": list(decision.replicas),
    }


def _grouped(decision: PartitionLeadership, part: Values) -> Values:
    return {"topic_name": decision.topic, "topic_id": decision.topic_id, "partition_states": [part]}


def _live(broker: LiveBroker) -> Values:
    endpoints = [
        {"listener": name, "host": host, "port": port, "security_protocol": PLAINTEXT}
        for name, (host, port) in broker.listeners.items()
    ]
    host, port = next(iter(broker.listeners.values()))
    return {"id": broker.id, "v0_host": host, "v0_port": port, "endpoints": endpoints, "rack": None}
