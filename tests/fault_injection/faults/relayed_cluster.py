"""A cluster whose every link leads through a gate, clients and ZooKeeper included, and what tests ask its brokers."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Producer

from fault_injection.cluster.client_links import relayed_bootstrap
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import ask
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import MetadataMode, find_release, jars_of, schema_jar
from fault_injection.waiting import NotYetError, until
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.cluster.conftest import NewBackend
from tests.fault_injection.cluster.topics import create_topic

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.protocol.metadata import MetadataRequest, MetadataResponse

DEADLINE_S = 40.0
LAG_MS = 2000


@contextmanager
def relayed_cluster(
    version: str, mode: MetadataMode, new_backend: NewBackend, directory: Path
) -> Iterator[tuple[Cluster, GateProxy]]:
    """Start brokers 1 and 2: a silent one loses its session after 2 s, a follower that lags its place after 2 s."""
    release = find_release(version)
    spec = ClusterSpec(
        release,
        mode,
        broker_ids=(1, 2),
        overrides={"replica.lag.time.max.ms": str(LAG_MS)},
        client_links=True,
        zookeeper_links=True,
    )
    backend = new_backend()
    try:
        with (
            GateProxy(backend.host, backend.peers, schemas=schema_jar()) as gate,
            Cluster.start(spec, jars_of(release), backend, gate, directory) as cluster,
        ):
            yield cluster, gate
    finally:
        backend.close()


def new_topic(cluster: Cluster, name: str) -> str:
    """Create a topic with leader 1 and follower 2, both in sync."""
    create_topic(cluster, name, [1, 2])
    await_partition(cluster, 1, name, leader=1, isr={1, 2})
    return name


def partition_at(cluster: Cluster, broker: int, topic: str) -> tuple[int, frozenset[int]] | None:
    """Return leader and in-sync replicas as one broker knows them."""
    answer = ask(cluster.client_address(broker), MetadataRequest[1](topics=None), MetadataResponse, 5.0)
    found = next((it for it in answer.topics if it.name == topic), None)
    if found is None or not found.partitions:
        return None
    (partition,) = found.partitions
    return int(partition.leader_id), frozenset(map(int, partition.isr_nodes))


def await_partition(cluster: Cluster, broker: int, topic: str, *, leader: int, isr: set[int]) -> None:
    """Wait until a broker knows this leader and these in-sync replicas."""

    def is_known() -> bool:
        seen = partition_at(cluster, broker, topic)
        if seen != (leader, frozenset(isr)):
            raise NotYetError(seen)
        return True

    until(is_known, deadline_s=DEADLINE_S, what=f"broker {broker} knows leader {leader} and in-sync {isr}")


class Client:
    """A producer that reaches the brokers through the relay only, and never tries a record twice."""

    def __init__(self, cluster: Cluster, topic: str, *, acks: str = "all", timeout_ms: int = 2000) -> None:
        self._topic = topic
        self._producer = Producer(
            {
                "bootstrap.servers": relayed_bootstrap(cluster),
                "acks": acks,
                "retries": 0,
                "linger.ms": 0,
                "message.timeout.ms": timeout_ms,
                "log_level": 0,
                "logger": logging.getLogger(__name__),
            }
        )

    def outcome(self, value: bytes) -> str:
        """Send a record and give the name of what came of it: empty for an acknowledgement."""
        outcomes: list[str] = []
        self._producer.produce(
            self._topic, value, on_delivery=lambda error, _: outcomes.append(error.name() if error is not None else "")
        )
        assert self._producer.flush(DEADLINE_S) == 0
        (outcome,) = outcomes
        return outcome
