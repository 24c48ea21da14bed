"""How does a test get one real broker and puppets around it, in a few lines?

    with PuppetRun.start("2.8.2", directory) as run:
        topic = run.create_topic("t", replicas=(1, 2))
        run.controller.decide(topic.led_by(1, leader_epoch=5))
        run.client.append(topic, b"m0")
        follower = run.follower(2)
        follower.fetch(topic, 0, leader_epoch=5)

The broker is number 1, with a ZooKeeper of its own; puppets take any other number, and 100 is the controller.
Leaving the block stops the puppets, removes their topics, hands the office back and ends the broker.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.plan import PortReservation
from fault_injection.cluster.readiness import is_serving
from fault_injection.cluster.relay import Address, DirectRelay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.puppets.announcements import LiveBroker
from fault_injection.puppets.client import ClientPuppet, FollowerPuppet
from fault_injection.puppets.controller import ControllerPuppet
from fault_injection.puppets.leader import LeaderPuppet
from fault_injection.puppets.served_topics import PuppetTopic
from fault_injection.releases import JarSet, MetadataMode, Release, find_release, jars_of, schema_jar
from fault_injection.waiting import until
from fault_injection.wire.codec_schemas import load_schemas

BROKER, CONTROLLER = 1, 100
HOST = ProcessBackend.host
RESTART_DEADLINE_S = 60.0
VERIFIES_TRANSACTIONS_SINCE = (3, 6)
WITHOUT_COORDINATOR = {"transaction.partition.verification.enable": "false"}
"""A puppet's transaction has no coordinator that the leader could ask whether it goes on (KIP-890)."""


def own_settings(release: Release) -> dict[str, str]:
    """Return what a broker among puppets has that another one has not.

    Puppets' records are of one time (``records.TIMESTAMP_MS``), long ago: half a minute after its start a broker would
    delete them by its retention.
    """
    defaults = WITHOUT_COORDINATOR if release.is_at_least(*VERIFIES_TRANSACTIONS_SINCE) else {}
    return {"log.retention.ms": "-1", **defaults}


class PuppetRun:
    """One real broker, its controller puppet, and whatever followers and leaders are asked for.

    Args:
        cluster: of one broker with ZooKeeper and no witness.

    Attributes:
        cluster: for probes, files and logs of the broker.
        controller: the puppet that decides; it is in office from the start.
        client: produces to the broker and reads from it.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._stack = ExitStack()
        self._followers: dict[int, FollowerPuppet] = {}
        self._leaders: dict[int, LeaderPuppet] = {}
        self._broker = LiveBroker(BROKER, _listeners(cluster))
        ports = PortReservation()
        self._stack.callback(ports.close)
        self._nowhere = (HOST, ports.port())
        self.client = ClientPuppet(self._broker.listeners["CLIENT"])
        messages = load_schemas(schema_jar())
        assert cluster.zookeeper_address is not None, "puppets are of the ZooKeeper era"
        self.controller = ControllerPuppet(self._broker, CONTROLLER, cluster.zookeeper_address, messages)
        self._stack.callback(self.controller.close)
        self._stack.callback(self.client.close)

    @classmethod
    def start(
        cls,
        version: str,
        directory: Path,
        *,
        settings: Mapping[str, str] = MappingProxyType({}),
        jars: JarSet | None = None,
    ) -> Self:
        """Start a broker of a release and take the controller's office.

        Args:
            version: ``0.10.2.2`` to ``3.9.2``, a line such as ``2.8``, or a patch.
            directory: gets the broker's and ZooKeeper's directories.
            settings: of the broker; they win over the tester's own.
            jars: of that release; resolved if none are given.

        Raises:
            UsageError: the release has no ZooKeeper mode.
            JarsUnavailableError: its jars are not cached and cannot be resolved.
            ClusterError: the broker does not come up.
        """
        release = find_release(version)
        mode = release.metadata_mode(MetadataMode.ZOOKEEPER)
        overrides = {**own_settings(release), **settings}
        spec = ClusterSpec(release, mode, broker_ids=(BROKER,), controller_id=None, overrides=overrides)
        jars = jars_of(release) if jars is None else jars
        stack = ExitStack()
        with stack:
            backend = ProcessBackend()
            stack.callback(backend.close)
            cluster = stack.enter_context(Cluster.start(spec, jars, backend, DirectRelay(), directory))
            run = cls(cluster)
            # What is entered last is left first: puppets, then the broker, then the backend.
            own, run._stack = run._stack, stack.pop_all()
            run._stack.push(own.__exit__)
        return run

    def create_topic(
        self, name: str, replicas: tuple[int, ...], configs: Mapping[str, str] = MappingProxyType({})
    ) -> PuppetTopic:
        """Write down a topic of one partition; the broker hears of it with the first decision."""
        return self.controller.create_topic(name, replicas, configs)

    def follower(self, broker: int) -> FollowerPuppet:
        """Return the puppet that fetches from the broker as replica ``broker``; the next decision calls it alive.

        Who tries to fetch from it is refused, unless there is a leader puppet of the same id.
        """
        if broker not in self._followers:
            follower = self._followers[broker] = FollowerPuppet(broker, self._broker.listeners["CLIENT"])
            self._stack.callback(follower.close)
            if broker not in self._leaders:
                self.controller.announce_broker(broker, self._nowhere)
        return self._followers[broker]

    def leader(self, broker: int) -> LeaderPuppet:
        """Return the puppet that the broker finds as broker ``broker``, once the next decision is sent."""
        if broker not in self._leaders:
            leader = self._leaders[broker] = LeaderPuppet(broker)
            self._stack.callback(leader.close)
            self.controller.announce_broker(broker, leader.address)
        return self._leaders[broker]

    def restart(self, deadline_s: float = RESTART_DEADLINE_S) -> None:
        """Kill the broker without a warning and start it again; it has no role until the next decision.

        Raises:
            DeadlineExceededError: it does not come up.
        """
        self.cluster.kill(BROKER)
        self.client.close()
        for follower in self._followers.values():
            follower.close()
        self.controller.unregister_broker()
        self.cluster.start_broker(BROKER)
        until(self._is_up, deadline_s=deadline_s, what=f"broker {BROKER} to be registered and to answer")

    def _is_up(self) -> bool:
        self.cluster.check_alive(BROKER)
        return self.controller.is_broker_registered() and is_serving(self.cluster.client_address(BROKER))

    @property
    def failures(self) -> tuple[str, ...]:
        """What went wrong inside puppets while they answered the broker; empty unless the tester has a defect."""
        servers = [self.controller.server, *(leader.server for leader in self._leaders.values())]
        return tuple(failure for server in servers for failure in server.failures)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Undo everything, the last thing first."""
        self._stack.close()


def _listeners(cluster: Cluster) -> dict[str, Address]:
    plan = next(plan for plan in cluster.plans if plan.node.id == BROKER)
    return dict(plan.listeners.advertised)
