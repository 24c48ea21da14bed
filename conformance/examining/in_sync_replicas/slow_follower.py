"""Where is a follower examined that fetches as slowly as it is told? Beside a real leader, as one of its replicas.

The partition has two replicas on real brokers. The fetches of the real follower are held at the gate, and a puppet
fetches in its name: the leader takes its offsets for the follower's. The lag time is 3 s, so that the leader alone
decides about the ISR.

Choices: the puppet fetches in version 11 where there is one: it names no replica epoch, which no leader asks for.
"""

from __future__ import annotations

import time
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError
from conformance.examining.examination_cluster import DEADLINE_S, examination_cluster
from conformance.interruption import NeverAtRestError
from conformance.probes.replica_probe import ReplicaProbe
from conformance.record.directory import slug
from fault_injection.cluster.spec import ClusterSpec, Timing
from fault_injection.puppets.client import ClientPuppet
from fault_injection.puppets.follower import FollowerPuppet
from fault_injection.puppets.served_topics import PuppetTopic
from fault_injection.waiting import until
from fault_injection.wire.points import Point
from oracle.rules.request_versions import versions
from oracle.vocabulary import BrokerId, ClientRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.context import ExaminationContext
    from fault_injection.cluster.relay import Address

BROKERS = (1, 2, 3)
LEADER, FOLLOWER = BrokerId(1), BrokerId(2)
WITHOUT_LAST_EPOCH = 11
"""The newest version of Fetch that names no epoch of the follower's last record (KIP-595)."""
HOLD = "the real follower"
LAG_S = 3.0
"""``replica.lag.time.max.ms`` under ``timing: lag``."""
LATE_S = 0.2
"""How long before that a fetch must be on its way."""


@dataclass(slots=True)
class SlowFollower:
    """One partition, its real leader, and the puppet that fetches as its follower.

    Attributes:
        end: the leader's log end offset: nobody else produces.
        fetched_at: monotonic seconds of every fetch of the puppet, just before it was sent.
        errors: the error codes that the puppet was answered with.
    """

    topic: PuppetTopic
    probe: ReplicaProbe
    client: ClientPuppet
    puppet: FollowerPuppet
    fetch_version: int | None
    end: int = 0
    fetched_at: list[float] = field(default_factory=list)
    errors: set[int] = field(default_factory=set)

    def append(self, records: int) -> None:
        """Have the leader append records as one batch; nobody else is waited for."""
        error, _ = self.client.append(self.topic, *(b"x",) * records)
        if error != 0:
            raise NotSeenError(f"the leader refused a batch of {records}: error {error}")
        self.end += records

    def fetch(self, offset: int) -> None:
        """Fetch from an offset in the follower's name."""
        self.fetched_at.append(time.monotonic())
        self.errors.add(self.puppet.fetch(self.topic, offset, version=self.fetch_version).error)

    def fetch_in_time(self, offset: int) -> None:
        """Fetch as a follower does that must not lag: before the fetch before the last one is too long ago.

        Raises:
            NeverAtRestError: the tester was late, and the follower may have left the ISR because of that.
        """
        if len(self.fetched_at) > 1 and time.monotonic() - self.fetched_at[-2] > LAG_S - LATE_S:
            raise NeverAtRestError("the tester stood still between two fetches, almost for the lag time")
        self.fetch(offset)

    def isr(self) -> list[int]:
        """Return the in-sync replicas that are committed now."""
        view = until(
            lambda: self.probe.controller_view(BROKER_IDS), deadline_s=DEADLINE_S, what="the partition's state"
        )
        return sorted(view.isr)

    def high_watermark(self) -> int:
        """Return the leader's high watermark."""
        return self.probe.live_numbers(LEADER).high_watermark


BROKER_IDS = tuple(map(BrokerId, BROKERS))


@contextmanager
def slow_follower(context: ExaminationContext) -> Iterator[SlowFollower]:
    """Have a partition with such a follower."""
    spec = ClusterSpec(context.release, context.metadata, BROKERS, timing=Timing.LAG)
    topic = PuppetTopic(slug(context.run.path.name), (LEADER, FOLLOWER))
    with (
        examination_cluster(context, spec) as place,
        place.topic(topic.name, [topic.replicas], {"min.insync.replicas": "1"}),
        ReplicaProbe(place.cluster, topic.name) as probe,
    ):
        real_fetch = Point("fetch_request", source=FOLLOWER, destination=LEADER, topic=topic.name, partition=0)
        place.gate.arm(HOLD, real_fetch)
        place.await_caught(HOLD)
        address = _address(place.cluster.client_address(LEADER))
        with closing(ClientPuppet(address)) as client, closing(FollowerPuppet(FOLLOWER, address)) as puppet:
            has_version = WITHOUT_LAST_EPOCH in versions(ClientRequest.FETCH, context.rules)
            yield SlowFollower(topic, probe, client, puppet, WITHOUT_LAST_EPOCH if has_version else None)
        place.gate.release(HOLD)


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    return host, int(port)
