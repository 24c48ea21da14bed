"""What do the records of KRaft's metadata log say about brokers, topics and partitions?

One frozen class per record that bears on replication; the other records of the log are passed over. A
field that is None did not change, or is not in the version that was written.

Sources: kafka-metadata ``common/metadata/*.json``; KIP-631, KIP-841 (controlled shutdown), KIP-966 (ELR).
"""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """A record of the metadata log and the offset it has there."""

    offset: int


@dataclass(frozen=True, slots=True)
class TopicRecord(MetadataRecord):
    """A topic came to be."""

    topic: str
    topic_id: UUID


@dataclass(frozen=True, slots=True)
class RemoveTopicRecord(MetadataRecord):
    """A topic and all its partitions are gone."""

    topic_id: UUID


@dataclass(frozen=True, slots=True)
class PartitionRecord(MetadataRecord):
    """The whole state of one partition.

    Attributes:
        leader: -1 if there is none.
        leader_recovery_state: 1 while a leader elected uncleanly recovers (KIP-704).
        elr: eligible leader replicas (KIP-966).
    """

    topic_id: UUID
    partition: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    leader_recovery_state: int = 0
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PartitionChangeRecord(MetadataRecord):
    """What changed in one partition; the partition epoch grows by one.

    Attributes:
        leader: -1 if there is none now; named, it makes a new leader epoch even if the leader stays.
    """

    topic_id: UUID
    partition: int
    isr: tuple[int, ...] | None = None
    leader: int | None = None
    replicas: tuple[int, ...] | None = None
    leader_recovery_state: int | None = None
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class RegisterBrokerRecord(MetadataRecord):
    """A broker registered; the offset of the record becomes its broker epoch."""

    broker: int
    incarnation_id: UUID
    broker_epoch: int


@dataclass(frozen=True, slots=True)
class UnregisterBrokerRecord(MetadataRecord):
    """A broker was taken out of the cluster."""

    broker: int
    broker_epoch: int


@dataclass(frozen=True, slots=True)
class BrokerFencingRecord(MetadataRecord):
    """A broker was fenced or unfenced: FenceBroker, UnfenceBroker or BrokerRegistrationChange.

    Attributes:
        is_fenced: None if that did not change.
        is_shutting_down: a controlled shutdown began; None if that did not change.
    """

    broker: int
    broker_epoch: int
    is_fenced: bool | None = None
    is_shutting_down: bool | None = None


@dataclass(frozen=True, slots=True)
class ConfigRecord(MetadataRecord):
    """A setting was set; None if it was taken back.

    Attributes:
        resource_type: 2 is a topic, 4 a broker.
        resource: the topic's name, the broker's id, or nothing for the default of all brokers.
    """

    resource_type: int
    resource: str
    name: str
    value: str | None


@dataclass(frozen=True, slots=True)
class ClearElrRecord(MetadataRecord):
    """The eligible leader replicas of a topic were forgotten; of all topics if none is named."""

    topic: str


@dataclass(frozen=True, slots=True)
class UnreadableRecord(MetadataRecord):
    """A record that bears on replication, and that does not decode."""

    api_key: int
    version: int
