"""Is a last known leader elected that is not there? KAFKA-19522, on clusters with eligible leader replicas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.examining.election.crashing import partition
from conformance.examining.election.eligible_feature import FEATURE
from conformance.scenarios.vocabulary import brokers, kill, start, world_after
from fault_injection.cluster.spec import ClusterSpec
from oracle.rules.by_version import rules_for
from oracle.schedule import Schedule, TopicSettings
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.context import ExaminationContext
    from oracle.rules.rule_set import RuleSet

ISR_WITHOUT_LEADER = "in-sync replicas when broker 2 is back and the last known leader, broker 1, is not"


_CRASHES = Schedule(
    id="regressions/kafka-19522",
    requirement="",
    sources=(),
    replicas=brokers(1, 2),
    settings=TopicSettings(min_insync_replicas=2),
    steps=(kill(2), kill(1), start(1), kill(1), start(2)),
)
"""What is done, as the model goes by it."""


@dataclass(frozen=True, slots=True)
class FencedLeader:
    """Two replicas crash in turn until only a last known leader is left, which is down."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            f"format a cluster with {FEATURE} at level 1",
            "create a topic on brokers 1 and 2 with min.insync.replicas=2",
            "kill broker 2, then broker 1, the leader: both are eligible, broker 1 is the last known leader",
            "start and kill broker 1: it shut down uncleanly, and only broker 2 is eligible",
            "start broker 2: it shut down uncleanly too, and nobody is eligible; read the in-sync replicas",
            "start broker 1",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Predict the crashes by the rules of the release with the feature on."""
        return (QuestionAnswer(ISR_WITHOUT_LEADER, [*_isr_without_leader(rules.version, rules.metadata)]),)

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Kill and start real brokers."""
        spec = ClusterSpec(context.release, context.metadata, (1, 2, 3), features={FEATURE: 1})
        with partition(context, spec, (1, 2), {"min.insync.replicas": "2"}) as crashing:
            crashing.kill(2)
            crashing.await_view(lambda view: view.isr == (1,), "the ISR to be {1}")
            crashing.kill(1)
            crashing.await_view(lambda view: view.leader is None, "no leader")
            crashing.start(1)
            crashing.kill(1)
            crashing.start(2)
            is_expected = bool(_isr_without_leader(context.release.version, MetadataMode.KRAFT))
            crashing.leader_within_patience(is_expected=is_expected)
            view = crashing.await_view(lambda view: not view.elr, "nobody to be eligible")
            yield QuestionAnswer(ISR_WITHOUT_LEADER, [*view.isr])
            crashing.start(1)


def _isr_without_leader(version: str, metadata: MetadataMode) -> tuple[int, ...]:
    """Return who is in sync, as the model has it, once broker 2 alone is back."""
    rules = rules_for(version, metadata, eligible_leader_replicas=True)
    return tuple(map(int, world_after(_CRASHES, rules).state.controller.isr))


FENCED_LEADER = FencedLeader()
