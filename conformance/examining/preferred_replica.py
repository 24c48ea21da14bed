"""Which replica does a leader send a rack-aware consumer to, and what does that replica show it? HW-02, KIP-392.

Every broker is in a rack of its own (broker.rack), and replica.selector.class is Kafka's RackAwareReplicaSelector. A
leader names a follower in the answer to a Fetch, which then brings no records; the consumer goes there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.clients.questions import FetchLimits, Questioner
from conformance.examining.examination_cluster import DEADLINE_S, examination_cluster
from conformance.scenarios.vocabulary import await_hold, brokers, hold_request, hold_response, produce, release
from fault_injection.cluster.plan import rack_of
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.waiting import until
from fault_injection.wire.points import Point
from oracle.asking import chosen
from oracle.predict import initial_world, take
from oracle.replication.consuming import consume, preferred_read_replica
from oracle.schedule import Schedule
from oracle.vocabulary import Acks, BrokerId, ClientRequest, Offset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.examining.context import ExaminationContext
    from conformance.examining.examination_cluster import ExaminationCluster
    from conformance.record.answers import Value
    from oracle.rules.rule_set import RuleSet
    from oracle.steps.step import Step
    from oracle.world import World

TOPIC = "racks"
LEADER, FOLLOWER = BrokerId(1), BrokerId(2)
REPLICAS = (LEADER, FOLLOWER)
SELECTOR = {"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}
COMMITMENT, REPLICATION = "commitment", "replication"
NO_RACK, ANOTHER_RACK = "", "a rack without replicas"
RACKS = {broker: rack_of(broker) for broker in REPLICAS}
NEAR_LEADER, NEAR_FOLLOWER = RACKS[LEADER], RACKS[FOLLOWER]


@dataclass(frozen=True, slots=True)
class Fetching:
    """One Fetch of a consumer: of which broker, from which rack, at which offset."""

    broker: BrokerId
    rack: str
    offset: Offset

    def text(self, moment: str) -> str:
        """Return what is asked, and what the answer is made of."""
        where = f"in {self.rack}" if self.rack else "without a rack"
        asked = f"consumer {where} asks broker {self.broker} at {self.offset}"
        return f"{moment}: {asked}: [error, preferred replica, records]"


def _asked(*asked: tuple[BrokerId, str, int]) -> tuple[Fetching, ...]:
    return tuple(Fetching(broker, rack, Offset(offset)) for broker, rack, offset in asked)


@dataclass(frozen=True, slots=True)
class ReplicaChoice:
    """What is done, by the model and on brokers, and what consumers then ask."""

    name: str
    steps: tuple[Step, ...]
    on_brokers: Callable[[ExaminationCluster], None]
    asked: tuple[Fetching, ...]


def _commit_everywhere(place: ExaminationCluster) -> None:
    place.produce(LEADER, TOPIC, 0, Acks.ALL)
    _await_follower(place, (1, 1))


def _keep_from_commitment(place: ExaminationCluster) -> None:
    place.gate.arm(COMMITMENT, Point("fetch_response", FOLLOWER, LEADER, TOPIC, 0, 2))
    place.produce(LEADER, TOPIC, 1, Acks.ALL)
    place.await_caught(COMMITMENT)


def _let_hear(place: ExaminationCluster) -> None:
    place.gate.release(COMMITMENT)
    _await_follower(place, (2, 2))


def _keep_from_record(place: ExaminationCluster) -> None:
    place.gate.arm(REPLICATION, Point("fetch_request", FOLLOWER, LEADER, TOPIC, 0, 2))
    place.await_caught(REPLICATION)
    place.produce(LEADER, TOPIC, 2, Acks.LEADER)


def _await_follower(place: ExaminationCluster, numbers: tuple[int, int]) -> None:
    """Wait until the follower has this log end offset and high watermark."""
    until(
        lambda: place.offsets(FOLLOWER, TOPIC) == numbers,
        deadline_s=DEADLINE_S,
        what=f"log end offset and high watermark of broker {FOLLOWER} to be {numbers}",
    )


MOMENTS = (
    ReplicaChoice(
        "m0 is committed, and both replicas know it",
        (produce("m0"),),
        _commit_everywhere,
        _asked(
            (LEADER, NEAR_FOLLOWER, 0),
            (LEADER, NEAR_LEADER, 0),
            (LEADER, NO_RACK, 0),
            (LEADER, ANOTHER_RACK, 0),
            (FOLLOWER, NEAR_FOLLOWER, 0),
        ),
    ),
    ReplicaChoice(
        "m1 is committed, which broker 2 has not heard",
        (hold_response(COMMITMENT, FOLLOWER, LEADER, 2), produce("m1"), await_hold(COMMITMENT)),
        _keep_from_commitment,
        _asked(
            (FOLLOWER, NEAR_FOLLOWER, 0),
            (FOLLOWER, NEAR_FOLLOWER, 1),
            (LEADER, NEAR_FOLLOWER, 1),
            (LEADER, NEAR_LEADER, 1),
        ),
    ),
    ReplicaChoice("broker 2 has heard it", (release(COMMITMENT),), _let_hear, _asked((FOLLOWER, NEAR_FOLLOWER, 1))),
    ReplicaChoice(
        "m2 is on broker 1 alone",
        (
            hold_request(REPLICATION, FOLLOWER, LEADER, 2),
            await_hold(REPLICATION),
            produce("m2", acks=Acks.LEADER),
        ),
        _keep_from_record,
        _asked((LEADER, NEAR_FOLLOWER, 2), (LEADER, NEAR_FOLLOWER, 3), (FOLLOWER, NEAR_FOLLOWER, 2)),
    ),
)
SCHEDULE = Schedule(
    id="asking/rack-aware",
    requirement="",
    sources=(),
    replicas=brokers(*REPLICAS),
    steps=tuple(step for moment in MOMENTS for step in moment.steps),
)


@dataclass(frozen=True, slots=True)
class RackAware:
    """Consumers from several racks ask a leader and its follower, whose high watermark lags."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            "start brokers with a broker.rack each, and RackAwareReplicaSelector as replica.selector.class",
            "produce m0 with acks=all; consumers of four racks ask the leader, one the follower",
            "hold the answer that tells broker 2 that m1 is committed; produce m1 with acks=all; ask both brokers",
            "release it; ask broker 2 again",
            "hold broker 2's fetch at 2; produce m2 with acks=1; ask the leader at 2 and at 3, and broker 2 at 2",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Have the model's brokers answer."""
        world = initial_world(SCHEDULE, rules, SCHEDULE.replicas)
        answers: list[QuestionAnswer] = []
        for moment in MOMENTS:
            for step in moment.steps:
                world = take(world, step)
            answers += [QuestionAnswer(one.text(moment.name), _predicted(world, one)) for one in moment.asked]
        return tuple(answers)

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Ask real brokers."""
        spec = ClusterSpec(context.release, context.metadata, overrides=SELECTOR, racks=True)
        with examination_cluster(context, spec) as place, place.topic(TOPIC, [REPLICAS], {"min.insync.replicas": "1"}):
            for moment in MOMENTS:
                moment.on_brokers(place)
                for one in moment.asked:
                    yield QuestionAnswer(one.text(moment.name), _measured(place, one))
            place.gate.release(REPLICATION)


def _predicted(world: World, one: Fetching) -> Value:
    replica, version = world.state.replica(one.broker), chosen(ClientRequest.FETCH, None, world.rules)
    preferred = preferred_read_replica(replica, one.offset, one.rack, RACKS)
    told = consume(replica, one.offset, version, world.rules)
    labels = [produce.label for produce in world.state.produces]
    records: list[Value] = [] if preferred is not None else [labels.index(label) for label in told.records]
    return [told.error, preferred, records]


def _measured(place: ExaminationCluster, one: Fetching) -> Value:
    questioner = Questioner(place.cluster.client_address(one.broker), TOPIC)
    told = questioner.fetch(one.offset, FetchLimits(rack=one.rack))
    return [told.error, told.preferred_read_replica, list(told.record_ids)]


RACK_AWARE = RackAware()
