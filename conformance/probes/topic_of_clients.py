"""What does a topic look like to its clients, on a cluster that somebody else runs? No request changes anything.

Leader, leader epoch and ISR come from Metadata, the high watermark from the leader's ListOffsets, the log end and the
ends of older epochs from its OffsetForLeaderEpoch, settings by ``topic_settings``: each where the release has it.

Leader epochs of Metadata are taken from version 9 (2.4) on: before, brokers tell stale ones while replicas are
reassigned (KAFKA-9212), and Kafka's own clients do not use them.
"""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaError
from kafka.protocol.consumer import ListOffsetsRequest, OffsetForLeaderEpochRequest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from conformance.audit.asking import BrokerAsker
from conformance.audit.cluster import NotSeen
from conformance.audit.told import refused
from conformance.clients import CLIENT
from conformance.probes.topic_settings import settings_seen
from conformance.record.attached import PartitionWatched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from conformance.clients.connecting import Connection
    from conformance.record.attached import SettingsWatched

LATEST, EARLIEST = -1, -2
CONSUMER, NO_EPOCH = -1, -1
LEADER_AND_ISR, INIT_PRODUCER_ID, OFFSET_FOR_LEADER_EPOCH, DESCRIBE_QUORUM = 4, 22, 23, 55
"""Keys of requests. Only ZooKeeper's brokers take the first one, only KRaft's the last."""
EPOCHS_FROM = 9
"""The version of Metadata from which on its leader epochs are reliable."""


class NotAnsweredError(Exception):
    """No broker answered, or one refused; the message says why."""


@dataclass(frozen=True, slots=True)
class TopicSeenByClients:
    """A topic as Metadata has it.

    Attributes:
        cluster: its id; None if the release has none.
        partitions: leader, epoch, ISR and assigned brokers of each, in their order; no high watermark.
        topic_id: None where brokers do not tell it.
    """

    cluster: str | None
    partitions: tuple[PartitionWatched, ...]
    topic_id: str | None = None

    @property
    def replicas(self) -> int:
        """Return how many the first partition has."""
        return len(self.partitions[0].assigned)


class TopicOfClients:
    """Asks about one topic.

    Args:
        manager: connected to the cluster.
    """

    def __init__(self, manager: Connection, topic: str) -> None:
        self._manager = manager
        self._asker = BrokerAsker(manager)
        self._topic = topic
        self._known: frozenset[int] | None = None

    def seen(self) -> TopicSeenByClients | None:
        """Return the topic as the first broker that answers tells it; None if there is none.

        Raises:
            NotAnsweredError: no broker answers, or this user may not see the topic.
        """
        seen = self._seen(self._answered(self._metadata()), broker := self._asker.answered_by)
        if seen is not None:
            self._know({one.leader for one in seen.partitions if one.leader is not None}, broker)
        return seen

    def seen_by_each(self) -> Mapping[int, TopicSeenByClients | None]:
        """Return the topic as each broker tells it that answers; None of one that knows no such topic.

        Raises:
            NotAnsweredError: no broker answers, or this user may not see the topic.
        """
        answers = {broker: self._asker.ask(self._metadata(), broker) for broker in self._brokers()}
        told = {one: self._seen(answer, one) for one, answer in answers.items() if not isinstance(answer, NotSeen)}
        if not told:
            raise NotAnsweredError(next((one.why for one in answers.values()), "no broker is known"))
        for broker, seen in told.items():
            if seen is not None:
                self._know({one for partition in seen.partitions for one in partition.assigned}, broker)
                break
        return told

    def _metadata(self) -> MetadataRequest:
        named = MetadataRequest.MetadataRequestTopic(name=self._topic)
        return MetadataRequest(topics=[named], allow_auto_topic_creation=False)

    def _brokers(self) -> list[int]:
        return sorted(one.node_id for one in self._manager.cluster.brokers() if isinstance(one.node_id, int))

    def _seen(self, answer: Any, broker: int | str | None) -> TopicSeenByClients | None:  # noqa: ANN401
        told = next((one for one in answer.topics if one.name == self._topic), None)
        if told is None or told.error_code in (3, 5):  # UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE
            return None
        if told.error_code:
            raise NotAnsweredError(refused(MetadataRequest, told.error_code).why)
        now = time.time_ns()
        ordered = sorted(told.partitions, key=lambda one: one.partition_index)
        tells_epochs = answer.API_VERSION >= EPOCHS_FROM
        return TopicSeenByClients(
            answer.cluster_id,
            tuple(_partition(one, now, _number(broker), tells_epochs=tells_epochs) for one in ordered),
            _topic_id(told),
        )

    def _know(self, brokers: set[int], told_by: int | str | None) -> None:
        """Learn the addresses of brokers that were away when the client connected, from who has told of them."""
        if brokers - set(self._brokers()):
            with suppress(KafkaError):
                self._manager.run(self._manager.cluster.refresh_metadata, told_by)

    def is_idempotence_known(self) -> bool:
        """Return whether the release has idempotent producers (KIP-98, 0.11)."""
        return self.knows(INIT_PRODUCER_ID)

    def knows(self, request: int) -> bool:
        """Return whether the release takes a request, by its key.

        Raises:
            NotAnsweredError: no broker answers.
        """
        if self._known is None:
            answer = self._answered(ApiVersionsRequest(client_software_name=CLIENT, client_software_version="1"))
            self._known = frozenset(one.api_key for one in answer.api_keys)
        return request in self._known

    def offsets(self, partitions: Sequence[PartitionWatched], timestamp: int = LATEST) -> dict[int, int]:
        """Return the high watermark, or the log start offset, of partitions whose leaders answer.

        A leader that is in another epoch by now does not (KIP-320): what it tells would be taken for the epoch before.
        """
        topic = ListOffsetsRequest.ListOffsetsTopic

        def request(led: Sequence[PartitionWatched]) -> ListOffsetsRequest:
            asked = [
                topic.ListOffsetsPartition(
                    partition_index=one.partition,
                    current_leader_epoch=_current(one),
                    timestamp=timestamp,
                    max_num_offsets=1,
                )
                for one in led
            ]
            return ListOffsetsRequest(CONSUMER, isolation_level=0, topics=[topic(name=self._topic, partitions=asked)])

        told = self._told_by_leaders(partitions, request, "offset")
        return {number: offset for number, offset in told.items() if offset >= 0}

    def log_ends(self, partitions: Sequence[PartitionWatched]) -> dict[int, int | None]:
        """Return the log end offset of partitions whose leaders answer; None of one that knows no end of its epoch."""
        epochs = {one.partition: one.leader_epoch for one in partitions if one.leader_epoch is not None}
        told = self.epoch_ends(partitions, epochs)
        return {number: end if end >= 0 else None for number, end in told.items()}

    def epoch_ends(self, partitions: Sequence[PartitionWatched], epochs: Mapping[int, int]) -> dict[int, int]:
        """Return where a leader epoch ends, of each partition that has one in ``epochs`` and whose leader answers.

        The newest epoch ends at the log end; -1 is that of none. A leader that is in another epoch does not answer.
        """
        topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic

        def request(led: Sequence[PartitionWatched]) -> OffsetForLeaderEpochRequest:
            asked = [
                topic.OffsetForLeaderPartition(
                    partition=one.partition, current_leader_epoch=_current(one), leader_epoch=epochs[one.partition]
                )
                for one in led
            ]
            return OffsetForLeaderEpochRequest(CONSUMER, topics=[topic(topic=self._topic, partitions=asked)])

        return self._told_by_leaders([one for one in partitions if one.partition in epochs], request, "end_offset")

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
        """Return the topic's settings and where they come from, or why they cannot be seen."""
        return settings_seen(self._asker, self._topic, self._brokers(), is_kraft=self._is_kraft())

    def _is_kraft(self) -> bool | None:
        try:
            if self.knows(LEADER_AND_ISR):
                return False
            return True if self.knows(DESCRIBE_QUORUM) else None
        except NotAnsweredError:
            return None

    def _answered(self, request: Any) -> Any:  # noqa: ANN401 - kafka-python makes its classes at import
        """Return the answer of any broker.

        Raises:
            NotAnsweredError: none answers, or one refuses.
        """
        answer = self._asker.ask(request)
        if isinstance(answer, NotSeen):
            raise NotAnsweredError(answer.why)
        return answer


def _by_leader(partitions: Iterable[PartitionWatched]) -> Mapping[int, list[PartitionWatched]]:
    found: dict[int, list[PartitionWatched]] = defaultdict(list)
    for one in partitions:
        if one.leader is not None:
            found[one.leader].append(one)
    return found


def _partition(told: Any, now: int, broker: int, *, tells_epochs: bool) -> PartitionWatched:  # noqa: ANN401
    leader = told.leader_id if told.leader_id >= 0 else None
    epoch = told.leader_epoch if tells_epochs else -1
    isr, assigned = tuple(sorted(told.isr_nodes)), tuple(told.replica_nodes)
    return PartitionWatched(
        now, told.partition_index, leader, epoch if epoch >= 0 else None, isr, broker, assigned=assigned
    )


def _current(partition: PartitionWatched) -> int:
    return NO_EPOCH if partition.leader_epoch is None else partition.leader_epoch


def _topic_id(told: Any) -> str | None:  # noqa: ANN401
    """Return a topic's id as Kafka's tools write it."""
    number = getattr(told, "topic_id", None)
    return urlsafe_b64encode(number.bytes).decode().rstrip("=") if number is not None and number.int else None


def _number(broker: int | str | None) -> int:
    return broker if isinstance(broker, int) else -1


def _offsets_told(answer: Any, name: str) -> dict[int, int]:  # noqa: ANN401
    if isinstance(answer, NotSeen):
        return {}
    partitions = [one for topic in answer.topics for one in topic.partitions]
    numbered = {getattr(one, "partition_index", getattr(one, "partition", -1)): one for one in partitions}
    return {number: getattr(one, name) for number, one in numbered.items() if not one.error_code}
