"""How does the tester speak for the producers of a transactional id? Request by request, as no client can be led.

Each request is one frame, in the version that clients of the cluster's transaction.version send, and is answered by the
broker that it is for. Only what every client does is done here: it asks again where it is told to wait.

Sources: KIP-98; KIP-890 has which version of a request says which transaction.version its client has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from confluent_kafka import Consumer, KafkaError, TopicPartition
from kafka.protocol.consumer import OffsetFetchRequest, OffsetFetchResponse
from kafka.protocol.metadata import FindCoordinatorRequest, FindCoordinatorResponse
from kafka.protocol.producer.transaction import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)

from conformance.clients import quiet_configuration
from conformance.probes.connection import MemoryRecords, MemoryRecordsBuilder
from fault_injection.puppets.connection import FETCH, PRODUCE, WRITE_TXN_MARKERS, PuppetConnection
from fault_injection.waiting import until
from fault_injection.wire.codec_schemas import Message
from oracle.error_codes import ErrorCode
from oracle.transactions.play import ABORT, COMMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from fault_injection.puppets.connection import Values

OFFSET_FETCH, FIND_COORDINATOR, INIT_PRODUCER_ID, ADD_PARTITIONS_TO_TXN = 9, 10, 22, 24
ADD_OFFSETS_TO_TXN, END_TXN, TXN_OFFSET_COMMIT = 25, 26, 28
MESSAGES = {
    OFFSET_FETCH: Message(OffsetFetchRequest, OffsetFetchResponse),
    ADD_OFFSETS_TO_TXN: Message(AddOffsetsToTxnRequest, AddOffsetsToTxnResponse),
    TXN_OFFSET_COMMIT: Message(TxnOffsetCommitRequest, TxnOffsetCommitResponse),
    FIND_COORDINATOR: Message(FindCoordinatorRequest, FindCoordinatorResponse),
    INIT_PRODUCER_ID: Message(InitProducerIdRequest, InitProducerIdResponse),
    ADD_PARTITIONS_TO_TXN: Message(AddPartitionsToTxnRequest, AddPartitionsToTxnResponse),
    END_TXN: Message(EndTxnRequest, EndTxnResponse),
}
NEWEST = {
    PRODUCE: 11,
    FETCH: 11,
    OFFSET_FETCH: 7,
    FIND_COORDINATOR: 3,
    INIT_PRODUCER_ID: 5,
    ADD_PARTITIONS_TO_TXN: 3,
    ADD_OFFSETS_TO_TXN: 3,
    END_TXN: 4,
    TXN_OFFSET_COMMIT: 4,
}
"""The newest versions that clients send whose cluster has no transaction.version 2."""
NEWEST_OF_LEVEL_2 = {**NEWEST, END_TXN: 5, PRODUCE: 12, TXN_OFFSET_COMMIT: 5}
"""And those whose cluster has it: Produce adds its partition, EndTxn begins the next epoch."""
EVERY_TRANSACTION_ITS_EPOCH = 2
"""The transaction.version from which on that is so."""
OF_GROUP, OF_TRANSACTION = 0, 1
"""The kinds of coordinator that FindCoordinator is asked for."""
WAITS = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)
"""Answers after which clients ask again."""
CLIENT_ID = "kafka-conformance-transactional"
DEADLINE_S = 30.0
TRANSACTION_TIMEOUT_MS = 600_000
"""Longer than any script: nothing is aborted because it lasted."""
PRODUCE_TIMEOUT_MS = 10_000
FETCH_BYTES_MAX = 1 << 20
BATCHES = 2
NOTHING = -1


@dataclass(frozen=True, slots=True)
class ProducerEpoch:
    """A producer id with an epoch, as InitProducerId gave it."""

    producer_id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class LoggedBatch:
    """One batch of a log.

    Attributes:
        what: the label of its record, or COMMIT or ABORT.
        producer: whose it is.
        coordinator_epoch: of a marker, None of a record.
    """

    what: str
    producer: ProducerEpoch
    coordinator_epoch: int | None = None


ProducerAnswer = tuple[ErrorCode, ProducerEpoch | None]
"""The error, and the producer epoch where the answer tells one."""


class TransactionalRequests:
    """Sends the requests of a transactional id's producers to brokers, each on a connection that stays.

    Args:
        address: returns ``host:port`` of a broker by its id.
        leaders: of the topic's partitions, by index.
        topic: the topic.
        transactional_id: the id.
        level: the cluster's transaction.version.
    """

    def __init__(
        self, address: Callable[[int], str], leaders: tuple[int, ...], topic: str, transactional_id: str, level: int
    ) -> None:
        self._address, self._leaders, self._topic = address, leaders, topic
        self._id, self._level = transactional_id, level
        self._newest = NEWEST_OF_LEVEL_2 if self.has_epochs else NEWEST
        self._connections: dict[int, PuppetConnection] = {}
        self._coordinators: dict[int, int] = {}

    @property
    def has_epochs(self) -> bool:
        """Return whether the cluster's clients let Produce add its partition, and EndTxn begin the next epoch."""
        return self._level >= EVERY_TRANSACTION_ITS_EPOCH

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in self._connections.values():
            connection.close()

    def init_producer_id(self, known: ProducerEpoch | None = None) -> ProducerAnswer:
        """Ask for an epoch; with one that is known, for the next one (KIP-360)."""
        values = {
            "transactional_id": self._id,
            "transaction_timeout_ms": TRANSACTION_TIMEOUT_MS,
            "producer_id": NOTHING if known is None else known.producer_id,
            "producer_epoch": NOTHING if known is None else known.epoch,
        }
        told = self._ask_coordinator(INIT_PRODUCER_ID, values)
        return ErrorCode(told.error_code), ProducerEpoch(int(told.producer_id), int(told.producer_epoch))

    def add_partition(self, producer: ProducerEpoch, partition: int) -> ProducerAnswer:
        """Add a partition to the transaction."""
        values = {
            "v3_and_below_transactional_id": self._id,
            "v3_and_below_producer_id": producer.producer_id,
            "v3_and_below_producer_epoch": producer.epoch,
            "v3_and_below_topics": [{"name": self._topic, "partitions": [partition]}],
        }
        told = self._ask_coordinator(ADD_PARTITIONS_TO_TXN, values)
        return ErrorCode(told.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code), None

    def produce(self, producer: ProducerEpoch, sequence: int, partition: int, label: str) -> ProducerAnswer:
        """Send a record as one batch of the transaction, with acks=all."""
        part = {"index": partition, "records": _batch(producer, sequence, label)}
        values = {
            "transactional_id": self._id,
            "acks": -1,
            "timeout_ms": PRODUCE_TIMEOUT_MS,
            "topic_data": [{"name": self._topic, "partition_data": [part]}],
        }
        told = self._ask(self._leaders[partition], PRODUCE, values)
        return ErrorCode(told.responses[0].partition_responses[0].error_code), None

    def add_offsets(self, producer: ProducerEpoch) -> ProducerAnswer:
        """Add the group's offsets to the transaction."""
        values = {
            "transactional_id": self._id,
            "producer_id": producer.producer_id,
            "producer_epoch": producer.epoch,
            "group_id": self._id,
        }
        return ErrorCode(self._ask_coordinator(ADD_OFFSETS_TO_TXN, values).error_code), None

    def commit_offset(self, producer: ProducerEpoch, offset: int) -> ProducerAnswer:
        """Commit the group's offset of partition 0 in the transaction."""
        part = {"partition_index": 0, "committed_offset": offset, "committed_leader_epoch": NOTHING}
        values = {
            "transactional_id": self._id,
            "group_id": self._id,
            "producer_id": producer.producer_id,
            "producer_epoch": producer.epoch,
            "generation_id": NOTHING,
            "member_id": "",
            "group_instance_id": None,
            "topics": [{"name": self._topic, "partitions": [{**part, "committed_metadata": ""}]}],
        }
        told = self._ask_coordinator(TXN_OFFSET_COMMIT, values, OF_GROUP)
        return ErrorCode(told.topics[0].partitions[0].error_code), None

    def group_offset(self) -> tuple[ErrorCode, int]:
        """Return the group's offset of partition 0, -1 for none; an error if it may still change (KIP-447, 2.5)."""
        topics = [{"name": self._topic, "partition_indexes": [0]}]
        told = self._ask_coordinator(
            OFFSET_FETCH, {"group_id": self._id, "topics": topics, "require_stable": True}, OF_GROUP
        )
        parts = [part for topic in told.topics for part in topic.partitions]  # from 4.0 on none of an unknown group
        error = told.error_code or next((part.error_code for part in parts), 0)
        return ErrorCode(error), next((int(part.committed_offset) for part in parts), NOTHING)

    def end(self, producer: ProducerEpoch, *, commits: bool) -> ProducerAnswer:
        """Commit or abort; the answer has the next epoch with transaction.version 2."""
        values = {
            "transactional_id": self._id,
            "producer_id": producer.producer_id,
            "producer_epoch": producer.epoch,
            "committed": commits,
        }
        told = self._ask_coordinator(END_TXN, values)
        epoch = NOTHING if told.producer_epoch is None else int(told.producer_epoch)
        return ErrorCode(told.error_code), ProducerEpoch(int(told.producer_id), epoch) if epoch >= 0 else None

    def write_marker(self, partition: int, marker: LoggedBatch) -> ProducerAnswer:
        """Have a marker written that is in the log already, as its coordinator does that got no answer."""
        values = {
            "producer_id": marker.producer.producer_id,
            "producer_epoch": marker.producer.epoch,
            "transaction_result": marker.what == COMMIT,
            "topics": [{"name": self._topic, "partition_indexes": [partition]}],
            "coordinator_epoch": marker.coordinator_epoch,
            "transaction_version": self._level,
        }
        told = self._ask(self._leaders[partition], WRITE_TXN_MARKERS, {"markers": [values]})
        return ErrorCode(told.markers[0].topics[0].partitions[0].error_code), None

    def until_told(self, ask: Callable[[], ProducerAnswer]) -> ProducerAnswer:
        """Ask until the answer is not to wait.

        Raises:
            DeadlineExceededError: it was for half a minute.
        """
        return until(lambda: told if (told := ask())[0] not in WAITS else None, deadline_s=DEADLINE_S, what="an answer")

    def log(self, partition: int) -> tuple[LoggedBatch, ...]:
        """Return the batches of a partition up to its high watermark, markers among them."""
        return tuple(_batches(bytes(self._fetched(partition).records or b"")))

    def last_stable_offset(self, partition: int) -> int:
        """Return the offset below which every transaction has ended, as readers of committed records are told."""
        return int(self._fetched(partition, reads_committed=True).last_stable_offset)

    def _fetched(self, partition: int, *, reads_committed: bool = False) -> Any:  # noqa: ANN401 - kafka-python is untyped
        part = {
            "partition": partition,
            "current_leader_epoch": NOTHING,
            "fetch_offset": 0,
            "last_fetched_epoch": NOTHING,
            "log_start_offset": NOTHING,
            "partition_max_bytes": FETCH_BYTES_MAX,
        }
        values = {
            "replica_id": NOTHING,
            "max_wait_ms": 0,
            "min_bytes": 0,
            "max_bytes": FETCH_BYTES_MAX,
            "isolation_level": int(reads_committed),
            "session_epoch": NOTHING,
            "rack_id": "",
            "topics": [{"topic": self._topic, "partitions": [part]}],
        }
        return self._ask(self._leaders[partition], FETCH, values).responses[0].partitions[0]

    def read_committed(self, partition: int) -> list[str]:
        """Return the labels that a consumer of librdkafka is given which reads committed records, up to their end."""
        settings = quiet_configuration(self._address(self._leaders[partition]))
        isolated = {"group.id": CLIENT_ID, "isolation.level": "read_committed", "enable.partition.eof": True}
        consumer = Consumer({**settings, **isolated, "enable.auto.commit": False})
        labels: list[str] = []

        def is_at_end() -> bool:
            message = consumer.poll(1.0)
            error = message.error() if message is not None else None
            if message is not None and error is None:
                labels.append(message.value().decode())
            return error is not None and error.code() == KafkaError._PARTITION_EOF  # noqa: SLF001 - librdkafka's name

        try:
            consumer.assign([TopicPartition(self._topic, partition, 0)])
            until(is_at_end, deadline_s=DEADLINE_S, what=f"the end of partition {partition}", interval_s=0)
        finally:
            consumer.close()
        return labels

    # Who is asked.

    def _ask_coordinator(self, api_key: int, values: Values, kind: int = OF_TRANSACTION) -> Any:  # noqa: ANN401 - as below
        if kind not in self._coordinators:
            found = until(lambda: self._found(kind), deadline_s=DEADLINE_S, what=f"a coordinator of {self._id}")
            self._coordinators[kind] = found.node_id
        return self._ask(self._coordinators[kind], api_key, values)

    def _found(self, kind: int) -> Any:  # noqa: ANN401 - kafka-python is untyped
        told = self._ask(self._leaders[0], FIND_COORDINATOR, {"key": self._id, "key_type": kind})
        return None if told.error_code else told

    def _ask(self, broker: int, api_key: int, values: Values) -> Any:  # noqa: ANN401 - kafka-python is untyped
        if broker not in self._connections:
            host, _, port = self._address(broker).rpartition(":")
            self._connections[broker] = PuppetConnection((host, int(port)), CLIENT_ID, MESSAGES)
        connection = self._connections[broker]
        newest = connection.newest_version(api_key)
        return connection.ask(api_key, values, min(newest, self._newest.get(api_key, newest)))


def _batch(producer: ProducerEpoch, sequence: int, label: str) -> bytes:
    builder = MemoryRecordsBuilder(
        BATCHES,
        0,
        batch_size=FETCH_BYTES_MAX,
        transactional=True,
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        base_sequence=sequence,
    )
    builder.append(timestamp=None, key=None, value=label.encode())
    builder.close()
    return bytes(builder.buffer())


def _batches(content: bytes) -> Iterator[LoggedBatch]:
    batches = MemoryRecords(content)
    while batches.has_next() and (batch := batches.next_batch()) is not None:
        producer = ProducerEpoch(int(batch.producer_id), int(batch.producer_epoch))
        for record in batch:
            if batch.is_control_batch:
                yield _marker(producer, bytes(record.key), bytes(record.value))
            else:
                yield LoggedBatch(bytes(record.value).decode(), producer)


def _marker(producer: ProducerEpoch, key: bytes, value: bytes) -> LoggedBatch:
    """Read a control record: version and kind in its key, version and coordinator epoch in its value."""
    what = COMMIT if int.from_bytes(key[2:4], "big") else ABORT
    return LoggedBatch(what, producer, int.from_bytes(value[2:6], "big", signed=True))
