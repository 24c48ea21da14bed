"""Which brokers does a soak run on, and what do they say and have of its topic?

Brokers are asked directly, at their CLIENT listeners: nothing that is imposed on the gate keeps an answer back.

What brokers have on disk is read once everything is at rest; what is in containers is copied out of them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Self, TypeVar

from conformance.probes.connection import ProbeError
from conformance.probes.controller import ZooKeeperSession, zookeeper_assignment
from conformance.probes.segments import SEGMENT_SUFFIX
from conformance.probes.whole_topic import WholeTopic
from fault_injection.cluster.spec import ClusterSpec, Timing
from fault_injection.waiting import NotYetError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType

    from conformance.probes.connection import PartitionMetadata
    from fault_injection.cluster.hosts import AdvertisedHost
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.releases import MetadataMode, Release

LAG_SETTING = "replica.lag.time.max.ms"


def soak_spec(
    release: Release,
    metadata: MetadataMode,
    brokers: int,
    lag_time_max_ms: int,
    overrides: Mapping[str, str] | None = None,
    advertised: AdvertisedHost | None = None,
) -> ClusterSpec:
    """Return the brokers of a soak: a dead one is noticed after 2 s, and clients reach them through the gate too.

    Args:
        release: of all nodes.
        metadata: where they keep their metadata.
        brokers: how many may have replicas: 1, 2, and so on.
        lag_time_max_ms: ``replica.lag.time.max.ms``.
        overrides: broker settings of the user's own.
        advertised: where who reads the topic reaches them, if not on this machine alone; producers go through the gate.
    """
    return ClusterSpec(
        release,
        metadata,
        broker_ids=tuple(range(1, brokers + 1)),
        timing=Timing.SESSION,
        overrides={LAG_SETTING: str(lag_time_max_ms), **(overrides or {})},
        advertised=advertised,
        client_links=True,
    )


class SoakTopic:
    """What the brokers of a soak say of its topic; keeps its connections open until it is closed.

    Args:
        cluster: the brokers.
        topic: the topic's name.
        partitions: how many it has.
    """

    def __init__(self, cluster: Cluster, topic: str, partitions: int) -> None:
        self._cluster = cluster
        self.partitions = partitions
        self.replicas = WholeTopic(cluster, topic)
        zookeeper = cluster.zookeeper_address
        self._zookeeper = None if zookeeper is None else ZooKeeperSession(zookeeper)
        self._assigned: dict[int, tuple[int, ...]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; a later question opens them again."""
        self.replicas.close()
        if self._zookeeper is not None:
            self._zookeeper.close()

    @property
    def name(self) -> str:
        """Return the topic's name."""
        return self.replicas.topic

    def agreed(self) -> dict[int, PartitionMetadata]:
        """Return what all brokers that run and are not frozen say of each partition, the preferred replica first.

        With ZooKeeper the order of replicas is read there: brokers of 0.10 tell them in that of a set.

        Raises:
            NotYetError: they do not say the same, or one does not answer.
            NodeDiedError: a node ended although nobody ended it.
        """
        self._cluster.check_alive()
        try:
            views = {broker: self.replicas.believed(broker) for broker in self._cluster.live_brokers}
            if self._zookeeper is not None and not self._assigned:
                self._assigned = zookeeper_assignment(self._zookeeper, self.name)
        except ProbeError as unanswered:
            raise NotYetError(str(unanswered)) from unanswered
        if not views:
            raise NotYetError("no broker runs")
        first, *others = views.items()
        if len(first[1]) < self.partitions:
            raise NotYetError(f"broker {first[0]} knows {len(first[1])} of {self.partitions} partitions")
        for broker, view in others:
            for number in range(self.partitions):
                _require_agreement(number, first, (broker, view))
        assigned = self._assigned
        return {number: replace(it, replicas=assigned.get(number, it.replicas)) for number, it in first[1].items()}

    def led(self) -> dict[int, tuple[int, frozenset[int]]]:
        """Return who leads each partition, and who follows, when every replica is in the ISR.

        Raises:
            NotYetError: somebody is missing, or brokers do not say the same.
        """
        found = {}
        for number, seen in self.agreed().items():
            missing = set(seen.replicas).difference(seen.isr)
            if missing or seen.leader is None:
                gone = ", ".join(map(str, sorted(missing)))
                raise NotYetError(f"partition {number}: {f'out of sync: {gone}' if missing else 'no leader'}")
            found[number] = seen.leader, frozenset(seen.replicas) - {seen.leader}
        return found

    def ends(self, broker: int, partitions: frozenset[int]) -> dict[int, int]:
        """Return the log end offsets of a broker's replicas.

        Raises:
            NotYetError: it does not tell them.
        """
        return _told(self.replicas.log_ends, broker, partitions)

    def high_watermarks(self, broker: int, ends: Mapping[int, int]) -> dict[int, int]:
        """Return the high watermarks of a broker's replicas, whose log end offsets were just asked for.

        Raises:
            NotYetError: it does not tell them.
        """
        return _told(self.replicas.high_watermarks, broker, ends)


Asked = TypeVar("Asked")


def _told(ask: Callable[[int, Asked], dict[int, int]], broker: int, about: Asked) -> dict[int, int]:
    try:
        return ask(broker, about)
    except ProbeError as unanswered:
        raise NotYetError(str(unanswered)) from unanswered


def _require_agreement(
    number: int, one: tuple[int, Mapping[int, PartitionMetadata]], other: tuple[int, Mapping[int, PartitionMetadata]]
) -> None:
    (broker, view), (second, another) = one, other
    here, there = view[number], another.get(number)
    if there is None:
        raise NotYetError(f"broker {second} does not know partition {number}")
    if (here.leader, here.isr) != (there.leader, there.isr):
        raise NotYetError(
            f"partition {number}: broker {broker} names leader {here.leader}, ISR {list(here.isr)},"
            f" broker {second} leader {there.leader}, ISR {list(there.isr)}"
        )


def replica_files(cluster: Cluster, topic: str, place: Path) -> dict[int, Path]:
    """Return of each broker the directory on this machine that has the folders of its replicas.

    Args:
        cluster: the brokers, at rest.
        topic: the topic's name.
        place: where files go that are not on this machine; a broker whose files cannot be had is left out.
    """
    found = {}
    for broker in cluster.spec.broker_ids:
        with suppress(OSError):
            own = cluster.data_directory(broker)
            is_here = cluster.spec.log_dirs == 1 and any(own.glob(f"{topic}-*"))
            found[broker] = own if is_here else _copied(cluster, broker, topic, place / f"replicas-{broker}")
    return found


def _copied(cluster: Cluster, broker: int, topic: str, into: Path) -> Path:
    for name in map(PurePath, cluster.files(broker)):
        if name.suffix == SEGMENT_SUFFIX and name.parent.name.rpartition("-")[0] == topic:
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            (into / name).write_bytes(cluster.read_file(broker, str(name)))
    return into
