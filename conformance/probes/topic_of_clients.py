"""What does a topic look like to its clients, on a cluster that somebody else runs? No request changes anything.

Leader, leader epoch and ISR come from Metadata, the high watermark from the leader's ListOffsets, the log end from its
OffsetForLeaderEpoch for the newest epoch, settings from DescribeConfigs: each where the release has it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaError
from kafka.protocol.admin import DescribeConfigsRequest
from kafka.protocol.consumer import ListOffsetsRequest, OffsetForLeaderEpochRequest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from conformance.audit.asking import BrokerAsker
from conformance.audit.cluster import NotSeen
from conformance.audit.told import refused
from conformance.clients import CLIENT
from conformance.record.attached import PartitionWatched, SettingsWatched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.clients.connecting import Connection

LATEST, EARLIEST = -1, -2
CONSUMER, NO_EPOCH = -1, -1
INIT_PRODUCER_ID = 22
_TOPIC = 2  # resource type of DescribeConfigs
SETTINGS = (
    "cleanup.policy",
    "min.insync.replicas",
    "retention.bytes",
    "retention.ms",
    "unclean.leader.election.enable",
)
"""On which it rests what is promised of records, and whether they may be deleted."""


class NotAnsweredError(Exception):
    """No broker answered, or one refused; the message says why."""


@dataclass(frozen=True, slots=True)
class TopicSeenByClients:
    """A topic as Metadata has it.

    Attributes:
        cluster: its id; None if the release has none.
        partitions: leader, epoch and ISR of each, in their order; no high watermark.
        replicas: of the first partition: how many.
    """

    cluster: str | None
    partitions: tuple[PartitionWatched, ...]
    replicas: int


class TopicOfClients:
    """Asks about one topic.

    Args:
        manager: connected to the cluster.
    """

    def __init__(self, manager: Connection, topic: str) -> None:
        self._manager = manager
        self._asker = BrokerAsker(manager)
        self._topic = topic

    def seen(self) -> TopicSeenByClients | None:
        """Return the topic as the first broker that answers tells it; None if there is none.

        Raises:
            NotAnsweredError: no broker answers, or this user may not see the topic.
        """
        named = MetadataRequest.MetadataRequestTopic(name=self._topic)
        answer = self._answered(MetadataRequest(topics=[named], allow_auto_topic_creation=False))
        broker = self._asker.answered_by
        told = next(one for one in answer.topics if one.name == self._topic)
        if told.error_code in (3, 5):  # UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE
            return None
        if told.error_code:
            raise NotAnsweredError(refused(MetadataRequest, told.error_code).why)
        self._know({one.leader_id for one in told.partitions}, broker)
        now = time.time_ns()
        ordered = sorted(told.partitions, key=lambda one: one.partition_index)
        partitions = tuple(_partition(one, now, _number(broker)) for one in ordered)
        return TopicSeenByClients(answer.cluster_id, partitions, len(ordered[0].replica_nodes))

    def _know(self, leaders: set[int], told_by: int | str | None) -> None:
        """Learn the addresses of leaders that were away when the client connected, from who has told of them."""
        if leaders - {-1} - {one.node_id for one in self._manager.cluster.brokers()}:
            with suppress(KafkaError):
                self._manager.run(self._manager.cluster.refresh_metadata, told_by)

    def is_idempotence_known(self) -> bool:
        """Return whether the release has idempotent producers (KIP-98, 0.11)."""
        answer = self._answered(ApiVersionsRequest(client_software_name=CLIENT, client_software_version="1"))
        return any(one.api_key == INIT_PRODUCER_ID for one in answer.api_keys)

    def offsets(self, partitions: Sequence[PartitionWatched], timestamp: int = LATEST) -> dict[int, int]:
        """Return the high watermark, or the log start offset, of partitions whose leaders answer.

        A leader that is in another epoch by now does not (KIP-320): what it tells would be taken for the epoch before.
        """
        topic = ListOffsetsRequest.ListOffsetsTopic

        def request(led: Sequence[PartitionWatched]) -> ListOffsetsRequest:
            asked = [
                topic.ListOffsetsPartition(
                    partition_index=one.partition,
                    current_leader_epoch=NO_EPOCH if one.leader_epoch is None else one.leader_epoch,
                    timestamp=timestamp,
                    max_num_offsets=1,
                )
                for one in led
            ]
            return ListOffsetsRequest(CONSUMER, isolation_level=0, topics=[topic(name=self._topic, partitions=asked)])

        return self._told_by_leaders(partitions, request, "offset")

    def log_ends(self, partitions: Sequence[PartitionWatched]) -> dict[int, int]:
        """Return the log end offset of partitions whose leaders tell it; the newest epoch ends there."""
        topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic

        def request(led: Sequence[PartitionWatched]) -> OffsetForLeaderEpochRequest:
            asked = [
                topic.OffsetForLeaderPartition(
                    partition=one.partition, current_leader_epoch=NO_EPOCH, leader_epoch=one.leader_epoch
                )
                for one in led
            ]
            return OffsetForLeaderEpochRequest(CONSUMER, topics=[topic(topic=self._topic, partitions=asked)])

        return self._told_by_leaders([one for one in partitions if one.leader_epoch is not None], request, "end_offset")

    def _told_by_leaders(
        self,
        partitions: Sequence[PartitionWatched],
        request: Callable[[Sequence[PartitionWatched]], Any],
        name: str,
    ) -> dict[int, int]:
        """Ask each leader about its partitions; return one offset of each that was told without an error."""
        found: dict[int, int] = {}
        for leader, led in _by_leader(partitions).items():
            found |= _offsets_told(self._asker.ask(request(led), leader), name)
        return found

    def settings(self) -> SettingsWatched:
        """Return the topic's settings, or why they cannot be seen."""
        now = time.time_ns()
        try:
            answer = self._answered(DescribeConfigsRequest(resources=[(_TOPIC, self._topic, list(SETTINGS))]))
        except NotAnsweredError as error:
            return SettingsWatched(now, why_not=str(error))
        told = answer.results[0]
        if told.error_code:
            return SettingsWatched(now, why_not=refused(DescribeConfigsRequest, told.error_code).why)
        return SettingsWatched(now, {one.name: one.value for one in sorted(told.configs, key=lambda one: one.name)})

    def _answered(self, request: Any) -> Any:  # noqa: ANN401 - kafka-python makes its classes at import
        """Return the answer of any broker.

        Raises:
            NotAnsweredError: none answers, or one refuses.
        """
        answer = self._asker.ask(request)
        if isinstance(answer, NotSeen):
            raise NotAnsweredError(answer.why)
        return answer


def _by_leader(partitions: Sequence[PartitionWatched]) -> Mapping[int, list[PartitionWatched]]:
    found: dict[int, list[PartitionWatched]] = defaultdict(list)
    for one in partitions:
        if one.leader is not None:
            found[one.leader].append(one)
    return found


def _partition(told: Any, now: int, broker: int) -> PartitionWatched:  # noqa: ANN401
    leader = told.leader_id if told.leader_id >= 0 else None
    epoch = getattr(told, "leader_epoch", -1)
    isr = tuple(sorted(told.isr_nodes))
    return PartitionWatched(now, told.partition_index, leader, epoch if epoch >= 0 else None, isr, broker)


def _number(broker: int | str | None) -> int:
    return broker if isinstance(broker, int) else -1


def _offsets_told(answer: Any, name: str) -> dict[int, int]:  # noqa: ANN401
    if isinstance(answer, NotSeen):
        return {}
    partitions = [one for topic in answer.topics for one in topic.partitions]
    numbered = {getattr(one, "partition_index", getattr(one, "partition", -1)): one for one in partitions}
    answered = {number: getattr(one, name) for number, one in numbered.items() if not one.error_code}
    return {number: offset for number, offset in answered.items() if offset >= 0}
