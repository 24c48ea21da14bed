"""Where are brokers examined that are killed, stopped, robbed of records and started? On a partition of their own.

This is for what no schedule can ask for: a topic without settings, or a cluster formatted with a feature that its
release has not switched on.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.examining.examination_cluster import DEADLINE_S, ExaminationCluster, examination_cluster
from conformance.probes.connection import ProbeError
from conformance.probes.replica_probe import ReplicaProbe
from conformance.record.directory import slug
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.faults.disk import lose_tail
from fault_injection.waiting import NotYetError, until
from oracle.vocabulary import Acks, BrokerId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.examining.context import ExaminationContext
    from conformance.probes.controller import CommittedPartition
    from fault_injection.cluster.spec import ClusterSpec

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
        self.place.cluster.kill(broker)
        await_unregistered(self.place.cluster, broker)

    def stop(self, broker: int) -> None:
        """Stop a broker gracefully, and wait until the controller has noticed."""
        self.place.cluster.stop(broker)
        await_unregistered(self.place.cluster, broker)

    def lose_tail(self, broker: int, offset: int) -> None:
        """Cut a dead broker's log back to an offset, as a machine does that had not written the rest."""
        lose_tail(self.place.cluster, broker, self.topic, 0, offset)

    def start(self, broker: int) -> None:
        """Start a broker with its old files, and wait until it is registered."""
        self.place.cluster.start_broker(broker)
        await_registered(self.place.cluster, broker)

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
