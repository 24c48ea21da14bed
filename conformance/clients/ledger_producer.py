"""How are many records sent so that each is in the ledger before it is sent, and its outcome after?

One producer at a time sends to all partitions in turn, some records to each. Half a second's records are written as
attempts, in one table, synced, and sent; what producers are told is written about once a second. Whatever ends the
tester, the ledger is whole: an attempt without outcome is indeterminate.

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

from conformance.clients.ledger_columns import ToldOutcomes, attempts_of
from conformance.clients.ledger_load import producer_settings
from conformance.clients.outcomes import kafka_error_name
from conformance.clients.records import messages_of
from conformance.record.ledger import NOT_SENT, LedgerWriter
from fault_injection.releases import UsageError
from oracle.vocabulary import ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from threading import Event

    from conformance.clients.ledger_load import LedgerLoad
    from conformance.clients.records import KeyedValue

WRITTEN_EVERY_S = 1.0
OUTCOMES_MAX = 100_000
"""So many outcomes are kept at most; more are written sooner."""
A_BATCH, BITE_MIN, BITE_MAX = 100, 1_000, 10_000
"""So many records are handed to the client at once: of one partition, and of all before its answers are taken."""
BITE_BYTES_MAX = 4 * 2**20
"""So many bytes of values are made at once, where values are large."""
POLL_S = 0.05
TICK_S = 0.002
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
        self._told = ToldOutcomes(load.acks, self._fails_for_good)
        self._sent = 0
        self._written_at = time.monotonic()
        self._failed_for_good: str | None = None
        self._patience_s = load.delivery_timeout_s + FLUSH_MARGIN_S
        self.senders: list[int] = []
        self.progress = Progress(0, 0, 0)
        """How far it is, as of a moment ago."""

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
            self._ledger.append_attempts(attempts_of(chunk, self._load, len(self.senders)))
            self._send_chunk(producer, chunk, stop, pace)
            following = chunk.stop
        return following

    def _next_count(self, following: int) -> int:
        at_once = self._load.at_once
        if self._load.records is None:
            return at_once
        return min(at_once, self._load.base + self._load.records - following)

    def _send_chunk(self, producer: Producer, chunk: range, stop: Event, pace: _Pace) -> None:
        """Send records in bites: all that may be sent by now, a batch for each partition."""
        left = chunk
        while left and not (stop.is_set() or self._has_failed):
            if not (count := pace.allowed(min(len(left), self._bite))):
                self._serve(producer, pace.wait_s())
                continue
            bite, left = left[:count], left[count:]
            for number in range(min(count, self._load.partitions)):
                self._send_batch(producer, bite[number :: self._load.partitions], stop)
            self._serve(producer, 0)
        self._told.refuse(left, NOT_SENT)
        self._serve(producer, 0)

    @property
    def _bite(self) -> int:
        few = max(1, BITE_BYTES_MAX // self._load.value_length)
        return min(few, BITE_MAX, max(BITE_MIN, A_BATCH * self._load.partitions))

    def _send_batch(self, producer: Producer, ids: range, stop: Event) -> None:
        """Hand records of one partition to the client, in their order, waiting for room."""
        load = self._load
        partition = (ids.start - load.base) % load.partitions
        messages = messages_of(ids, load.value_length)
        while messages and not (stop.is_set() or self._has_failed):
            taken = producer.produce_batch(load.topic, messages, partition, on_delivery=self._told.on_delivery)
            self._sent += taken
            messages = [] if taken == len(messages) else self._not_taken(messages)
            if messages:
                self._serve(producer, POLL_S)
        self._told.refuse(map(_record_id, messages), NOT_SENT)

    def _not_taken(self, messages: list[KeyedValue]) -> list[KeyedValue]:
        """Return those for which there was no room; the others that were not taken are refused."""
        left = []
        for message in messages:
            if (error := message.pop("_error", None)) is None:
                continue
            if error.code() == KafkaError._QUEUE_FULL or self._fails_for_good(error):  # noqa: SLF001 - as below
                left.append(message)
            else:
                self._told.refuse([_record_id(message)], kafka_error_name(error.name()))
        return left

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
        self._note_progress()
        if time.monotonic() - self._written_at >= WRITTEN_EVERY_S or len(self._told) >= OUTCOMES_MAX:
            self._write_outcomes()

    def _note_progress(self) -> None:
        acknowledged, unknown = map(self._told.count, (ProduceOutcome.ACKNOWLEDGED, ProduceOutcome.INDETERMINATE))
        self.progress = Progress(self._sent, acknowledged, unknown)

    def _write_outcomes(self) -> None:
        self._note_progress()
        if len(self._told):
            self._ledger.append_outcomes(self._told.taken())
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
    """How many records may be sent by now, at so many a second? Of what brokers missed a second's is made up."""

    def __init__(self, rate: int | None) -> None:
        self._rate = rate
        self._due = time.monotonic()

    def allowed(self, wanted: int) -> int:
        """Return how many of so many records may be sent, and count them as sent."""
        if self._rate is None:
            return wanted
        now = time.monotonic()
        self._due = max(self._due, now - 1.0)
        count = min(wanted, int((now - self._due) * self._rate) + 1) if now >= self._due else 0
        self._due += count / self._rate
        return count

    def wait_s(self) -> float:
        """Return until when to wait: that of a high rate is kept in ticks, and the processor left to others."""
        return min(POLL_S, max(TICK_S, self._due - time.monotonic()))


@contextmanager
def _producer(settings: Mapping[str, str | int | bool]) -> Iterator[Producer]:
    producer = Producer(dict(settings))
    try:
        yield producer
    finally:
        producer.purge()
        producer.close()


def _record_id(message: KeyedValue) -> int:
    return int.from_bytes(message["key"], "big")
