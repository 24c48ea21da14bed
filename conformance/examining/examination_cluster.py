"""Where is an examination conducted? On a cluster of the pool, with its own topics and the gate's trace.

A schedule says the same of most partitions; this is for what no schedule can ask for.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError
from conformance.clients.producer import send
from conformance.clients.records import VALUE_LENGTH_DEFAULT
from conformance.clients.topics import create_spread_topic
from conformance.probes.connection import BrokerConnection, PartitionMetadata, ProbeError, partition_metadata
from conformance.probes.replica import replica_offsets
from conformance.probes.replica_probe import ReplicaProbe
from conformance.record.directory import slug
from conformance.record.wire import WIRE_FILE
from conformance.running.topic_requests import remove_topic
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.faults.disk import lose_tail
from fault_injection.waiting import NotYetError, until
from oracle.vocabulary import Acks, BrokerId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.examining.context import ExaminationContext
    from conformance.probes.controller import CommittedPartition
    from conformance.record.directory import RunDirectory
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.cluster.spec import ClusterSpec
    from fault_injection.wire.proxy import GateProxy

DEADLINE_S = 40.0


@dataclass(frozen=True, slots=True)
class ExaminationCluster:
    """One examination's place.

    Attributes:
        gate: between the brokers.
        run: where the gate's trace goes.
        topic_ids: the name of each topic id that was seen.
    """

    cluster: Cluster
    gate: GateProxy
    run: RunDirectory
    topic_ids: dict[str, str] = field(default_factory=dict)

    @property
    def addresses(self) -> list[str]:
        """Return the client listeners of the brokers that are alive."""
        return [self.cluster.client_address(broker) for broker in self.cluster.live_brokers]

    @contextmanager
    def topic(
        self, name: str, assignments: Sequence[Sequence[int]], configs: Mapping[str, str] | None = None
    ) -> Iterator[None]:
        """Have a topic, known to all brokers and the gate when the block begins, and gone after it.

        Args:
            name: the topic.
            assignments: of each partition the replicas, the preferred leader first.
            configs: topic settings.
        """
        create_spread_topic(self.addresses, name, assignments, configs)
        topic_id = self.metadata(assignments[0][0], name).topic_id
        if topic_id is not None:
            self.topic_ids[str(topic_id)] = name
            self.gate.learn_topic(topic_id, name)
        yield
        remove_topic(self.cluster, name)

    def metadata(self, broker: int, topic: str, partition: int = 0) -> PartitionMetadata:
        """Ask a broker what it believes about a partition that it knows."""
        seen = self._believed(broker, topic, partition)
        if seen is None:
            raise NotSeenError(f"broker {broker} does not know {topic}-{partition} any more")
        return seen

    def _believed(self, broker: int, topic: str, partition: int) -> PartitionMetadata | None:
        with BrokerConnection(self.cluster.client_address(broker)) as connection:
            return partition_metadata(connection, topic, partition)

    def offsets(self, broker: int, topic: str, partition: int = 0) -> tuple[int, int]:
        """Ask a broker for its replica's log end offset and high watermark."""
        with BrokerConnection(self.cluster.client_address(broker)) as connection:
            return replica_offsets(connection, topic, partition)

    def produce(
        self,
        leader: int,
        topic: str,
        record_id: int,
        acks: Acks = Acks.LEADER,
        *,
        partition: int = 0,
        value_length: int = VALUE_LENGTH_DEFAULT,
    ) -> None:
        """Have the leader append a record as one batch, and wait until it is acknowledged."""
        sending = send(
            self.cluster.client_address(leader), topic, partition, record_id, acks, value_length=value_length
        )
        delivery = sending.await_delivery(DEADLINE_S)
        sending.close()
        if delivery.error is not None:
            raise NotSeenError(f"{topic}-{partition} refused record {record_id}: {delivery.error}")

    def kill(self, broker: int) -> None:
        """Kill a broker, and wait until the controller has noticed."""
        self.cluster.kill(broker)
        await_unregistered(self.cluster, broker)

    def start(self, *brokers: int) -> None:
        """Start brokers with their old files, and wait until they are registered."""
        for broker in brokers:
            self.cluster.start_broker(broker)
        await_registered(self.cluster, *brokers)

    def await_leads(self, leader: int, topic: str, isr: tuple[int, ...]) -> None:
        """Wait until a leader says itself that it leads a topic's first partition with an ISR."""

        def is_so() -> bool:
            seen = self._believed(leader, topic, 0)
            return seen is not None and (seen.leader, seen.isr) == (leader, isr)

        until(is_so, deadline_s=DEADLINE_S, what=f"broker {leader} to lead {topic} with the ISR {list(isr)}")

    def await_caught(self, hold: str, frames: int = 1) -> None:
        """Wait until a hold has caught its frames."""
        until(
            lambda: self.gate.frames(hold) >= frames,
            deadline_s=DEADLINE_S,
            what=f"hold {hold!r} to catch {frames} frames",
        )


@contextmanager
def examination_cluster(context: ExaminationContext, spec: ClusterSpec) -> Iterator[ExaminationCluster]:
    """Have a cluster; its trace is whole after the block. A cluster on which the block failed is not used again."""
    cluster, gate = context.cluster_pool.cluster_of(spec), context.cluster_pool.gate
    gate.trace_to(context.run.path / WIRE_FILE)
    try:
        yield ExaminationCluster(cluster, gate, context.run)
    except BaseException:
        context.cluster_pool.discard_cluster()
        raise
    gate.end_trace()


# Where are brokers examined that are killed, stopped, robbed of records and started? On a partition of their own.
#
# This is for what no schedule can ask for: a topic without settings, or a cluster formatted with a feature that its
# release has not switched on.


SURE_S = 20.0
"""How long a leader is waited for that is to come."""
PATIENCE_S = 4.0
"""How long nobody must lead: in KRaft mode a controller looks every second whether to elect uncleanly (imposed)."""


@dataclass(frozen=True, slots=True)
class CrashedPartition:
    """A partition on real brokers that are killed and started."""

    place: ExaminationCluster
    topic: str
    probe: ReplicaProbe

    def produce(self, record_id: int) -> None:
        """Have the leader append one record with acks=all, and wait until it is acknowledged."""
        leader = self.await_view(lambda view: view.leader is not None, "a leader").leader
        assert leader is not None, "just awaited"
        self.place.produce(leader, self.topic, record_id, Acks.ALL)

    def kill(self, broker: int) -> None:
        """Kill a broker, and wait until the controller has noticed."""
        self.place.kill(broker)

    def stop(self, broker: int) -> None:
        """Stop a broker gracefully, and wait until the controller has noticed."""
        self.place.cluster.stop(broker)
        await_unregistered(self.place.cluster, broker)

    def lose_tail(self, broker: int, offset: int) -> None:
        """Cut a dead broker's log back to an offset, as a machine does that had not written the rest."""
        lose_tail(self.place.cluster, broker, self.topic, 0, offset)

    def start(self, broker: int) -> None:
        """Start a broker with its old files, and wait until it is registered."""
        self.place.start(broker)

    def await_view(self, holds: Callable[[CommittedPartition], bool], what: str) -> CommittedPartition:
        """Wait until the controller has committed something."""

        def seen() -> CommittedPartition | None:
            try:
                view = self.probe.controller_view([*map(BrokerId, self.place.cluster.live_brokers)])
            except ProbeError as unanswered:
                raise NotYetError(str(unanswered)) from unanswered
            return view if view is not None and holds(view) else None

        return until(seen, deadline_s=DEADLINE_S, what=what)

    def leader_within_patience(self, *, is_expected: bool) -> int | None:
        """Return who leads as soon as anybody does, or None when nobody did for a while: one who is to come has long.

        Raises:
            DeadlineExceededError: nobody tells what the controller has committed.
        """
        end = time.monotonic() + (SURE_S if is_expected else PATIENCE_S)
        return self.await_view(
            lambda view: view.leader is not None or time.monotonic() >= end, "a leader, or the end of patience"
        ).leader


@contextmanager
def partition(
    context: ExaminationContext, spec: ClusterSpec, replicas: Sequence[int], configs: Mapping[str, str] | None = None
) -> Iterator[CrashedPartition]:
    """Have a partition on some brokers of an examination's cluster."""
    topic = slug(context.run.path.name)
    with (
        examination_cluster(context, spec) as place,
        place.topic(topic, [replicas], configs),
        ReplicaProbe(place.cluster, topic) as probe,
    ):
        yield CrashedPartition(place, topic, probe)
