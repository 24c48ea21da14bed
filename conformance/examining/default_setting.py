"""May a replica outside the ISR lead where nobody has set unclean.leader.election.enable?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError, QuestionAnswer
from conformance.examining.examination_cluster import partition
from conformance.scenarios.vocabulary import await_isr, brokers, kill, produce, start
from fault_injection.cluster.spec import ClusterSpec
from oracle.predict import predict
from oracle.schedule import Schedule, TopicSettings
from oracle.vocabulary import BrokerId

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.context import ExaminationContext
    from oracle.prediction import Moment
    from oracle.rules.rule_set import RuleSet

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
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=unclean),
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
            "kill broker 1, start broker 2, and give the controller time to elect it",
            "start broker 1, and wait until the ISR is {1, 2}",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Predict who leads, by what the release does without the setting."""
        predicted = predict(_crashes(unclean=rules.allows_unclean_election(None)), rules).moments
        alone, both = predicted[5], predicted[-1]
        assert both.leader is not None, "one of both was in sync"
        return (
            QuestionAnswer(LEADER_BEFORE, _number(alone)),
            QuestionAnswer(LEADER_AFTER, int(both.leader)),
            QuestionAnswer(END_AFTER, int(both.replicas[both.leader].log_end_offset)),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Kill and start real brokers."""
        with partition(context, ClusterSpec(context.release, context.metadata, (1, 2, 3)), (1, 2)) as crashing:
            crashing.produce(0)
            crashing.kill(2)
            crashing.await_view(lambda view: view.isr == (1,), "the ISR to be {1}")
            crashing.produce(1)
            crashing.kill(1)
            crashing.start(2)
            is_expected = context.rules.allows_unclean_election(None)
            yield QuestionAnswer(LEADER_BEFORE, crashing.leader_within_patience(is_expected=is_expected))
            crashing.start(1)
            view = crashing.await_view(lambda view: view.isr == (1, 2), "the ISR to be {1, 2}")
            if view.leader is None:
                raise NotSeenError("nobody leads, although two live brokers are in sync")
            yield QuestionAnswer(LEADER_AFTER, view.leader)
            yield QuestionAnswer(END_AFTER, crashing.probe.live_numbers(BrokerId(view.leader)).log_end_offset)


def _number(moment: Moment) -> int | None:
    return None if moment.leader is None else int(moment.leader)


DEFAULT_SETTING = DefaultSetting()
