"""Whom does one broker itself believe to lead a partition, and whom to be in sync?

A broker answers Metadata from its own cache, so the answer is that broker's belief and may lag behind the
controller's: by a push in ZooKeeper mode, by the metadata log in KRaft mode.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from conformance.error_names import error_name
from conformance.probes.connection import BrokerConnection
from conformance.probes.errors import ProbeError
from conformance.probes.messages import MetadataRequest, MetadataResponse

METADATA_VERSION_NEWEST = 12
WITHOUT_AUTO_CREATION = 4
"""From this version on a request can ask that an unknown topic is not created."""
WITH_LEADER_EPOCH = 7
WITH_TOPIC_ID = 10
NOBODY = -1
UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """What one broker believes about a partition.

    Attributes:
        leader: the leader's broker id; None when the broker knows of no live leader.
        leader_epoch: None where Metadata does not tell it (before 2.1).
        isr: the in-sync replicas, in ascending order.
        replicas: the assigned replicas, preferred leader first.
        topic_id: None where the topic has none or Metadata does not tell it (before 2.8).
    """

    leader: int | None
    leader_epoch: int | None
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    topic_id: UUID | None


def partition_metadata(connection: BrokerConnection, topic: str, partition: int) -> PartitionMetadata | None:
    """Ask a broker what it believes about a partition; None when it knows no such partition.

    Raises:
        ProbeError: it does not answer, or with an unexpected error.
    """
    version = connection.version_of(MetadataRequest, METADATA_VERSION_NEWEST)
    if version is None:
        raise ProbeError(connection.address, f"no Metadata up to version {METADATA_VERSION_NEWEST}")
    answer = connection.ask(_request(topic, version), MetadataResponse, version)
    described = next((it for it in answer.topics if it.name == topic), None)
    if described is None or _is_unknown(connection, described.error_code):
        return None
    found = next((it for it in described.partitions if it.partition_index == partition), None)
    return None if found is None else _metadata(described, found, version)


def _request(topic: str, version: int) -> Any:  # noqa: ANN401 - kafka-python is untyped
    if version < WITHOUT_AUTO_CREATION:
        return MetadataRequest(topics=MetadataRequest.ALL_TOPICS)
    return MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)


def _is_unknown(connection: BrokerConnection, error_code: int) -> bool:
    name = error_name(error_code) if error_code else None
    if name is not None and name != UNKNOWN_TOPIC_OR_PARTITION:
        raise ProbeError(connection.address, f"Metadata was answered with {name}", name)
    return name is not None


def _metadata(topic: Any, partition: Any, version: int) -> PartitionMetadata:  # noqa: ANN401
    topic_id = topic.topic_id if version >= WITH_TOPIC_ID else None
    return PartitionMetadata(
        leader=None if partition.leader_id == NOBODY else int(partition.leader_id),
        leader_epoch=int(partition.leader_epoch) if version >= WITH_LEADER_EPOCH else None,
        isr=tuple(sorted(map(int, partition.isr_nodes))),
        replicas=tuple(map(int, partition.replica_nodes)),
        topic_id=topic_id if topic_id and topic_id.int else None,
    )
