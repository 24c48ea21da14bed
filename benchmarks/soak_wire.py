"""What does the gate cost a soak? ``python -m benchmarks.soak_wire`` produces through it, and straight to the brokers.

Three brokers, a topic of three replicas, and the gate between all of them that reads record ids and writes a compressed
trace. Producers, each a process, send records of 100 B with acks=all: alternately through the gate and straight to the
brokers. Prints records a second and the ratio, CPU seconds and memory of the tester's process, the most frames and
lines that waited in it, and what the trace takes an hour at this rate.

    python -m benchmarks.soak_wire [--records N] [--rate R] [--pairs P] [--through-only] [--keep DIRECTORY]

``--keep`` leaves the trace of the last load through the gate for ``benchmarks.trace_check``.
"""

from __future__ import annotations

import argparse
import logging
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException, Producer, TopicCollection
from confluent_kafka.admin import AdminClient, NewTopic

from conformance.observation.frame_events import is_wanted
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.client_links import relayed_bootstrap
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import find_release, jars_of, schema_jar
from fault_injection.waiting import NotYetError, until
from fault_injection.wire.proxy import GateProxy

if TYPE_CHECKING:
    from collections.abc import Iterator

THROUGH, BESIDE = "through the gate", "beside it"
SUFFIX = ".ndjson.zst"
BROKERS = (1, 2, 3)
DEADLINE_S, LOAD_DEADLINE_S = 60.0, 550.0
OVERRIDES = {"log.segment.delete.delay.ms": "500", "log.segment.bytes": str(256 * 2**20)}
IDS_OF_A_PRODUCER = 2**32
PRODUCER = {"acks": "all", "enable.idempotence": False, "linger.ms": 20, "max.in.flight.requests.per.connection": 5}
"""Without a limit to what is in flight, requests of a few records queue before the brokers until they time out."""
VALUE = b"v" * 100
UNREAD_MAX = 1024
"""Whoever arms an action waits until so many frames are read."""
PIECE = 100
PAGE_MIB = 4096 / 2**20
HOUR_S, GB = 3600, 10**9


@dataclass(frozen=True, slots=True)
class Measured:
    """One load: its seconds, the tester's CPU seconds, its memory afterwards, and the most that waited in it."""

    seconds: float
    cpu_s: float
    memory_mib: float
    unread: int
    unwritten: int
    trace_bytes: int


class SoakedCluster:
    """The cluster that takes the loads, and the gate between its nodes."""

    def __init__(self, cluster: Cluster, gate: GateProxy, asked: argparse.Namespace, directory: Path) -> None:
        self._cluster, self._gate, self._asked, self._directory = cluster, gate, asked, directory
        quiet = {"log_level": 0, "logger": logging.getLogger(__name__)}
        self._admin = AdminClient({"bootstrap.servers": cluster.bootstrap, **quiet})

    def measured(self, way: str, topic: str, records: int) -> Measured:
        """Put a load on a new topic, and delete it."""
        trace = self._directory / f"{topic}{SUFFIX}"
        self._gate.trace_to(trace, lambda entry: is_wanted(entry.link, entry.api_key))
        self._create(topic)
        bootstrap = relayed_bootstrap(self._cluster) if way == THROUGH else self._cluster.bootstrap
        cpu_s, began = time.process_time(), time.perf_counter()
        unread, unwritten = self._produce(bootstrap, topic, records)
        seconds = time.perf_counter() - began
        self._gate.end_trace()
        cpu_s = time.process_time() - cpu_s
        self._admin.delete_topics([topic])[topic].result(DEADLINE_S)
        return Measured(seconds, cpu_s, memory_mib(), unread, unwritten, trace.stat().st_size)

    def _produce(self, bootstrap: str, topic: str, records: int) -> tuple[int, int]:
        share, rate = records // self._asked.producers, self._asked.rate // self._asked.producers
        words = (bootstrap, topic, str(share), str(rate), str(self._asked.partitions))
        command = [sys.executable, "-m", "benchmarks.soak_wire", "--produce", *words]
        producers = [subprocess.Popen([*command, str(number)]) for number in range(self._asked.producers)]
        try:
            return self._awaited(producers)
        finally:
            for one in producers:
                one.kill()
                one.wait()

    def _awaited(self, producers: list[subprocess.Popen[bytes]]) -> tuple[int, int]:
        """Wait until all have ended, and return the most frames unread and lines unwritten meanwhile."""
        most, ends = (0, 0), time.monotonic() + LOAD_DEADLINE_S
        for one in producers:
            while one.poll() is None and time.monotonic() < ends:
                unread, unwritten = self._gate.backlog
                most = max(most[0], unread), max(most[1], unwritten)
                with_patience(one)
            if one.returncode != 0:
                raise subprocess.SubprocessError(f"a producer ended with {one.returncode}")
        return most

    def _create(self, topic: str) -> None:
        new = NewTopic(topic, num_partitions=self._asked.partitions, replication_factor=len(BROKERS))
        self._admin.create_topics([new])[topic].result(DEADLINE_S)
        until(lambda: self._is_led(topic), deadline_s=DEADLINE_S, what=f"leaders and full isr of {topic}")
        topic_id = until(lambda: self._topic_id(topic), deadline_s=DEADLINE_S, what=f"{topic} has an id")
        self._gate.learn_topic(topic_id, topic)

    def _topic_id(self, topic: str) -> str:
        try:
            described = self._admin.describe_topics(TopicCollection([topic]))[topic].result(DEADLINE_S)
        except KafkaException as error:
            raise NotYetError(error) from error
        return str(described.topic_id)

    def _is_led(self, topic: str) -> bool:
        known = self._admin.list_topics(topic, timeout=DEADLINE_S).topics[topic].partitions
        isrs = [len(one.isrs) for one in known.values()]
        return isrs == [len(BROKERS)] * self._asked.partitions


def with_patience(process: subprocess.Popen[bytes]) -> None:
    """Wait a moment for a process."""
    try:
        process.wait(0.1)
    except subprocess.TimeoutExpired:
        return


def memory_mib() -> float:
    """Return what this process has in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE_MIB


@contextmanager
def soaked(asked: argparse.Namespace, directory: Path) -> Iterator[SoakedCluster]:
    """Start a cluster whose nodes and clients speak through a gate."""
    release = find_release(asked.release)
    spec = ClusterSpec(
        release, release.metadata_mode(None), broker_ids=BROKERS, client_links=True, overrides=OVERRIDES,
        fetch_wait_max_ms=500,
    )  # fmt: skip
    with ExitStack() as stack:
        backend = ProcessBackend()
        stack.callback(backend.close)
        gate = stack.enter_context(
            GateProxy(backend.host, backend.peers, schemas=schema_jar(), reads_ids=True, unread_max=UNREAD_MAX)
        )
        cluster = stack.enter_context(Cluster.start(spec, jars_of(release), backend, gate, directory / "cluster"))
        yield SoakedCluster(cluster, gate, asked, directory)
        if gate.failures or gate.undecodable:
            told(f"the gate failed: {gate.failures}, {gate.undecodable} frames were not decoded")


def produce(bootstrap: str, topic: str, records: str, rate: str, partitions: str, number: str) -> None:
    """Send a producer's records, so many a second if a rate is given."""
    producer = Producer({"bootstrap.servers": bootstrap, **PRODUCER})
    first = int(number) * IDS_OF_A_PRODUCER
    failed: list[str] = []
    began = time.monotonic()
    for start in range(0, int(records), PIECE):
        for record in range(start, min(start + PIECE, int(records))):
            send(producer, topic, (first + record).to_bytes(8, "big"), record % int(partitions), failed)
        producer.poll(0)
        while int(rate) and (ahead_s := start / int(rate) - (time.monotonic() - began)) > 0:
            producer.poll(ahead_s)
    left = producer.flush(DEADLINE_S)
    if left or failed:
        sys.exit(f"{left} records are left, {len(failed)} failed: {failed[:1]}")


def send(producer: Producer, topic: str, key: bytes, partition: int, failed: list[str]) -> None:
    """Send one record, as soon as there is room."""

    def noted(error: object, _: object) -> None:
        if error is not None:
            failed.append(str(error))

    while True:
        try:
            producer.produce(topic, VALUE, key, partition, on_delivery=noted)
        except BufferError:
            producer.poll(0.1)
        else:
            return


def main() -> None:
    """Measure, and print."""
    if sys.argv[1:2] == ["--produce"]:
        produce(*sys.argv[2:])
        return
    asked = _asked()
    ways = (THROUGH,) if asked.through_only else (THROUGH, BESIDE)
    with tempfile.TemporaryDirectory(prefix="soak-wire-") as place, soaked(asked, Path(place)) as cluster:
        cluster.measured(THROUGH, "warm-up", max(asked.records // 10, 1000))
        pairs = [{way: one(cluster, way, number, asked) for way in ways} for number in range(asked.pairs)]
        if asked.keep is not None:
            kept = topic_of(THROUGH, asked.pairs - 1) + SUFFIX
            (asked.keep / kept).write_bytes((Path(place) / kept).read_bytes())
    if not asked.through_only:
        ratio = median(pair[BESIDE].seconds / pair[THROUGH].seconds for pair in pairs)
        told(f"ratio {ratio:.2f} (median of {len(pairs)})")


def topic_of(way: str, number: int) -> str:
    """Return the topic of a load."""
    return f"soak-{number}-{'through' if way == THROUGH else 'beside'}"


def one(cluster: SoakedCluster, way: str, number: int, asked: argparse.Namespace) -> Measured:
    """Measure one load and print it."""
    got = cluster.measured(way, topic_of(way, number), asked.records)
    told(
        f"{asked.records:,} records {way}: {asked.records / got.seconds:,.0f}/s, tester's CPU {got.cpu_s:.1f} s of "
        f"{got.seconds:.1f} s, {got.memory_mib:.0f} MiB, at most {got.unread} frames unread and {got.unwritten} lines "
        f"unwritten, trace {got.trace_bytes / 1e6:.1f} MB: {got.trace_bytes / got.seconds * HOUR_S / GB:.2f} GB an hour"
    )
    return got


def told(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", default="4.4.0", help="Kafka release (default: 4.4.0)")
    parser.add_argument("--records", type=int, default=1_000_000, help="records of a load (default: 10^6)")
    parser.add_argument("--rate", type=int, default=0, help="records a second of all producers (default: no limit)")
    parser.add_argument("--pairs", type=int, default=3, help="loads of each kind (default: 3)")
    parser.add_argument("--producers", type=int, default=4)
    parser.add_argument("--partitions", type=int, default=12)
    parser.add_argument("--through-only", action="store_true", help="no load beside the gate")
    parser.add_argument("--keep", type=Path, help="directory for the last trace through the gate")
    return parser.parse_args()


if __name__ == "__main__":
    main()
