"""May a replica outside the ISR lead where nobody has set unclean.leader.election.enable?"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.clients.producer import send
from conformance.clients.topics import create_topic
from conformance.examination import Examination
from conformance.probes.replica_probe import ReplicaProbe
from conformance.questions import Answer
from conformance.run_directory import slug
from conformance.scenarios.vocabulary import await_isr, brokers, kill, produce, start
from conformance.topic_removal import remove_topic
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.waiting import until
from oracle.predict import predict
from oracle.rules.release import parse_version
from oracle.schedule import Schedule, Settings
from oracle.vocabulary import Acks, BrokerId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.examination import Room
    from conformance.probes.controller import ControllerView
    from fault_injection.cluster.lifecycle import Cluster
    from oracle.prediction import Moment
    from oracle.rules.rule_set import RuleSet

IDS = (1, 2, 3)
DEADLINE_S = 30.0
PATIENCE_S = 4.0
"""How long a controller may take to elect uncleanly: in KRaft mode it looks every second (imposed)."""
FALSE_SINCE = "0.11.0.0"
LEADER_BEFORE = "leader when only broker 2 is back, which was not in sync"
LEADER_AFTER = "leader when both are back"
END_AFTER = "log end offset of that leader"


def _crashes(*, unclean: bool) -> Schedule:
    """Return what is done as a schedule in which the setting is written down: what the model goes by."""
    return Schedule(
        id="election/default-of-unclean-election",
        requirement="",
        sources=(),
        replicas=brokers(1, 2),
        settings=Settings(min_insync_replicas=1, unclean_leader_election=unclean),
        steps=(produce("m0"), kill(2), await_isr(1), produce("m1"), kill(1), start(2), start(1), await_isr(1, 2)),
    )


@dataclass(frozen=True, slots=True)
class DefaultSetting:
    """A topic without durability settings, its last in-sync replica killed, and the other one back first."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            "create a topic on brokers 1 and 2 without any setting, on brokers without any setting",
            "produce m0 with acks=all; kill broker 2; produce m1 with acks=all once the ISR is {1}",
            "kill broker 1, start broker 2, and give the controller 4 s to elect it",
            "start broker 1, and wait until the ISR is {1, 2}",
        )

    def predict(self, rules: RuleSet) -> tuple[Answer, ...]:
        """Predict who leads: unclean election is on by default up to 0.10.2."""
        is_on = parse_version(rules.version) < parse_version(FALSE_SINCE)
        predicted = predict(_crashes(unclean=is_on), rules).moments
        alone, both = predicted[5], predicted[-1]
        assert both.leader is not None, "one of both was in sync"
        return (
            Answer(LEADER_BEFORE, _number(alone)),
            Answer(LEADER_AFTER, int(both.leader)),
            Answer(END_AFTER, int(both.replicas[both.leader].log_end_offset)),
        )

    def conduct(self, room: Room) -> Iterator[Answer]:
        """Kill and start real brokers."""
        with _partition(room) as partition:
            partition.produce(0)
            partition.kill(2)
            partition.await_view(lambda view: view.isr == (1,), "the ISR to be {1}")
            partition.produce(1)
            partition.kill(1)
            partition.start(2)
            yield Answer(LEADER_BEFORE, partition.leader_within_patience())
            partition.start(1)
            view = partition.await_view(lambda view: view.isr == (1, 2), "the ISR to be {1, 2}")
            assert view.leader is not None, "an ISR of two live brokers has a leader"
            yield Answer(LEADER_AFTER, view.leader)
            yield Answer(END_AFTER, partition.probe.live_numbers(BrokerId(view.leader)).log_end_offset)


def _number(moment: Moment) -> int | None:
    return None if moment.leader is None else int(moment.leader)


@dataclass(frozen=True, slots=True)
class _Partition:
    """A partition on real brokers that are killed and started."""

    cluster: Cluster
    topic: str
    probe: ReplicaProbe

    def produce(self, record_id: int) -> None:
        """Have the leader append one record with acks=all, and wait until it is acknowledged."""
        leader = self.await_view(lambda view: view.leader is not None, "a leader").leader
        assert leader is not None, "just awaited"
        sending = send(self.cluster.client_address(leader), self.topic, 0, record_id, Acks.ALL)
        delivery = sending.await_delivery(DEADLINE_S)
        sending.close()
        assert delivery.error is None, f"record {record_id} was refused: {delivery.error}"

    def kill(self, broker: int) -> None:
        """Kill a broker, and wait until the controller has noticed."""
        self.cluster.kill(broker)
        await_unregistered(self.cluster, broker)

    def start(self, broker: int) -> None:
        """Start a broker with its old files, and wait until it is registered."""
        self.cluster.start_broker(broker)
        await_registered(self.cluster, broker)

    def await_view(self, holds: Callable[[ControllerView], bool], what: str) -> ControllerView:
        """Wait until the controller has committed something."""

        def seen() -> ControllerView | None:
            view = self.probe.controller_view(
                [BrokerId(broker) for broker in self.cluster.live_brokers if broker in IDS]
            )
            return view if view is not None and holds(view) else None

        return until(seen, deadline_s=DEADLINE_S, what=what)

    def leader_within_patience(self) -> int | None:
        """Return who leads as soon as anybody does, or None when nobody did for a while."""
        end = time.monotonic() + PATIENCE_S
        return self.await_view(
            lambda view: view.leader is not None or time.monotonic() >= end, "a leader, or the end of patience"
        ).leader


@contextmanager
def _partition(room: Room) -> Iterator[_Partition]:
    """Have a partition on brokers 1 and 2. A cluster on which the block failed is not used again."""
    laboratory = room.laboratory
    cluster, topic = laboratory.cluster_of(ClusterSpec(room.release, room.metadata, IDS)), slug(room.run.path.name)
    laboratory.gate.trace_to(room.run.path / "wire.ndjson")
    try:
        create_topic([cluster.client_address(broker) for broker in cluster.live_brokers], topic, (1, 2))
        with ReplicaProbe(cluster, topic) as probe:
            yield _Partition(cluster, topic, probe)
        remove_topic(cluster, topic)
    except BaseException:
        laboratory.discard_cluster()
        raise
    laboratory.gate.end_trace()


SCENARIOS = (
    Examination(
        name="EL-05",
        id="election/default-of-unclean-election",
        requirement=(
            "Where nobody has set unclean.leader.election.enable, a replica outside the ISR leads at once up to "
            "0.10.2, "
            "and never from 0.11 on."
        ),
        sources=("EL-05", "EL-01", "EL-02", "001", "002"),
        explanation=(
            "Neither the topic nor a broker has the setting. Broker 2 lacks m1 and is the only one back: whether "
            "it leads "
            "is the release's default, and so is whether m1 is there in the end."
        ),
        subject=DefaultSetting(),
    ),
)
