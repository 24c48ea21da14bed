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

from conformance.clients import quiet_configuration
from conformance.probes.connection import MemoryRecords, MemoryRecordsBuilder
from fault_injection.puppets.connection import (
    CLIENT_MESSAGES,
    FETCH,
    PRODUCE,
    WRITE_TXN_MARKERS,
    PuppetConnection,
    PuppetError,
    request_frame,
)
from fault_injection.waiting import until
from fault_injection.wire.codec_schemas import Message
from oracle.error_codes import ErrorCode
from oracle.transactions.play import ABORT, COMMIT
from oracle.transactions.state import NO_EFFECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from fault_injection.puppets.connection import Values

OFFSET_FETCH, FIND_COORDINATOR, INIT_PRODUCER_ID, ADD_PARTITIONS_TO_TXN = 9, 10, 22, 24
ADD_OFFSETS_TO_TXN, END_TXN, TXN_OFFSET_COMMIT = 25, 26, 28
MESSAGES = {
    OFFSET_FETCH: Message(OffsetFetchRequest, OffsetFetchResponse),
    FIND_COORDINATOR: Message(FindCoordinatorRequest, FindCoordinatorResponse),
}
ALL_MESSAGES = {**CLIENT_MESSAGES, **MESSAGES}
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
WAITS = NO_EFFECT | {ErrorCode.CONCURRENT_TRANSACTIONS}
"""Answers after which clients ask again."""
MOVED = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE})
"""Answers after which they look for the coordinator again first."""
CLIENT_ID = "kafka-conformance-transactional"
CORRELATION_ID = 0
"""Of every request: there is one at a time on a connection."""
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


@dataclass(frozen=True, slots=True)
class ProducerRequest:
    """A request that can be sent now, again, or late.

    Attributes:
        api_key: which api.
        framed: returns its frame in a version.
        read: takes its answer.
        partition: whose leader it is for; None for a coordinator.
        kind: of that coordinator.
    """

    api_key: int
    framed: Callable[[int], bytes]
    read: Callable[[Any], ProducerAnswer]
    partition: int | None = None
    kind: int = OF_TRANSACTION


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
        self._address, self._leaders, self._topic = address, list(leaders), topic
        self._id, self._level = transactional_id, level
        self._newest = NEWEST_OF_LEVEL_2 if self.has_epochs else NEWEST
        self._connections: dict[int, PuppetConnection] = {}
        self._apart: list[PuppetConnection] = []
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
        for connection in (*self._connections.values(), *self._apart):
            connection.close()

    # What producers ask.

    def init_producer_id(self, known: ProducerEpoch | None = None, timeout_s: int = 0) -> ProducerRequest:
        """Ask for an epoch, with one that is known for the next one (KIP-360); transactions may last for so long."""
        values = {
            "transactional_id": self._id,
            "transaction_timeout_ms": timeout_s * 1000 or TRANSACTION_TIMEOUT_MS,
            "producer_id": NOTHING if known is None else known.producer_id,
            "producer_epoch": NOTHING if known is None else known.epoch,
        }
        return ProducerRequest(INIT_PRODUCER_ID, _framed(INIT_PRODUCER_ID, values), _given_epoch)

    def add_partition(self, producer: ProducerEpoch, partition: int) -> ProducerRequest:
        """Add a partition to the transaction."""
        values = {
            "v3_and_below_transactional_id": self._id,
            "v3_and_below_producer_id": producer.producer_id,
            "v3_and_below_producer_epoch": producer.epoch,
            "v3_and_below_topics": [{"name": self._topic, "partitions": [partition]}],
        }
        return ProducerRequest(
            ADD_PARTITIONS_TO_TXN,
            _framed(ADD_PARTITIONS_TO_TXN, values),
            lambda told: _error(told.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code),
        )

    def produce(self, producer: ProducerEpoch, sequence: int, partition: int, label: str) -> ProducerRequest:
        """Send a record as one batch of the transaction, with acks=all."""
        part = {"index": partition, "records": _batch(producer, sequence, label)}
        values = {
            "transactional_id": self._id,
            "acks": -1,
            "timeout_ms": PRODUCE_TIMEOUT_MS,
            "topic_data": [{"name": self._topic, "partition_data": [part]}],
        }
        return ProducerRequest(
            PRODUCE,
            _framed(PRODUCE, values),
            lambda told: _error(told.responses[0].partition_responses[0].error_code),
            partition,
        )

    def add_offsets(self, producer: ProducerEpoch) -> ProducerRequest:
        """Add the group's offsets to the transaction."""
        values = {
            "transactional_id": self._id,
            "producer_id": producer.producer_id,
            "producer_epoch": producer.epoch,
            "group_id": self._id,
        }
        framed = _framed(ADD_OFFSETS_TO_TXN, values)
        return ProducerRequest(ADD_OFFSETS_TO_TXN, framed, lambda told: _error(told.error_code))

    def commit_offset(self, producer: ProducerEpoch, offset: int) -> ProducerRequest:
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
        return ProducerRequest(
            TXN_OFFSET_COMMIT,
            _framed(TXN_OFFSET_COMMIT, values),
            lambda told: _error(told.topics[0].partitions[0].error_code),
            kind=OF_GROUP,
        )

    def group_offset(self) -> tuple[ErrorCode, int]:
        """Return the group's offset of partition 0, -1 for none; an error if it may still change (KIP-447, 2.5)."""
        topics = [{"name": self._topic, "partition_indexes": [0]}]
        values = {"group_id": self._id, "topics": topics, "require_stable": True}
        told = self._ask(self.coordinator(OF_GROUP), OFFSET_FETCH, values)
        parts = [part for topic in told.topics for part in topic.partitions]  # from 4.0 on none of an unknown group
        error = told.error_code or next((part.error_code for part in parts), 0)
        return ErrorCode(error), next((int(part.committed_offset) for part in parts), NOTHING)

    def end(self, producer: ProducerEpoch, *, commits: bool) -> ProducerRequest:
        """Commit or abort; the answer has the next epoch with transaction.version 2."""
        values = {
            "transactional_id": self._id,
            "producer_id": producer.producer_id,
            "producer_epoch": producer.epoch,
            "committed": commits,
        }
        return ProducerRequest(END_TXN, _framed(END_TXN, values), _next_epoch)

    def write_marker(self, partition: int, marker: LoggedBatch) -> ProducerRequest:
        """Have a marker written that is in the log already, as its coordinator does that got no answer."""
        values = {
            "producer_id": marker.producer.producer_id,
            "producer_epoch": marker.producer.epoch,
            "transaction_result": marker.what == COMMIT,
            "topics": [{"name": self._topic, "partition_indexes": [partition]}],
            "coordinator_epoch": marker.coordinator_epoch,
            "transaction_version": self._level,
        }
        return ProducerRequest(
            WRITE_TXN_MARKERS,
            _framed(WRITE_TXN_MARKERS, {"markers": [values]}),
            lambda told: _error(told.markers[0].topics[0].partitions[0].error_code),
            partition,
        )

    # How they ask.

    def until_told(self, request: ProducerRequest) -> ProducerAnswer:
        """Send a request until the answer is not to wait; a coordinator that has moved, or died, is looked for again.

        Raises:
            DeadlineExceededError: it was for half a minute.
        """
        return until(lambda: self._told(request), deadline_s=DEADLINE_S, what="an answer")

    def _told(self, request: ProducerRequest) -> ProducerAnswer | None:
        try:
            answer = self._sent(self._connection(self.broker_of(request)), request)()
        except PuppetError:
            if request.partition is not None:
                raise
            self.forget_coordinators()
            return None
        if answer[0] in MOVED:
            self.forget_coordinators()
        return answer if answer[0] not in WAITS else None

    def broker_of(self, request: ProducerRequest) -> int:
        """Return the broker that a request is for."""
        return self.coordinator(request.kind) if request.partition is None else self.leader_of(request.partition)

    def leader_of(self, partition: int) -> int:
        """Return the broker that leads a partition."""
        return self._leaders[partition]

    def moved(self, partition: int, leader: int) -> None:
        """Take note that another broker leads a partition."""
        self._leaders[partition] = leader

    def forget_coordinators(self) -> None:
        """Look for every coordinator again before it is asked."""
        self._coordinators.clear()

    def sent_apart(self, request: ProducerRequest) -> Callable[[], ProducerAnswer]:
        """Send a request on a connection of its own, so that nothing waits behind it; return what waits for its answer.

        What is returned raises ``PuppetError`` if there is none.
        """
        connection = self._connected(self.broker_of(request))
        self._apart.append(connection)
        return self._sent(connection, request)

    def _sent(self, connection: PuppetConnection, request: ProducerRequest) -> Callable[[], ProducerAnswer]:
        version = self._version(connection, request.api_key)
        connection.send(request.framed(version))
        return lambda: request.read(connection.answer(request.api_key, version))

    # What there is.

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

    def coordinator(self, kind: int = OF_TRANSACTION) -> int:
        """Return the broker that coordinates the transactional id, or the group."""
        if kind not in self._coordinators:
            found = until(lambda: self._found(kind), deadline_s=DEADLINE_S, what=f"a coordinator of {self._id}")
            self._coordinators[kind] = int(found.node_id)
        return self._coordinators[kind]

    def _found(self, kind: int) -> Any:  # noqa: ANN401 - kafka-python is untyped
        told = self._ask(self.leader_of(0), FIND_COORDINATOR, {"key": self._id, "key_type": kind})
        return None if told.error_code else told

    def _ask(self, broker: int, api_key: int, values: Values) -> Any:  # noqa: ANN401 - kafka-python is untyped
        connection = self._connection(broker)
        return connection.ask(api_key, values, self._version(connection, api_key))

    def _version(self, connection: PuppetConnection, api_key: int) -> int:
        newest = connection.newest_version(api_key)
        return min(newest, self._newest.get(api_key, newest))

    def _connection(self, broker: int) -> PuppetConnection:
        if broker not in self._connections:
            self._connections[broker] = self._connected(broker)
        return self._connections[broker]

    def _connected(self, broker: int) -> PuppetConnection:
        host, _, port = self._address(broker).rpartition(":")
        return PuppetConnection((host, int(port)), CLIENT_ID, MESSAGES)


def _framed(api_key: int, values: Values) -> Callable[[int], bytes]:
    return lambda version: request_frame(ALL_MESSAGES[api_key], version, values, CORRELATION_ID, CLIENT_ID)


def _error(code: int) -> ProducerAnswer:
    return ErrorCode(code), None


def _given_epoch(told: Any) -> ProducerAnswer:  # noqa: ANN401 - kafka-python is untyped
    return ErrorCode(told.error_code), ProducerEpoch(int(told.producer_id), int(told.producer_epoch))


def _next_epoch(told: Any) -> ProducerAnswer:  # noqa: ANN401 - kafka-python is untyped
    epoch = NOTHING if told.producer_epoch is None else int(told.producer_epoch)
    return ErrorCode(told.error_code), ProducerEpoch(int(told.producer_id), epoch) if epoch >= 0 else None


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
