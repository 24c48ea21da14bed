"""What is an examination with puppets about? A script, played to the model's broker and to a real one."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import Answer
from conformance.puppet_stage.modelled_broker import REAL, ModelledBroker
from conformance.puppet_stage.shared_broker import puppets_of
from conformance.puppet_stage.stage import Stage
from conformance.record.directory import slug
from conformance.stages.evidence import keep_broker_files
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.catalogue.questions import Expected
    from conformance.examining.room import Room
    from conformance.puppet_stage.acts import Act
    from fault_injection.puppets.run import PuppetRun
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

    def predict(self, rules: RuleSet) -> tuple[Answer, ...]:
        """Play the script to the model's broker."""
        return tuple(answer for n, facts in enumerate(self._predicted(rules), 1) for answer in self._asked(n, facts))

    def conduct(self, room: Room) -> Iterator[Answer]:
        """Play the script to the room's real broker, on a topic of its own.

        Raises:
            PuppetError: the broker does not answer, or a puppet could not.
        """
        topic = slug(room.run.path.name)
        with puppets_of(room) as run:
            try:
                yield from self.play(run, topic)
            finally:
                keep_broker_files(room.run, run.cluster, topic, (REAL,))

    def play(self, run: PuppetRun, topic: str, rules: RuleSet | None = None) -> Iterator[Answer]:
        """Play the script to a real broker and yield each answer as soon as it is measured.

        Args:
            run: the broker and its puppets.
            topic: a name that no other script of this broker has.
            rules: by which its puppets answer, and that say what is worth waiting for; those of the broker's release
                unless others are given.
        """
        rules = rules or rules_for(run.cluster.spec.release.version, MetadataMode.ZOOKEEPER)
        with closing(Stage(run, topic, rules, self.min_insync_replicas)) as stage:
            for n, (act, expected) in enumerate(zip(self.acts, self._predicted(rules), strict=True), 1):
                yield from self._asked(n, act.measure(stage, expected))

    def _predicted(self, rules: RuleSet) -> list[Mapping[str, Expected]]:
        model = ModelledBroker(rules, self.min_insync_replicas)
        return [act.predict(model) for act in self.acts]

    def _asked(self, number: int, facts: Mapping[str, Expected]) -> Iterator[Answer]:
        for fact, value in facts.items():
            yield Answer(f"{number}. {self.acts[number - 1].text}: {fact}", value)
