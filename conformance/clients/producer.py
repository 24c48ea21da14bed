"""How does a producer send one record so that all it learns is about one request, and hold a transaction open?

Theory of operation: every record gets a producer of its own, bootstrapped from the broker that leads, with
no retries, no idempotence and no batching: one record is one batch is one request. A record that no request
took up within ``queue_timeout_ms`` is purged from the client's queue; librdkafka reports such a record apart
from one in flight, which makes "there was no leader to send it to" a proven refusal. A record in flight is
never purged: it ends with the broker's answer, the end of its connection, or a timeout, and keeps its doubt.

An answer that the broker does not lead puts the record back into librdkafka's queue although there are no retries:
the client takes it for proof that nothing was appended, which is not so for a request that was parked. The time
until it would be sent again is long; a record that is known to be appended is purged from the queue before that.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

from confluent_kafka import KafkaException, Producer

from conformance.clients import quiet_configuration
from conformance.clients.outcomes import LEADER_NOT_AVAILABLE, kafka_error_name, outcome_of
from conformance.clients.records import VALUE_LENGTH_DEFAULT, key_of, value_of
from fault_injection.waiting import until
from oracle.vocabulary import Acks, ProduceOutcome

if TYPE_CHECKING:
    from types import TracebackType

TIMEOUT_MS_DEFAULT = 30_000
LEADERLESS_TIMEOUT_MS = 1_000
"""How long a record waits in the client's queue where the sender knows that there is no leader to send it to."""
ANSWER_MARGIN_MS = 5_000
"""How much longer than the broker's own timeout the client waits for its answer."""
MESSAGE_TIMEOUT_MS = 24 * 3_600_000
"""librdkafka's per-message timeout: so long that purging and the socket's timeout always come first."""
MESSAGE_BYTES_MAX = 16 * 1024 * 1024
RESEND_AFTER_MS = 120_000
"""When librdkafka would send a record again: later than any outcome is collected."""
NOT_LEADER = "NOT_LEADER_OR_FOLLOWER"
FLUSH_S_MAX = 1.0


@dataclass(frozen=True, slots=True)
class DeliveryReport:
    """What the producer was told about a record.

    Attributes:
        outcome: acknowledged, refused or indeterminate.
        error: None, the name of Kafka's error, or librdkafka's own with a leading underscore.
        offset: the offset as acknowledged; None when none was given.
    """

    outcome: ProduceOutcome
    error: str | None
    offset: int | None


class _ReportedMessage(Protocol):
    def offset(self) -> int | None: ...


class _ReportedError(Protocol):
    def name(self) -> str: ...


class RecordInFlight:
    """One record on its way; close it when its delivery is known or no longer of interest."""

    def __init__(self, producer: Any, acks: Acks, queue_timeout_ms: int) -> None:  # noqa: ANN401 - untyped client
        self._producer = producer
        self._acks = acks
        self._purge_at = time.monotonic() + queue_timeout_ms / 1000
        self._has_purged = False
        self._is_appended = False
        self._delivery: DeliveryReport | None = None

    def poll(self) -> DeliveryReport | None:
        """Serve the client's events and return the delivery if it is known; returns at once."""
        if self._delivery is None:
            self._purge_if_due()
            self._producer.poll(0)
        return self._delivery

    def appended(self) -> None:
        """Note that the leader has appended the record: it must not be sent a second time."""
        self._is_appended = True

    def await_delivery(self, deadline_s: float) -> DeliveryReport:
        """Wait until the delivery is known.

        Raises:
            DeadlineExceededError: it was still unknown after ``deadline_s`` seconds.
        """
        return until(self.poll, deadline_s=deadline_s, what="the producer to know", interval_s=0.005)

    def close(self) -> None:
        """Give the record up where it still waits, and stop the client; a known delivery stays known."""
        if self._delivery is None:
            self._producer.purge(in_queue=True, in_flight=True)
            self._producer.flush(FLUSH_S_MAX)
        self._producer.close()

    def _purge_if_due(self) -> None:
        if self._is_appended:
            self._producer.purge(in_queue=True, in_flight=False)
        elif not self._has_purged and time.monotonic() >= self._purge_at:
            self._has_purged = True
            self._producer.purge(in_queue=True, in_flight=False)

    def _on_delivery(self, error: _ReportedError | None, message: _ReportedMessage) -> None:
        name = None if error is None else kafka_error_name(error.name())
        if name == "_PURGE_QUEUE" and self._is_appended:
            name = NOT_LEADER
        elif name == "_PURGE_QUEUE" and self._has_purged:
            name = LEADER_NOT_AVAILABLE
        offset = message.offset() if name is None else None
        self._delivery = _delivery(self._acks, name, offset)

    def _produce(self, topic: str, partition: int, record: _Record) -> None:
        try:
            self._producer.produce(
                topic,
                partition=partition,
                key=key_of(record.id),
                value=value_of(record.id, record.value_length),
                timestamp=record.timestamp_ms,
                on_delivery=self._on_delivery,
            )
        except KafkaException as rejected:
            name = kafka_error_name(rejected.args[0].name())
            self._delivery = _delivery(self._acks, name, None)


@dataclass(frozen=True, slots=True)
class _Record:
    id: int
    value_length: int
    timestamp_ms: int


def send(  # noqa: PLR0913 - a request has this many settings, each with a name
    address: str,
    topic: str,
    partition: int,
    record_id: int,
    acks: Acks,
    timeout_ms: int = TIMEOUT_MS_DEFAULT,
    *,
    value_length: int = VALUE_LENGTH_DEFAULT,
    queue_timeout_ms: int = TIMEOUT_MS_DEFAULT,
    timestamp_ms: int = 0,
) -> RecordInFlight:
    """Send one record in one request, once.

    Args:
        address: ``host:port`` of a live broker's client listener, the leader's where there is a leader.
        topic: the topic; it must exist.
        partition: the partition.
        record_id: decides key and value.
        acks: what the broker is to wait for.
        timeout_ms: how long the broker may wait for the in-sync replicas before it answers
            REQUEST_TIMED_OUT; the client waits a little longer for that answer.
        value_length: the length of the value in bytes.
        queue_timeout_ms: how long the record may wait for a leader to send it to.
        timestamp_ms: the record's timestamp; 0 for the time of day.
    """
    producer = Producer(_configuration(address, acks, timeout_ms))
    sending = RecordInFlight(producer, acks, queue_timeout_ms)
    sending._produce(topic, partition, _Record(record_id, value_length, timestamp_ms))  # noqa: SLF001 - the two are one unit
    return sending


def _delivery(acks: Acks, error: str | None, offset: int | None) -> DeliveryReport:
    is_known = offset is not None and offset >= 0 and acks is not Acks.NONE
    return DeliveryReport(outcome_of(acks, error), error, offset if is_known else None)


def _configuration(address: str, acks: Acks, timeout_ms: int) -> dict[str, str | int | bool]:
    return {
        **quiet_configuration(address),
        "acks": int(acks),
        "retries": 0,
        "retry.backoff.ms": RESEND_AFTER_MS,
        "retry.backoff.max.ms": RESEND_AFTER_MS,
        "enable.idempotence": False,
        "linger.ms": 0,
        "batch.num.messages": 1,
        "message.max.bytes": MESSAGE_BYTES_MAX,
        "message.timeout.ms": MESSAGE_TIMEOUT_MS,
        "request.timeout.ms": timeout_ms,
        "socket.timeout.ms": timeout_ms + ANSWER_MARGIN_MS,
    }


# How is a transaction kept open for as long as a test looks at it? One transactional producer, ended explicitly.


DEADLINE_S = 30.0
TRANSACTION_TIMEOUT_MS = 120_000


class OpenTransaction:
    """A transaction that begins with the block; one that is not committed by its end is aborted.

    Args:
        address: ``host:port`` of a broker.
        transactional_id: of the producer.
    """

    def __init__(self, address: str, transactional_id: str) -> None:
        settings = {"transactional.id": transactional_id, "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS}
        self._producer = Producer({**quiet_configuration(address), **settings})
        self._is_open = False

    def __enter__(self) -> Self:
        self._producer.init_transactions(DEADLINE_S)
        self._producer.begin_transaction()
        self._is_open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_open:
            return
        try:
            self._producer.abort_transaction(DEADLINE_S)
        except KafkaException:
            if error is None:
                raise  # else the first error says more

    def produce(self, topic: str, record_id: int) -> None:
        """Have the leader append a record of the transaction to partition 0."""
        self._producer.produce(topic, partition=0, key=key_of(record_id), value=value_of(record_id))
        left = self._producer.flush(DEADLINE_S)
        assert left == 0, f"record {record_id} was not appended in {DEADLINE_S:g} s"

    def commit(self) -> None:
        """Commit; returns when the coordinator says so."""
        self._producer.commit_transaction(DEADLINE_S)
        self._is_open = False
