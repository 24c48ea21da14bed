"""Where are fetchers examined? On three brokers with three fetchers to each leader, and a gate between them.

An answer holds at least one batch however small ``replica.fetch.response.max.bytes`` is (KIP-74); at one byte it
holds exactly one, so every turn of every partition shows.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.clients.producer import send
from conformance.clients.topics import create_spread_topic
from conformance.probes.connection import BrokerConnection
from conformance.probes.metadata import PartitionMetadata, partition_metadata
from conformance.probes.replica import replica_offsets
from conformance.topic_removal import remove_topic
from fault_injection.cluster.spec import ClusterSpec, Timing
from fault_injection.waiting import until
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conformance.examination import Room
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.wire.proxy import GateProxy

BROKERS = (1, 2, 3)
FETCHERS = 3
DEADLINE_S = 30.0
OVERRIDES = {"num.replica.fetchers": str(FETCHERS), "replica.fetch.response.max.bytes": "1"}


@dataclass(frozen=True, slots=True)
class Stand:
    """One examination's place: a cluster, the gate between its brokers, and the trace that the gate writes.

    Attributes:
        topic_ids: the name of each topic id that was seen.
    """

    cluster: Cluster
    gate: GateProxy
    wire: Path
    topic_ids: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def topic(self, name: str, assignments: Sequence[Sequence[int]]) -> Iterator[None]:
        """Have a topic, followed by all its followers when the block begins, and gone after it."""
        addresses = [self.cluster.client_address(broker) for broker in self.cluster.live_brokers]
        create_spread_topic(addresses, name, assignments, {"min.insync.replicas": "1"})
        topic_id = self.metadata(assignments[0][0], name, 0).topic_id
        if topic_id is not None:
            self.topic_ids[str(topic_id)] = name
            self.gate.learn_topic(topic_id, name)
        expected = {(f, r[0], p) for p, r in enumerate(assignments) for f in r[1:]}
        since_ns = time.monotonic_ns()
        until(
            lambda: expected <= self._followed(name, since_ns),
            deadline_s=DEADLINE_S,
            what=f"every follower of {name} to fetch",
        )
        yield
        remove_topic(self.cluster, name)

    def _followed(self, topic: str, since_ns: int) -> set[tuple[int | None, int, int]]:
        return {(r.follower, r.leader, r.partition) for r in self.gate.rounds_since(since_ns, topic=topic)}

    def metadata(self, broker: int, topic: str, partition: int) -> PartitionMetadata:
        """Ask a broker what it believes about a partition that it knows."""
        with BrokerConnection(self.cluster.client_address(broker)) as connection:
            seen = partition_metadata(connection, topic, partition)
        assert seen is not None, f"broker {broker} has forgotten {topic}-{partition}"
        return seen

    def offsets(self, broker: int, topic: str, partition: int) -> tuple[int, int]:
        """Ask a broker for its replica's log end offset and high watermark."""
        with BrokerConnection(self.cluster.client_address(broker)) as connection:
            return replica_offsets(connection, topic, partition)

    def produce(self, leader: int, topic: str, partition: int, records: int) -> None:
        """Have the leader append records, one batch each; nobody else is waited for."""
        for record_id in range(records):
            sending = send(self.cluster.client_address(leader), topic, partition, record_id, Acks.LEADER)
            delivery = sending.await_delivery(DEADLINE_S)
            sending.close()
            assert delivery.error is None, f"{topic}-{partition} refused a record: {delivery.error}"

    def await_caught(self, hold: str, frames: int = 1) -> None:
        """Wait until a hold has caught its frames."""
        until(
            lambda: self.gate.frames(hold) >= frames,
            deadline_s=DEADLINE_S,
            what=f"hold {hold!r} to catch {frames} frames",
        )


@contextmanager
def fetcher_stand(room: Room, *, fetch_sessions: bool = False) -> Iterator[Stand]:
    """Have a stand; its trace is whole after the block. A cluster on which the block failed is not used again."""
    spec = ClusterSpec(
        room.release,
        room.metadata,
        BROKERS,
        timing=Timing.LAG,
        fetch_sessions=fetch_sessions,
        overrides=OVERRIDES,
        jmx=True,
    )
    cluster, gate = room.laboratory.cluster_of(spec), room.laboratory.gate
    wire = room.run.path / "wire.ndjson"
    gate.trace_to(wire)
    try:
        yield Stand(cluster, gate, wire)
    except BaseException:
        room.laboratory.discard_cluster()
        raise
    gate.end_trace()
