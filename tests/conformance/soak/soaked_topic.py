"""A topic of several partitions behind a gate, and a load on it that knows what was acknowledged."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING, Any, Self

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from conformance.clients import quiet_configuration
from conformance.clients.topics import create_spread_topic
from conformance.record.directory import RunDirectory
from conformance.running.recorder import Recorder, hold_marks
from conformance.soak.brokers import soak_spec
from conformance.soak.rest import at_rest
from fault_injection.cluster.client_links import relayed_bootstrap
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.releases import find_release, jars_of, schema_jar
from fault_injection.waiting import until
from fault_injection.wire.proxy import GateProxy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import TracebackType

    from fault_injection.wire.gate_events import GateEvent
    from tests.fault_injection.cluster.conftest import NewBackend

PARTITIONS = 12
BROKERS = (1, 2, 3)
PAUSE_S = 0.002
READ_S = 120.0
QUEUED_MAX = 20_000


@dataclass
class Soaked:
    """Brokers of a soak, with their gate.

    Attributes:
        on_gate_event: who is told of holds just now.
    """

    cluster: Cluster
    gate: GateProxy
    directory: Path
    on_gate_event: Callable[[GateEvent], None] = lambda _: None

    def topic(self, name: str) -> str:
        """Make a topic whose partitions are spread over all brokers."""
        assignments = [[(number + place) % 3 + 1 for place in range(3)] for number in range(PARTITIONS)]
        addresses = [self.cluster.client_address(broker) for broker in self.cluster.live_brokers]
        settings = {"min.insync.replicas": "2", "unclean.leader.election.enable": "false"}
        create_spread_topic(addresses, name, assignments, settings)
        at_rest(self.cluster, name, PARTITIONS, 30)
        return name

    @contextmanager
    def recorded(self, name: str) -> Iterator[tuple[RunDirectory, Recorder]]:
        """Yield a run directory, and who writes its timeline."""
        run = RunDirectory.create(self.directory, name, ["producers"])
        with Recorder(run.path) as recorder:
            self.on_gate_event = hold_marks(recorder)
            try:
                yield run, recorder
            finally:
                self.on_gate_event = lambda _: None

    def read(self, topic: str, ends: tuple[int, ...]) -> list[int]:
        """Read which records a topic holds, through the gate."""
        settings = {**quiet_configuration(relayed_bootstrap(self.cluster)), "group.id": "unused"}
        consumer = Consumer({**settings, "auto.offset.reset": "earliest"})
        wanted = sum(ends)
        found: list[int] = []
        try:
            consumer.assign([TopicPartition(topic, number, 0) for number, end in enumerate(ends) if end])

            def is_read() -> bool:
                found.extend(int(message.value()) for message in consumer.consume(10_000, 0.2) if not message.error())
                return len(found) >= wanted

            until(is_read, deadline_s=READ_S, what=f"{wanted} records to be read")
        finally:
            consumer.close()
        return found


@contextmanager
def soaked(version: str, new_backend: NewBackend, directory: Path) -> Iterator[Soaked]:
    """Start three brokers of a release, in its default metadata mode."""
    release = find_release(version)
    spec = soak_spec(release, release.default_metadata_mode, len(BROKERS), 30_000)
    told: list[Soaked] = []

    def on_event(event: GateEvent) -> None:
        if told:
            told[0].on_gate_event(event)

    backend = new_backend()
    try:
        with (
            GateProxy(backend.host, backend.peers, schemas=schema_jar(), on_event=on_event) as gate,
            Cluster.start(spec, jars_of(release), backend, gate, directory / "brokers") as cluster,
        ):
            told.append(Soaked(cluster, gate, directory))
            yield told[0]
    finally:
        backend.close()


class Load:
    """Sends records to all partitions in turn, in a thread, until it is stopped.

    Attributes:
        acknowledged: the numbers of the records that were.
        sent: how many were sent.
    """

    def __init__(self, where: Soaked, topic: str, acks: str) -> None:
        settings = {"acks": acks, "linger.ms": 1, "message.timeout.ms": 60_000}
        self._producer = Producer({**quiet_configuration(relayed_bootstrap(where.cluster)), **settings})
        self._topic = topic
        self._is_over = Flag()
        self._thread = Thread(target=self._send)
        self.acknowledged: set[int] = set()
        self.sent = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._producer.purge()
        self._producer.flush(5)

    def stop(self) -> None:
        """Send no more, and wait for what brokers answer."""
        self._is_over.set()
        self._thread.join()
        self._producer.flush(READ_S)

    def _send(self) -> None:
        while not self._is_over.wait(PAUSE_S):
            if len(self._producer) < QUEUED_MAX:
                with suppress(KafkaException):  # it is known to no broker that the client has asked
                    value = str(self.sent).encode()
                    self._producer.produce(self._topic, value, partition=self.sent % PARTITIONS, on_delivery=self._told)
                    self.sent += 1
            self._producer.poll(0)

    def _told(self, error: Any, message: Any) -> None:  # noqa: ANN401 - untyped client
        if error is None:
            self.acknowledged.add(int(message.value()))
