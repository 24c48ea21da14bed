"""What does a defect examination with puppets consist of? One real broker, one topic, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from conformance.puppet_scripts.script import puppets_of
from conformance.record.directory import slug
from oracle.log import ModelRecord, ReplicaLog
from oracle.rules.by_version import rules_for
from oracle.vocabulary import Label, LeaderEpoch, MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from conformance.catalogue.questions import QuestionAnswer
    from conformance.examining.context import ExaminationContext
    from fault_injection.puppets.run import PuppetRun
    from fault_injection.puppets.served_topics import PuppetTopic
    from oracle.rules.rule_set import RuleSet

REPLICAS = (1, 2, 3)
LONG_S, SHORT_S = 30.0, 5.0
"""How long a fetch that is expected may take, and how long none must come."""


def log_of(*epochs: tuple[int, int]) -> ReplicaLog:
    """Return a log with some records of each epoch."""
    labels = count()
    return ReplicaLog().append(
        ModelRecord(Label(f"r{next(labels)}"), LeaderEpoch(epoch)) for epoch, records in epochs for _ in range(records)
    )


def expects(run: PuppetRun, predict: Callable[[RuleSet], tuple[QuestionAnswer, ...]]) -> bool:
    """Return whether the first answer is predicted to be yes: that decides only for how long it is waited for."""
    return predict(rules_for(run.cluster.spec.release.version, MetadataMode.ZOOKEEPER))[0].value is True


@dataclass(frozen=True, slots=True)
class OneBroker:
    """The subject of an examination of broker 1, which is real; its controller and brokers 2 and 3 are puppets.

    Attributes:
        lines: what is done, in prose.
        expects: the release's rules -> the predicted answers; pure.
        asks: does it to a real broker, and yields what it answers.
        configs: of the topic.
        spoils_broker: on some releases the broker is of no use afterwards, so it is not used again on any.
    """

    lines: tuple[str, ...]
    expects: Callable[[RuleSet], tuple[QuestionAnswer, ...]]
    asks: Callable[[PuppetRun, PuppetTopic], Iterator[QuestionAnswer]]
    configs: Mapping[str, str] = field(default_factory=dict)
    spoils_broker: bool = False

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return self.lines

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Predict every answer."""
        return self.expects(rules)

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Ask the real broker among puppets, about a topic of its own.

        Raises:
            PuppetError: the broker does not answer, or a puppet could not.
        """
        with puppets_of(context, spoils_broker=self.spoils_broker) as run:
            yield from self.play(run, slug(context.run.path.name))

    def play(self, run: PuppetRun, name: str) -> Iterator[QuestionAnswer]:
        """Ask a real broker, and yield each answer as soon as it is measured.

        Args:
            run: the broker and its puppets.
            name: of a topic that the broker has not had.
        """
        topic = run.create_topic(name, REPLICAS, self.configs)
        yield from self.asks(run, topic)
        if not self.spoils_broker:
            run.controller.stop_replica(topic, is_deleted=True)
