"""How are many records sent so that each is in the ledger before it is sent, and its outcome after?

One producer at a time sends to all partitions in turn. Half a second's records are written as attempts, synced, and
sent; what producers are told is written about once a second. Whatever ends the tester, the ledger is whole: an attempt
without outcome is indeterminate.

With retries an error says nothing about earlier attempts: it is a refusal only if the record was never part of a
request. A producer that fails for good (``KafkaError.fatal``) is replaced; order is promised within one producer only.
Where one after the other fails so, the ledger ends: this user cannot write.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, KafkaException, Producer

from conformance.clients.ledger_load import producer_settings
from conformance.clients.outcomes import kafka_error_name
from conformance.clients.records import key_of, value_of
from conformance.record.ledger import NOT_SENT, Attempt, LedgerWriter, OutcomeEntry
from fault_injection.releases import UsageError
from oracle.vocabulary import Acks, ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from threading import Event

    from conformance.clients.ledger_load import LedgerLoad

ATTEMPTS_AT_ONCE = 10_000
WRITTEN_EVERY_S = 1.0
POLL_S = 0.05
FLUSH_MARGIN_S = 10.0
HURRY_S = 3.0
IN_VAIN_MAX = 5
"""So many producers may fail for good in a row before any record was acknowledged."""
AGAIN_S = 1.0
"""How long after a producer that failed for good in vain the next one begins."""


class ProducersFailError(UsageError):
    """One producer after the other failed for good; the message says why. The ledger until then is whole."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a load is: records sent, and what producers were told."""

    sent: int
    acknowledged: int
    unknown: int


class LedgerProducer:
    """Sends a load and keeps its ledger.

    Args:
        connection: settings of librdkafka that reach the cluster.
        load: what to send.
        directory: of the ledger.
    """

    def __init__(self, connection: Mapping[str, str], load: LedgerLoad, directory: Path) -> None:
        self._settings = producer_settings(connection, load)
        self._load = load
        self._ledger = LedgerWriter(directory)
        self._told: list[OutcomeEntry] = []
        self._counts = dict.fromkeys(ProduceOutcome, 0)
        self._sent = 0
        self._written_at = time.monotonic()
        self._failed_for_good: str | None = None
        self._patience_s = load.delivery_timeout_s + FLUSH_MARGIN_S
        self.senders: list[int] = []

    @property
    def progress(self) -> Progress:
        """Return how far it is."""
        told = self._counts
        return Progress(self._sent, told[ProduceOutcome.ACKNOWLEDGED], told[ProduceOutcome.INDETERMINATE])

    def send(self, stop: Event, on_sender: Callable[[int], None] = lambda _: None) -> None:
        """Send until all records are sent or it is told to stop, and wait for what brokers answer.

        Args:
            stop: set to stop; what was sent by then is waited for.
            on_sender: told the first record id of a producer that replaces one that failed for good.

        Raises:
            ProducersFailError: one after the other fails for good, and nothing is acknowledged meanwhile.
        """
        vain = _InVain(self._load.delivery_timeout_s)
        following = self._send_by_one(self._load.base, stop)
        while following is not None:
            if vain.is_now(self.progress.acknowledged):
                if vain.is_too_long:
                    raise ProducersFailError(f"no producer can write to {self._load.topic}: {self._failed_for_good}")
                stop.wait(AGAIN_S)
            self.senders.append(following)
            on_sender(following)
            following = self._send_by_one(following, stop)

    @property
    def _has_failed(self) -> bool:
        """Return whether the producer of now has failed for good."""
        return self._failed_for_good is not None

    def hurry(self) -> None:
        """Wait only a moment for what brokers answer, once it is told to stop."""
        self._patience_s = HURRY_S

    def _send_by_one(self, first: int, stop: Event) -> int | None:
        """Send from a record id on by one producer; return the id from which another one goes on, if it failed."""
        self._failed_for_good = None
        try:
            with _producer(self._settings) as producer:
                following = self._send_from(first, producer, stop)
                self._await_answers(producer)
        finally:
            self._write_outcomes()
        is_over = stop.is_set() or not self._next_count(following)
        return following if self._has_failed and not is_over else None

    def _send_from(self, following: int, producer: Producer, stop: Event) -> int:
        """Send from a record id on; return the id of the first record that is left."""
        pace = _Pace(self._load.rate)
        while not (stop.is_set() or self._has_failed) and (count := self._next_count(following)):
            chunk = range(following, following + count)
            self._write_attempts(chunk)
            self._send_chunk(producer, chunk, stop, pace)
            following = chunk.stop
        return following

    def _next_count(self, following: int) -> int:
        at_once = min(ATTEMPTS_AT_ONCE, max(1, (self._load.rate or 2 * ATTEMPTS_AT_ONCE) // 2))
        if self._load.records is None:
            return at_once
        return min(at_once, self._load.base + self._load.records - following)

    def _write_attempts(self, chunk: range) -> None:
        load, now, sender = self._load, time.time_ns(), len(self.senders)
        self._ledger.record_attempts(
            [
                Attempt(one, "", load.topic, self._partition_of(one), int(load.acks), sender, load.value_length, now)
                for one in chunk
            ]
        )

    def _partition_of(self, record_id: int) -> int:
        return (record_id - self._load.base) % self._load.partitions

    def _send_chunk(self, producer: Producer, chunk: range, stop: Event, pace: _Pace) -> None:
        for record_id in chunk:
            while (wait_s := pace.wait_s()) > 0 and not stop.is_set():
                self._serve(producer, min(wait_s, POLL_S))
            if not self._send_one(producer, record_id, stop):
                self._tell(record_id, ProduceOutcome.REFUSED, NOT_SENT, None)
            pace.sent()
            if not self._sent % 100:
                self._serve(producer, 0)
        self._serve(producer, 0)

    def _send_one(self, producer: Producer, record_id: int, stop: Event) -> bool:
        """Hand a record to the client, waiting for room; return whether it took it."""
        key, value = key_of(record_id), value_of(record_id, self._load.value_length)
        while not stop.is_set() and not self._has_failed:
            try:
                producer.produce(
                    self._load.topic, value, key, self._partition_of(record_id), on_delivery=self._on_delivery
                )
            except BufferError:
                self._serve(producer, POLL_S)
            except KafkaException as error:
                return self._not_taken(record_id, error.args[0])
            else:
                self._sent += 1
                return True
        return False

    def _not_taken(self, record_id: int, error: Any) -> bool:  # noqa: ANN401 - untyped client
        if self._fails_for_good(error):
            return False
        self._tell(record_id, ProduceOutcome.REFUSED, kafka_error_name(error.name()), None)
        return True

    def _on_delivery(self, error: Any, message: Any) -> None:  # noqa: ANN401 - untyped client
        record_id = int.from_bytes(message.key(), "big")
        if error is None:
            is_told = self._load.acks is not Acks.NONE
            outcome = ProduceOutcome.ACKNOWLEDGED if is_told else ProduceOutcome.INDETERMINATE
            offset = message.offset() if is_told and (message.offset() or 0) >= 0 else None
            self._tell(record_id, outcome, None, offset)
            return
        self._fails_for_good(error)
        self._tell(record_id, ProduceOutcome.INDETERMINATE, kafka_error_name(error.name()), None)

    def _tell(self, record_id: int, outcome: ProduceOutcome, error: str | None, offset: int | None) -> None:
        self._counts[outcome] += 1
        self._told.append(OutcomeEntry(record_id, outcome, error, offset, time.time_ns()))

    def _fails_for_good(self, error: Any) -> bool:  # noqa: ANN401 - untyped client
        """Note an error after which the producer sends nothing any more; return whether it is one."""
        if not (error.fatal() or error.code() == KafkaError._FATAL):  # noqa: SLF001 - librdkafka's name of it
            return False
        self._failed_for_good = self._failed_for_good or error.str()
        return True

    def _serve(self, producer: Producer, wait_s: float) -> None:
        """Take what the client has to say: outcomes, and that it failed for good, which it raises."""
        try:
            producer.poll(wait_s)
        except KafkaException as failure:
            if not self._fails_for_good(failure.args[0]):
                raise
        if self._told and time.monotonic() - self._written_at >= WRITTEN_EVERY_S:
            self._write_outcomes()

    def _write_outcomes(self) -> None:
        if self._told:
            self._ledger.record_outcomes(self._told)
            self._told = []
        self._written_at = time.monotonic()

    def _await_answers(self, producer: Producer) -> None:
        """Wait until the client knows of every record, at most as long as it tries."""
        began = time.monotonic()
        if self._has_failed:
            producer.purge(in_flight=False)
        while len(producer) and time.monotonic() - began < self._patience_s:
            self._serve(producer, POLL_S)


class _InVain:
    """For how long has one producer after the other failed for good, and nothing was acknowledged?"""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._acknowledged = self._failed = 0
        self._since = time.monotonic()

    def is_now(self, acknowledged: int) -> bool:
        """Count a producer that failed, given what was acknowledged so far; return whether it failed in vain."""
        self._failed += 1
        if acknowledged > self._acknowledged:
            self._acknowledged, self._failed, self._since = acknowledged, 0, time.monotonic()
        return bool(self._failed)

    @property
    def is_too_long(self) -> bool:
        """Return whether to give up: sooner if there never was a producer that could write."""
        is_long = time.monotonic() - self._since > self._patience_s
        return self._failed >= IN_VAIN_MAX and (is_long or not self._acknowledged)


class _Pace:
    """When may the next record be sent, at so many a second? What was missed while brokers were away is not made up."""

    def __init__(self, rate: int | None) -> None:
        self._interval_s = 0.0 if rate is None else 1 / rate
        self._due = time.monotonic()

    def wait_s(self) -> float:
        return self._due - time.monotonic() if self._interval_s else 0.0

    def sent(self) -> None:
        if self._interval_s:
            self._due = max(self._due + self._interval_s, time.monotonic() - 1.0)


@contextmanager
def _producer(settings: Mapping[str, str | int | bool]) -> Iterator[Producer]:
    producer = Producer(dict(settings))
    try:
        yield producer
    finally:
        producer.purge()
        producer.close()
