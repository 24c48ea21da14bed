"""What is an examination with puppets about? A script, played to the model's broker and to a real one."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.puppet_scripts.modelled_broker import REAL, ModelledBroker
from conformance.puppet_scripts.puppet_topic import PuppetStage
from conformance.record.directory import slug
from conformance.stages.evidence import keep_broker_files
from fault_injection.puppets.connection import PuppetError
from fault_injection.puppets.run import PuppetRun
from oracle.log import ModelRecord, ReplicaLog
from oracle.rules.by_version import rules_for
from oracle.vocabulary import Label, LeaderEpoch, MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from conformance.catalogue.questions import Expected
    from conformance.examining.context import ExaminationContext
    from conformance.puppet_scripts.acts import Act
    from fault_injection.puppets.served_topics import PuppetTopic
    from oracle.rules.rule_set import RuleSet


@dataclass(frozen=True, slots=True)
class PuppetScript:
    """Acts on one partition of three replicas, of which broker 1's is real.

    Attributes:
        acts: in order.
        min_insync_replicas: of the topic.
    """

    acts: tuple[Act, ...]
    min_insync_replicas: int = 1

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return tuple(act.text for act in self.acts)

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Play the script to the model's broker."""
        return tuple(answer for n, facts in enumerate(self._predicted(rules), 1) for answer in self._asked(n, facts))

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Play the script to the real broker among puppets, on a topic of its own.

        Raises:
            PuppetError: the broker does not answer, or a puppet could not.
        """
        topic = slug(context.run.path.name)
        with puppets_of(context) as run:
            try:
                yield from self.play(run, topic)
            finally:
                keep_broker_files(context.run, run.cluster, topic, (REAL,))

    def play(self, run: PuppetRun, topic: str, rules: RuleSet | None = None) -> Iterator[QuestionAnswer]:
        """Play the script to a real broker and yield each answer as soon as it is measured.

        Args:
            run: the broker and its puppets.
            topic: a name that no other script of this broker has.
            rules: by which its puppets answer, and that say what is worth waiting for; those of the broker's release
                unless others are given.
        """
        rules = rules or rules_for(run.cluster.spec.release.version, MetadataMode.ZOOKEEPER)
        with closing(PuppetStage(run, topic, rules, self.min_insync_replicas)) as stage:
            for n, (act, expected) in enumerate(zip(self.acts, self._predicted(rules), strict=True), 1):
                yield from self._asked(n, act.measure(stage, expected))

    def _predicted(self, rules: RuleSet) -> list[Mapping[str, Expected]]:
        model = ModelledBroker(rules, self.min_insync_replicas)
        return [act.predict(model) for act in self.acts]

    def _asked(self, number: int, facts: Mapping[str, Expected]) -> Iterator[QuestionAnswer]:
        for fact, value in facts.items():
            yield QuestionAnswer(f"{number}. {self.acts[number - 1].text}: {fact}", value)


# Which broker do the puppets surround? One for all examinations of a command, a child process always.

KEPT_AS = "puppets"


def puppet_run(context: ExaminationContext) -> PuppetRun:
    """Return the broker with puppets, started when it is first asked for and ended with the pool.

    Raises:
        ClusterError: it does not come up.
        PuppetError: the brokers run from an image.
    """
    if not context.jars.files:
        raise PuppetError("puppets need a broker that is a child process, and the brokers' image brings their jars")

    def start(directory: Path) -> PuppetRun:
        context.progress("starting one broker among puppets")
        return PuppetRun.start(context.release.version, directory, jars=context.jars)

    if context.cluster_pool.kept(KEPT_AS, start).failures:
        discard(context)  # a puppet failed when its examination was over: that is nothing to this one
    return context.cluster_pool.kept(KEPT_AS, start)


@contextmanager
def puppets_of(context: ExaminationContext, *, spoils_broker: bool = False) -> Iterator[PuppetRun]:
    """Have the broker with puppets for one examination; after one that failed nobody gets it any more.

    Args:
        context: where the examination is conducted.
        spoils_broker: the broker is of no use to anybody after it.

    Raises:
        PuppetError: one of the puppets could not answer the broker.
    """
    run = puppet_run(context)
    try:
        yield run
        _check_puppets(run)
    except Exception:
        discard(context)  # nobody knows what it is like now
        raise
    if spoils_broker:
        discard(context)


def _check_puppets(run: PuppetRun) -> None:
    """Hold an examination's puppets to account as long as it is known to be theirs.

    Raises:
        PuppetError: one of them could not answer the broker.
    """
    if run.failures:
        raise PuppetError(f"a puppet failed: {run.failures[-1]}")


def discard(context: ExaminationContext) -> None:
    """End the broker with puppets; the next examination gets another one."""
    context.cluster_pool.discard(KEPT_AS)


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
