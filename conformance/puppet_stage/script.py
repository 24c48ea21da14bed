"""What is an examination with puppets about? A script, played to the model's broker and to a real one."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import Answer
from conformance.puppet_stage.modelled_broker import REAL, ModelledBroker
from conformance.puppet_stage.stage import Stage
from conformance.record.directory import slug
from conformance.stages.evidence import keep_broker_files
from fault_injection.puppets.connection import PuppetError
from fault_injection.puppets.run import PuppetRun
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from conformance.catalogue.questions import Expected
    from conformance.examining.room import Room
    from conformance.puppet_stage.acts import Act
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


# Which broker do the puppets of a room surround? One for all examinations of a command, a child process always.


KEPT_AS = "puppets"


def puppet_run(room: Room) -> PuppetRun:
    """Return the room's broker with puppets, started when it is first asked for and ended with the laboratory.

    Raises:
        ClusterError: it does not come up.
        PuppetError: the brokers run from an image.
    """
    if not room.jars.files:
        raise PuppetError("puppets need a broker that is a child process, and the brokers' image brings their jars")

    def start(directory: Path) -> PuppetRun:
        room.progress("starting one broker among puppets")
        return PuppetRun.start(room.release.version, directory, jars=room.jars)

    if room.laboratory.kept(KEPT_AS, start).failures:
        discard(room)  # a puppet failed when its examination was over: that is nothing to this one
    return room.laboratory.kept(KEPT_AS, start)


@contextmanager
def puppets_of(room: Room, *, spoils_broker: bool = False) -> Iterator[PuppetRun]:
    """Have the room's broker with puppets for one examination; after one that failed nobody gets it any more.

    Args:
        room: where the examination is conducted.
        spoils_broker: the broker is of no use to anybody after it.

    Raises:
        PuppetError: one of the puppets could not answer the broker.
    """
    run = puppet_run(room)
    try:
        yield run
        _check_puppets(run)
    except Exception:
        discard(room)  # nobody knows what it is like now
        raise
    if spoils_broker:
        discard(room)


def _check_puppets(run: PuppetRun) -> None:
    """Hold an examination's puppets to account as long as it is known to be theirs.

    Raises:
        PuppetError: one of them could not answer the broker.
    """
    if run.failures:
        raise PuppetError(f"a puppet failed: {run.failures[-1]}")


def discard(room: Room) -> None:
    """End the room's broker with puppets; the next examination gets another one."""
    room.laboratory.discard(KEPT_AS)
