"""How do several producers send side by side? Each is a process of its own, and keeps a ledger of its own.

The parent alone hears Ctrl-C, and says when a producer is to stop. How far each is stands in memory that both share.
A producer whose parent is gone, in whatever way, takes the answers of a moment more, and ends. One that fails says why;
of one that somebody killed the parent says so.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Self, cast

from conformance.clients.ledger_load import LedgerLoad
from conformance.clients.ledger_producer import FLUSH_MARGIN_S, HURRY_S, LedgerProducer, Progress
from conformance.console import silence_libraries
from conformance.record.soak import ledger_directories
from fault_injection.releases import UsageError
from oracle.rules.message_format import stamps_epochs
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess
    from pathlib import Path
    from types import TracebackType

    from conformance.record.directory import RunDirectory
    from conformance.record.soak import Soak

ATTEMPTS_S = 5.0
"""A file of attempts has so many seconds' records: an hour's are some hundred files."""
LINGER_MS = 50
"""librdkafka sends a request for each partition: with little patience it would send one for each record."""
IN_FLIGHT_MAX = 5
"""As Kafka's own producer has it (``max.in.flight.requests.per.connection``)."""
PROGRESS_S = 0.1
ENDING_S = 10.0
"""How much longer than its client may wait for answers a producer may take to end, before it is killed."""
ORPHAN_S = 2 * HURRY_S
"""How long a producer without a parent may take to end in good order."""
WORDS_MAX = 2_000
"""So long is what a producer says of its failure at most: it fits into a pipe that nobody reads yet."""


class ProducerEndedError(Exception):
    """A producer ended before it had sent what it was to send; the message says which, and why."""


@dataclass(frozen=True, slots=True)
class _Order:
    """What one producer is to do; the attributes are those of ``LedgerProducer``."""

    connection: dict[str, str]
    load: LedgerLoad
    directory: Path


@dataclass(slots=True)
class _Child:
    """A producer: its process, the end of its pipe that is ours, and what it shares with us.

    Attributes:
        has_ended: whether it is known to.
        failure: why, if that was too early.
    """

    number: int
    process: SpawnProcess
    connection: Connection
    shared: Any
    has_ended: bool = False
    failure: str | None = None

    @property
    def progress(self) -> Progress:
        return Progress(*self.shared)

    def tell(self, word: str) -> None:
        with suppress(OSError):  # it has ended
            self.connection.send(word)

    def note_end(self) -> None:
        """Take its last words; it has ended."""
        self.process.join()
        self.has_ended = True
        try:
            self.failure = self.connection.recv()
        except (EOFError, OSError):
            code = self.process.exitcode or 0
            how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
            self.failure = how


class SoakProducers:
    """The producers of a soak, in a ``with`` block, at whose end they are stopped and have ended.

    Args:
        run: in which ``producers/<k>/ledger`` are written.
        soak: what they are to send.
        connection: settings of librdkafka that reach the cluster.

    Raises:
        UsageError: what is asked cannot be shared out among so many.
    """

    def __init__(self, run: RunDirectory, soak: Soak, connection: Mapping[str, str]) -> None:
        directories = ledger_directories(run, soak)
        self._orders = [
            _Order(dict(connection), load, directory / "ledger")
            for load, directory in zip(loads_of(soak), directories, strict=True)
        ]
        self._children: list[_Child] = []
        self._patience_s = max(order.load.delivery_timeout_s for order in self._orders) + FLUSH_MARGIN_S + ENDING_S

    def __enter__(self) -> Self:
        try:
            for number, order in enumerate(self._orders):
                self._children.append(_started(number, order))
        except BaseException:
            self.hurry()
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.hurry()
        self._end()
        if error is None:
            self._raise_failures()

    @property
    def progress(self) -> Progress:
        """Return how far all of them are together."""
        each = self.progress_of_each
        acknowledged, unknown = sum(one.acknowledged for one in each), sum(one.unknown for one in each)
        return Progress(sum(one.sent for one in each), acknowledged, unknown)

    @property
    def progress_of_each(self) -> tuple[Progress, ...]:
        """Return how far each of them is, as of a moment ago."""
        return tuple(child.progress for child in self._children)

    @property
    def failures(self) -> dict[int, str]:
        """Return why producers, by their numbers, have ended too early."""
        return {child.number: child.failure for child in self._children if child.failure is not None}

    def stop(self) -> None:
        """Send no more records; those that were sent are waited for."""
        for child in self._children:
            child.tell("stop")

    def hurry(self) -> None:
        """Wait only a moment for what brokers answer, once they are told to stop."""
        self._patience_s = HURRY_S + ENDING_S
        for child in self._children:
            child.tell("hurry")

    def done(self, wait_s: float) -> bool:
        """Wait so long, or until all records are sent and answered; return whether they are.

        Raises:
            ProducerEndedError: a producer has failed, or was killed; the others go on until the block ends.
        """
        deadline = time.monotonic() + wait_s
        while self._alive:
            if not self._note_ends(deadline):
                return False
            self._raise_failures()
        return True

    @property
    def _alive(self) -> list[_Child]:
        return [child for child in self._children if not child.has_ended]

    def _note_ends(self, deadline: float) -> bool:
        """Wait until some have ended, and note how; return whether they did before a deadline."""
        alive = {child.process.sentinel: child for child in self._alive}
        ended = wait(alive, max(0.0, deadline - time.monotonic()))
        for sentinel in ended:
            alive[cast("int", sentinel)].note_end()
        return bool(ended)

    def _raise_failures(self) -> None:
        if self.failures:
            raise ProducerEndedError("; ".join(f"producer {number} {why}" for number, why in self.failures.items()))

    def _end(self) -> None:
        """Stop all, wait as long as their clients may, and end those that take longer."""
        self.stop()
        deadline = time.monotonic() + self._patience_s
        while self._alive and self._note_ends(deadline):
            pass
        for child in self._alive:
            child.process.kill()
            child.note_end()
            child.failure = f"took more than {self._patience_s:g} s to end, and was killed"
        for child in self._children:
            child.connection.close()


def loads_of(soak: Soak) -> tuple[LedgerLoad, ...]:
    """Return what each producer of a soak sends: its share of the records, and of the rate.

    Raises:
        UsageError: there are fewer records a second than producers, or producers are idempotent with acks=1, or on a
            release that has none.
    """
    if soak.rate is not None and soak.rate < soak.producers:
        raise UsageError(f"--rate {soak.rate}: {soak.producers} producers send at least one record a second each.")
    loads = tuple(
        LedgerLoad(
            topic=soak.topic,
            partitions=soak.partitions,
            acks=soak.acks.of(number),
            is_idempotent=soak.is_idempotent,
            base=soak.first_id(number),
            value_length=soak.value_length,
            records=_share(soak.records, soak.producers, number),
            rate=_share(soak.rate, soak.producers, number),
            attempts_s=ATTEMPTS_S,
            linger_ms=LINGER_MS,
            in_flight_max=IN_FLIGHT_MAX,
        )
        for number in range(soak.producers)
    )
    if soak.is_idempotent and not stamps_epochs(soak.version):
        raise UsageError(f"--idempotent: {soak.version} has no idempotent producers (KIP-98, from 0.11 on).")
    if any(load.is_idempotent and load.acks is not Acks.ALL for load in loads):
        raise UsageError(f"--acks {soak.acks}: an idempotent producer waits for all in-sync replicas (--acks all).")
    return loads


def _share(whole: int | None, count: int, number: int) -> int | None:
    """Return one of so many shares of a whole, which differ by one at most."""
    return None if whole is None else whole // count + (number < whole % count)


def _started(number: int, order: _Order) -> _Child:
    spawning = get_context("spawn")
    ours, its = spawning.Pipe()
    shared = spawning.RawArray("q", 3)
    process = spawning.Process(target=_produce, args=(its, order, shared), name=f"producer {number}", daemon=True)
    with _deaf_to_ctrl_c():
        process.start()
    its.close()  # so that the end of the process is the end of the pipe
    return _Child(number, process, ours, shared)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Have processes that are started here never hear Ctrl-C, not even before they can say so."""
    resource_tracker.ensure_running()  # its start would end the blocking
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _produce(connection: Connection, order: _Order, shared: Any) -> None:  # noqa: ANN401 - of three numbers
    """Be a producer: send until all is sent, or the other end says so, or is gone; tell what went wrong."""
    silence_libraries()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    failure: str | None = None
    try:
        producer, stop = LedgerProducer(order.connection, order.load, order.directory), threading.Event()
        threading.Thread(target=_obey, args=(connection, producer, stop, shared), daemon=True).start()
        producer.send(stop)
        _share_progress(producer, shared)
    except UsageError as refused:
        failure = f"failed: {refused}"
    except Exception as error:  # noqa: BLE001 - whatever it was, the parent has to say it
        failure = f"failed: {error!r}"
    with suppress(OSError):  # nobody is there any more
        connection.send(failure and failure[:WORDS_MAX])


def _obey(connection: Connection, producer: LedgerProducer, stop: threading.Event, shared: Any) -> None:  # noqa: ANN401 - see above
    """Do what the parent says, and tell it how far the producer is; without a parent, end."""
    try:
        while True:
            _share_progress(producer, shared)
            if connection.poll(PROGRESS_S):
                if connection.recv() == "hurry":
                    producer.hurry()
                else:
                    stop.set()
    except (EOFError, OSError):
        producer.hurry()
        stop.set()
    threading.main_thread().join(ORPHAN_S)
    os._exit(1)


def _share_progress(producer: LedgerProducer, shared: Any) -> None:  # noqa: ANN401 - see above
    told = producer.progress
    shared[:] = (told.sent, told.acknowledged, told.unknown)
