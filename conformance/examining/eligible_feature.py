"""What if the last replica standing crashes on a cluster that was formatted otherwise than its release does?

Eligible leader replicas are a feature: 4.0 has it switched off, 4.1 and newer on. Here it is the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError, QuestionAnswer
from conformance.examining.examination_cluster import partition
from conformance.scenarios.election.el_06_last_replica import CLEAN
from conformance.scenarios.vocabulary import brokers, kill, start, world_after
from fault_injection.cluster.spec import ClusterSpec
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.schedule import Schedule, TopicSettings
from oracle.vocabulary import BrokerId, MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.context import ExaminationContext
    from oracle.prediction import Moment
    from oracle.rules.rule_set import RuleSet

FEATURE = "eligible.leader.replicas.version"
BACK_FIRST, ALL_BACK = 9, 12
"""The steps of EL-06 after which broker 1 is back, and all are in sync."""
LEADER_FIRST, ISR_FIRST, ELIGIBLE_FIRST = (
    f"{what} when broker 1 alone is back" for what in ("leader", "in-sync replicas", "eligible leader replicas")
)
LEADER_LAST, END_LAST = "leader when all are back", "records that are left of three acknowledged ones"


def other_level(rules: RuleSet) -> int:
    """Return the feature's level that the release would not have chosen."""
    return int(not rules.has_eligible_by_default)


@dataclass(frozen=True, slots=True)
class OtherLevel:
    """EL-06 on a cluster whose eligible leader replicas are switched the other way."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            f"format a cluster with {FEATURE} at the level that the release does not choose: 1 for 4.0, 0 from 4.1 on",
            "create a topic on brokers 1, 2 and 3 with min.insync.replicas=2; produce three records with acks=all",
            "stop broker 2, stop broker 3; kill broker 1, and cut its log to the first record",
            "start broker 1, and give the controller time to elect it; read leader, ISR and eligible leader replicas",
            "start broker 3, then broker 2, and wait until all three are in sync",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Predict EL-06 by the rules of the release with the feature at its other level."""
        is_on = bool(other_level(rules))
        other = rules_for(rules.version, rules.metadata, eligible_leader_replicas=is_on)
        moments = predict(CLEAN.schedule, other).moments
        return _answers(moments[BACK_FIRST], moments[ALL_BACK])

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Stop, kill and start real brokers."""
        level = other_level(context.rules)
        features = {FEATURE: level}
        spec = ClusterSpec(context.release, context.metadata, (1, 2, 3, 4), features=features)
        with partition(context, spec, (1, 2, 3), {"min.insync.replicas": "2"}) as crashing:
            for record_id in range(3):
                crashing.produce(record_id)
            crashing.stop(2)
            crashing.stop(3)
            crashing.await_view(lambda view: view.isr == (1,), "the ISR to be {1}")
            crashing.kill(1)
            crashing.lose_tail(1, 1)
            crashing.start(1)
            yield QuestionAnswer(LEADER_FIRST, crashing.leader_within_patience(is_expected=not level))
            view = crashing.await_view(lambda _: True, "the partition's state")
            yield QuestionAnswer(ISR_FIRST, [*view.isr])
            yield QuestionAnswer(ELIGIBLE_FIRST, [*view.elr])
            crashing.start(3)
            crashing.start(2)
            view = crashing.await_view(lambda view: view.isr == (1, 2, 3), "the ISR to be {1, 2, 3}")
            if view.leader is None:
                raise NotSeenError("nobody leads, although three live brokers are in sync")
            yield QuestionAnswer(LEADER_LAST, view.leader)
            yield QuestionAnswer(END_LAST, crashing.probe.live_numbers(BrokerId(view.leader)).log_end_offset)


def _answers(first: Moment, last: Moment) -> tuple[QuestionAnswer, ...]:
    assert last.leader is not None, "all are in sync"
    return (
        QuestionAnswer(LEADER_FIRST, None if first.leader is None else int(first.leader)),
        QuestionAnswer(ISR_FIRST, [*map(int, first.isr)]),
        QuestionAnswer(ELIGIBLE_FIRST, [*map(int, first.elr)]),
        QuestionAnswer(LEADER_LAST, int(last.leader)),
        QuestionAnswer(END_LAST, int(last.replicas[last.leader].log_end_offset)),
    )


OTHER_LEVEL = OtherLevel()

# Is a last known leader elected that is not there? KAFKA-19522, on clusters with eligible leader replicas.


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
