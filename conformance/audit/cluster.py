"""What an audit has read of a cluster: brokers, topics, settings, quorum, features, and what it could not see.

Plain data, and no client: checks are functions of it. What could not be read is ``NotSeen`` with the reason, and never
an empty value, so that no check takes silence for health.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NO_LEADER = -1
MIN_ISR, UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"

T = TypeVar("T")


class Source(StrEnum):
    """Where a value comes from, as DescribeConfigs tells it (KIP-226); the nearest one that is set holds."""

    TOPIC = "topic"
    BROKER = "broker"
    CLUSTER_DEFAULT = "cluster default"
    BROKER_FILE = "server.properties"
    BUILT_IN = "built-in"
    NOT_TOLD = "source not told"


@dataclass(frozen=True, slots=True)
class Setting:
    """A value as brokers tell it.

    Attributes:
        value: in words; None if the broker does not show it.
        others: values of other places that this one comes before, where they were asked for.
    """

    value: str | None
    source: Source
    others: tuple[Setting, ...] = ()


@dataclass(frozen=True, slots=True)
class NotSeen:
    """Something that could not be read.

    Attributes:
        why: in words, such as ``needs DESCRIBE_CONFIGS on the topic``.
    """

    why: str


Settings = dict[str, Setting]


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a broker says that it can do (ApiVersions, KIP-35 and KIP-584).

    Attributes:
        requests: of each API key the lowest and the highest version that it speaks.
        supported: of each feature the highest level that it supports.
        finalized: of each feature the level that the cluster has.
    """

    requests: Mapping[int, tuple[int, int]]
    supported: Mapping[str, int]
    finalized: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class BrokerSeen:
    """A broker.

    Attributes:
        rack: None if it has none.
        speaks: what it says that it can do.
        settings: those that checks read.
        directory_errors: of its log directories that it tells an error of, which.
    """

    id: int
    rack: str | None
    speaks: Spoken | NotSeen
    settings: Settings | NotSeen
    directory_errors: Mapping[str, str] | NotSeen


@dataclass(frozen=True, slots=True)
class PartitionSeen:
    """A partition, as one broker's metadata has it.

    Attributes:
        leader: its broker; ``NO_LEADER``.
        eligible: the eligible leader replicas (KIP-966); empty where the release has none, or they were not read.
        last_known: the last known leader, while there is nobody else.
    """

    number: int
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    eligible: tuple[int, ...] = ()
    last_known: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicSeen:
    """A topic.

    Attributes:
        partitions: in the order of their numbers.
        settings: those that checks read.
    """

    name: str
    is_internal: bool
    partitions: tuple[PartitionSeen, ...]
    settings: Settings | NotSeen

    @property
    def replication_factor(self) -> int:
        """Return the fewest replicas that a partition of the topic has."""
        return min((len(partition.replicas) for partition in self.partitions), default=0)


@dataclass(frozen=True, slots=True)
class QuorumSeen:
    """The controllers of a KRaft cluster (DescribeQuorum, KIP-595).

    Attributes:
        voters: their node ids.
        hosts: of each voter the host that the answer names (from 3.9, KIP-853); empty where it names none.
    """

    voters: tuple[int, ...]
    hosts: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClusterSeen:
    """What was read.

    Attributes:
        id: as brokers tell it; None before 0.10.1.
        fenced: brokers that are registered and fenced.
        quorum: None with ZooKeeper.
        transactional_ids: that coordinators know.
        eligible: None if partitions' eligible leader replicas were read, else why they were not.
        hidden: Kafka's own topics that are not among the topics and may be there all the same, with why that is open.
    """

    id: str | None
    brokers: tuple[BrokerSeen, ...]
    topics: tuple[TopicSeen, ...]
    fenced: tuple[int, ...] | NotSeen
    quorum: QuorumSeen | NotSeen | None
    transactional_ids: tuple[str, ...] | NotSeen
    eligible: NotSeen | None
    hidden: Mapping[str, NotSeen]

    @property
    def partitions(self) -> int:
        """Return how many partitions the topics have."""
        return sum(len(topic.partitions) for topic in self.topics)

    def broker_setting(self, name: str) -> Iterator[tuple[BrokerSeen, Setting]]:
        """Yield each broker's value of a setting, of those that were seen."""
        for broker in self.brokers:
            if not isinstance(broker.settings, NotSeen) and name in broker.settings:
                yield broker, broker.settings[name]


def seen(value: T | NotSeen) -> T | None:
    """Return what was read, None if it was not."""
    return None if isinstance(value, NotSeen) else value
