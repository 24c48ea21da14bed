"""Between which clusters does the fidelity benchmark alternate?

All arms are alive at once and equal but for what stands between their brokers: nothing (``DirectRelay``: each broker
advertises its own address) or the gate with nothing armed. One topic at a time exists on one arm at a time.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confluent_kafka.admin import AdminClient, NewTopic

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import MetadataMode, find_release, jars_of, schema_jar
from fault_injection.waiting import until
from fault_injection.wire.proxy import GateProxy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

DIRECT, CONTROL, PROXIED = "direct", "direct again", "proxied"
REPLICAS = [[1, 2, 3], [2, 3, 1], [3, 1, 2]]
DEADLINE_S = 60.0
LOAD_DEADLINE_S = 200.0
OVERRIDES = {"log.segment.delete.delay.ms": "500", "log.segment.bytes": str(256 * 2**20)}


@dataclass(frozen=True, slots=True)
class Load:
    """What is produced in one measurement."""

    what: str
    records: int
    record_bytes: int


class Arm:
    """One cluster of three brokers under a name; ``proxy`` is None where nodes talk directly."""

    def __init__(self, name: str, cluster: Cluster, proxy: GateProxy | None) -> None:
        self.name = name
        self.cluster = cluster
        self.proxy = proxy
        quiet = {"log_level": 0, "logger": logging.getLogger(__name__)}
        self._admin = AdminClient({"bootstrap.servers": cluster.bootstrap, **quiet})

    def measure(self, load: Load, topic: str) -> dict[str, Any]:
        """Put one load on a new topic, and delete it; give what the producer measured and the proxies' CPU seconds."""
        with self.topic(topic):
            cpu = time.process_time()
            measured = _loaded(load, self.cluster.bootstrap, topic)
            measured["tester_cpu_s"] = time.process_time() - cpu
        return measured

    @contextmanager
    def topic(self, topic: str) -> Iterator[None]:
        """Create a topic whose replicas are all in sync, and delete it, with its files, at the end."""
        self._create(topic)
        try:
            yield
        finally:
            self._delete(topic)

    def _create(self, topic: str) -> None:
        new = NewTopic(topic, num_partitions=len(REPLICAS), replica_assignment=REPLICAS)
        self._admin.create_topics([new])[topic].result(DEADLINE_S)
        until(lambda: self._is_led(topic), deadline_s=DEADLINE_S, what=f"leaders and full isr of {topic}")

    def _is_led(self, topic: str) -> bool:
        known = self._admin.list_topics(topic, timeout=DEADLINE_S).topics[topic]
        return len(known.partitions) == len(REPLICAS) and all(
            partition.leader > 0 and len(partition.isrs) == len(self.cluster.spec.broker_ids)
            for partition in known.partitions.values()
        )

    def _delete(self, topic: str) -> None:
        self._admin.delete_topics([topic])[topic].result(DEADLINE_S)
        until(lambda: not self._has_files(topic), deadline_s=DEADLINE_S, what=f"no file of {topic}", interval_s=0.2)

    def _has_files(self, topic: str) -> bool:
        directories = (self.cluster.data_directory(broker) for broker in self.cluster.spec.broker_ids)
        return any(next(directory.glob(f"**/{topic}-*"), None) is not None for directory in directories)


def _loaded(load: Load, bootstrap: str, topic: str) -> dict[str, Any]:
    words = (load.what, bootstrap, topic, str(load.records), str(load.record_bytes))
    command = [sys.executable, "-m", "benchmarks.gate_fidelity_load", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=LOAD_DEADLINE_S)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


@contextmanager
def arms_of(
    names: tuple[str, ...],
    version: str,
    mode: MetadataMode | None,
    directory: Path,
    progress: Callable[[str], None],
    *,
    is_traced: bool,
) -> Iterator[dict[str, Arm]]:
    """Start a cluster for each arm; on exit, whatever the reason, all of them are ended."""
    release = find_release(version)
    spec = ClusterSpec(release, release.metadata_mode(mode), fetch_wait_max_ms=500, overrides=OVERRIDES)
    with ExitStack() as stack:
        arms = {}
        for name in names:
            progress(f"starting {name}: three brokers of {release.version}")
            place = directory / name.replace(" ", "-")
            backend = ProcessBackend()
            stack.callback(backend.close)
            proxy = stack.enter_context(GateProxy(backend.host, schemas=schema_jar())) if name == PROXIED else None
            if proxy is not None and is_traced:
                place.mkdir(parents=True, exist_ok=True)
                proxy.trace_to(place / "wire.ndjson")
            cluster = stack.enter_context(
                Cluster.start(spec, jars_of(release), backend, proxy or DirectRelay(), place / "cluster")
            )
            arms[name] = Arm(name, cluster, proxy)
        yield arms
