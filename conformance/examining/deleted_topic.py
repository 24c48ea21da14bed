"""Can a broker crash, once the topic in which it was eligible is deleted? A defect that this project found.

A change of min.insync.replicas clears the eligible leader replicas, but not the controller's index of them
(``oracle.rules.eligible_leaders``). When the topic is deleted, the controller cannot register the broker after its next
crash: it fails, gives up its leadership, and the broker ends. docs/findings/cleared-eligible-leaders.md has it with
Kafka's own tools.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.clients.topics import create_spread_topic
from conformance.examining.eligible_feature import FEATURE, other_level
from conformance.examining.examination_cluster import DEADLINE_S, CrashedPartition, examination_cluster
from conformance.probes.replica_probe import ReplicaProbe
from conformance.record.directory import slug
from conformance.running.election_requests import request_settings
from conformance.running.topic_requests import remove_topic
from fault_injection.cluster.readiness import registered_brokers
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.waiting import until
from oracle.events import TopicDeleted
from oracle.predict import initial_world, take
from oracle.rules.by_version import rules_for
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.brokers import Kill, Start
from oracle.steps.topic import Alter
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import BrokerId

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.context import ExaminationContext
    from conformance.examining.examination_cluster import ExaminationCluster
    from conformance.record.answers import Value
    from oracle.rules.rule_set import RuleSet
    from oracle.world import World

REPLICAS = (BrokerId(1), BrokerId(2))
CRASHING = REPLICAS[0]
OLD_MINIMUM, NEW_MINIMUM = 2, 1
GIVES_UP_S = 8
"""How long a broker tries to register before it ends; Kafka's own default is a minute."""
FAILURE = "existed in isrMembers, but not in the topics map"

ELIGIBLE = "eligible leader replicas when broker 1 is down"
CLEARED = "eligible leader replicas when min.insync.replicas has changed"
REGISTERED = "whether broker 1 registers after its crash while the topic exists"
REGISTERED_AGAIN = "whether broker 1 registers after its crash when the topic is deleted"
ENDS = "whether broker 1's process ends by itself then"
FAILS = "whether the controller fails on the topic that is gone"


@dataclass(frozen=True, slots=True)
class DeletedTopic:
    """A broker that was eligible crashes after its topic is deleted.

    Attributes:
        is_switched: whether the cluster is formatted with the level of the feature that its release does not choose.
    """

    is_switched: bool = False

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        level = "at the level that the release does not choose" if self.is_switched else "as the release chooses"
        return (
            f"format a cluster with {FEATURE} {level}, and let brokers try to register for {GIVES_UP_S} s",
            f"create a topic on brokers 1 and 2 with min.insync.replicas={OLD_MINIMUM}",
            "kill broker 1; read the eligible leader replicas",
            f"change min.insync.replicas to {NEW_MINIMUM}; read the eligible leader replicas",
            "start broker 1, and wait until it is in sync",
            "delete the topic",
            "kill broker 1, start it, and wait until it is registered or has ended",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Let the model's brokers go the same way."""
        if self.is_switched:
            is_on = bool(other_level(rules))
            rules = rules_for(rules.version, rules.metadata, eligible_leader_replicas=is_on)
        world = take(_beginning(rules), Kill(CRASHING))
        changed = take(world, Alter(min_insync_replicas=NEW_MINIMUM))
        back = take(changed, Start(CRASHING))
        again = take(take(back.apply(TopicDeleted()).settle(), Kill(CRASHING)), Start(CRASHING))
        return (
            QuestionAnswer(ELIGIBLE, _eligible(world)),
            QuestionAnswer(CLEARED, _eligible(changed)),
            QuestionAnswer(REGISTERED, _is_registered(back)),
            QuestionAnswer(REGISTERED_AGAIN, _is_registered(again)),
            QuestionAnswer(ENDS, not again.state.replica(CRASHING).alive),
            QuestionAnswer(FAILS, not _is_registered(again)),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Kill and start real brokers, and delete their topic. The cluster is used for this alone."""
        topic = slug(context.run.path.name)
        with examination_cluster(context, self._spec(context)) as place:
            create_spread_topic(place.addresses, topic, [REPLICAS], {"min.insync.replicas": str(OLD_MINIMUM)})
            with ReplicaProbe(place.cluster, topic) as probe:
                yield from _before_deletion(CrashedPartition(place, topic, probe))
            remove_topic(place.cluster, topic)
            yield from _after_deletion(place)

    def _spec(self, context: ExaminationContext) -> ClusterSpec:
        features = {FEATURE: other_level(context.rules)} if self.is_switched else {}
        patience = {"initial.broker.registration.timeout.ms": str(GIVES_UP_S * 1000)}
        return ClusterSpec(context.release, context.metadata, (1, 2), features=features, overrides=patience)


def _beginning(rules: RuleSet) -> World:
    settings = TopicSettings(min_insync_replicas=OLD_MINIMUM, unclean_leader_election=False)
    schedule = Schedule("deleted-topic", "", (), REPLICAS, (Checkpoint("start"),), settings=settings)
    return initial_world(schedule, rules, REPLICAS)


def _eligible(world: World) -> list[Value]:
    return [*map(int, sorted(world.state.controller.elr))]


def _is_registered(world: World) -> bool:
    return CRASHING in world.state.controller.registered


def _before_deletion(crashing: CrashedPartition) -> Iterator[QuestionAnswer]:
    """Make broker 1 eligible, clear that by a new minimum, and let it come back."""
    crashing.kill(CRASHING)
    view = crashing.await_view(lambda view: view.leader == REPLICAS[1] and CRASHING not in view.isr, "broker 2 alone")
    yield QuestionAnswer(ELIGIBLE, [*view.elr])
    request_settings(crashing.place.cluster, REPLICAS[1], crashing.topic, {"min.insync.replicas": str(NEW_MINIMUM)})
    view = crashing.await_view(lambda view: not view.elr, "nobody to be eligible")
    yield QuestionAnswer(CLEARED, [*view.elr])
    yield QuestionAnswer(REGISTERED, _starts(crashing.place))
    crashing.await_view(lambda view: set(view.isr) == set(REPLICAS), "both to be in sync")


def _after_deletion(place: ExaminationCluster) -> Iterator[QuestionAnswer]:
    """Crash broker 1 once more, and see what becomes of it and of the controller."""
    place.kill(CRASHING)
    is_registered = _starts(place)
    yield QuestionAnswer(REGISTERED_AGAIN, is_registered)
    has_ended = not place.cluster.is_alive(CRASHING)
    if has_ended:
        place.cluster.note_end(CRASHING)
    yield QuestionAnswer(ENDS, has_ended)
    controller = place.cluster.spec.metadata_node
    logged = place.cluster.log_text(controller.id)
    (place.run.path / "brokers" / f"{controller.name}.log").write_text(logged, encoding="utf-8")
    yield QuestionAnswer(FAILS, FAILURE in logged)


def _starts(place: ExaminationCluster) -> bool:
    """Start broker 1, and tell which comes first: that it is registered, or its end."""
    place.cluster.start_broker(CRASHING)

    def is_decided() -> bool:
        return not place.cluster.is_alive(CRASHING) or CRASHING in registered_brokers(place.cluster)

    until(is_decided, deadline_s=DEADLINE_S, what="broker 1 to be registered, or to end")
    return place.cluster.is_alive(CRASHING)


AS_IT_COMES = DeletedTopic(is_switched=False)
SWITCHED_OVER = DeletedTopic(is_switched=True)
