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

from kafka.errors import IncompatibleBrokerVersion, KafkaError
from kafka.protocol.admin import DescribeConfigsRequest
from kafka.protocol.consumer import ListOffsetsRequest, OffsetForLeaderEpochRequest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from conformance.audit.told import error_words, refused
from conformance.record.attached import PartitionWatched, SettingsWatched

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafka.net.manager import KafkaConnectionManager

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

    def __init__(self, manager: KafkaConnectionManager, topic: str) -> None:
        self._manager = manager
        self._topic = topic
        self._silent: set[int | str] = set()

    def seen(self) -> TopicSeenByClients | None:
        """Return the topic as the first broker that answers tells it; None if there is none.

        Raises:
            NotAnsweredError: no broker answers, or this user may not see the topic.
        """
        named = MetadataRequest.MetadataRequestTopic(name=self._topic)
        broker, answer = self._asked_of_any(MetadataRequest(topics=[named], allow_auto_topic_creation=False))
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

    def _know(self, leaders: set[int], told_by: int | str) -> None:
        """Learn the addresses of leaders that were away when the client connected, from who has told of them."""
        if leaders - {-1} - {one.node_id for one in self._manager.cluster.brokers()}:
            with suppress(KafkaError):
                self._manager.run(self._manager.cluster.refresh_metadata, told_by)

    def is_idempotence_known(self) -> bool:
        """Return whether the release has idempotent producers (KIP-98, 0.11)."""
        asked = ApiVersionsRequest(client_software_name="kafka-conformance", client_software_version="1")
        return any(one.api_key == INIT_PRODUCER_ID for one in self._asked_of_any(asked)[1].api_keys)

    def offsets(self, partitions: Sequence[PartitionWatched], timestamp: int = LATEST) -> dict[int, int]:
        """Return the high watermark, or the log start offset, of partitions whose leaders answer.

        A leader that is in another epoch by now does not (KIP-320): what it tells would be taken for the epoch before.
        """
        found: dict[int, int] = {}
        epochs = {one.partition: NO_EPOCH if one.leader_epoch is None else one.leader_epoch for one in partitions}
        request = ListOffsetsRequest.ListOffsetsTopic
        for leader, led in _by_leader(partitions).items():
            asked = [
                request.ListOffsetsPartition(
                    partition_index=one, current_leader_epoch=epochs[one], timestamp=timestamp, max_num_offsets=1
                )
                for one in led
            ]
            topics = [request(name=self._topic, partitions=asked)]
            answer = self._answered(leader, ListOffsetsRequest(CONSUMER, isolation_level=0, topics=topics))
            found |= _offsets_told(answer, "offset")
        return found

    def log_ends(self, partitions: Sequence[PartitionWatched]) -> dict[int, int]:
        """Return the log end offset of partitions whose leaders tell it; the newest epoch ends there."""
        found: dict[int, int] = {}
        request = OffsetForLeaderEpochRequest.OffsetForLeaderTopic
        known = [one for one in partitions if one.leader_epoch is not None]
        epochs = {one.partition: one.leader_epoch for one in known}
        for leader, led in _by_leader(known).items():
            asked = [
                request.OffsetForLeaderPartition(partition=one, current_leader_epoch=-1, leader_epoch=epochs[one])
                for one in led
            ]
            topics = [request(topic=self._topic, partitions=asked)]
            answer = self._answered(leader, OffsetForLeaderEpochRequest(CONSUMER, topics=topics))
            found |= _offsets_told(answer, "end_offset")
        return found

    def settings(self) -> SettingsWatched:
        """Return the topic's settings, or why they cannot be seen."""
        now = time.time_ns()
        try:
            _, answer = self._asked_of_any(DescribeConfigsRequest(resources=[(_TOPIC, self._topic, list(SETTINGS))]))
        except NotAnsweredError as error:
            return SettingsWatched(now, why_not=str(error))
        told = answer.results[0]
        if told.error_code:
            return SettingsWatched(now, why_not=refused(DescribeConfigsRequest, told.error_code).why)
        return SettingsWatched(now, {one.name: one.value for one in sorted(told.configs, key=lambda one: one.name)})

    def _answered(self, broker: int, request: Any) -> Any:  # noqa: ANN401 - kafka-python makes its classes at import
        """Return the answer of one broker; None if there is none."""
        try:
            return self._manager.run(self._manager.send, request, broker)
        except KafkaError:
            return None

    def _asked_of_any(self, request: Any) -> tuple[int | str, Any]:  # noqa: ANN401
        known = [one.node_id for one in self._manager.cluster.brokers() or self._manager.cluster.bootstrap_brokers()]
        why = "no broker is known"
        for broker in sorted(known, key=lambda one: (one in self._silent, str(one))):
            try:
                answer = self._manager.run(self._manager.send, request, broker)
            except IncompatibleBrokerVersion as error:
                raise NotAnsweredError("the release has no request that tells it") from error
            except KafkaError as error:
                self._silent.add(broker)
                why = f"broker {broker} did not answer ({error_words(error)})"
            else:
                self._silent.discard(broker)
                return broker, answer
        raise NotAnsweredError(why)


def _by_leader(partitions: Sequence[PartitionWatched]) -> Mapping[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for one in partitions:
        if one.leader is not None:
            found[one.leader].append(one.partition)
    return found


def _partition(told: Any, now: int, broker: int) -> PartitionWatched:  # noqa: ANN401
    leader = told.leader_id if told.leader_id >= 0 else None
    epoch = getattr(told, "leader_epoch", -1)
    isr = tuple(sorted(told.isr_nodes))
    return PartitionWatched(now, told.partition_index, leader, epoch if epoch >= 0 else None, isr, broker)


def _number(broker: int | str) -> int:
    return broker if isinstance(broker, int) else -1


def _offsets_told(answer: Any, name: str) -> dict[int, int]:  # noqa: ANN401
    if answer is None:
        return {}
    partitions = [one for topic in answer.topics for one in topic.partitions]
    numbered = {getattr(one, "partition_index", getattr(one, "partition", -1)): one for one in partitions}
    answered = {number: getattr(one, name) for number, one in numbered.items() if not one.error_code}
    return {number: offset for number, offset in answered.items() if offset >= 0}
