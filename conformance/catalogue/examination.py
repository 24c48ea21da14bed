"""What is an examination? A catalogue entry about answers and counts, where no record's fate is the point.

Its subject predicts every answer before the first broker starts, and then conducts the examination on real
brokers: a puppet that speaks to one, a count of connections, a request that must be refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

from conformance.catalogue.scenario import FULL, Scenario, requirements_among
from conformance.catalogue.where import EVERYWHERE, Where
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode as OracleMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.catalogue.questions import Answer
    from conformance.laboratory import Laboratory
    from conformance.record.directory import RunDirectory
    from conformance.spark_room import SparkRoom
    from fault_injection.cluster.backend import Backend
    from fault_injection.releases import JarSet, MetadataMode, Release
    from oracle.rules.rule_set import RuleSet


@dataclass(frozen=True, slots=True)
class Room:
    """Where an examination is conducted.

    Attributes:
        laboratory: keeps the cluster, gate and backend that the scenarios of one command share.
        spark: reconciles runs, for examinations of the reconciliation itself.
        run: the run's directory; what is worth keeping as evidence goes there.
        directory: an empty work directory, removed when the examination ends.
        kafka_home: the directory of a Kafka of the user's; None if the jars are a release's own.
        seed: the run's seed.
        progress: tells people what is being done.
    """

    laboratory: Laboratory
    spark: SparkRoom
    run: RunDirectory
    directory: Path
    kafka_home: Path | None
    seed: int
    progress: Callable[[str], None]

    @property
    def release(self) -> Release:
        """The release whose brokers are examined."""
        return self.laboratory.release

    @property
    def metadata(self) -> MetadataMode:
        """Who keeps the brokers' metadata."""
        return self.laboratory.metadata

    @property
    def rules(self) -> RuleSet:
        """The rules of that release in that mode."""
        return rules_for(self.release.version, OracleMode(self.metadata.value))

    @property
    def jars(self) -> JarSet:
        """The brokers' jars."""
        return self.laboratory.jars

    @property
    def backend(self) -> Backend:
        """What brokers are started with."""
        return self.laboratory.backend


class Basis(StrEnum):
    """Where the predicted answers of an entry come from."""

    PREDICTED = "predicted"
    """The model plays the entry by the release's rules."""
    COMPUTED = "computed"
    """A rule outside the model gives them, such as the hash that spreads partitions over fetchers."""
    DOCUMENTED = "documented"
    """They are written down from Kafka's documentation and source: the subject lies outside replication."""


class Subject(Protocol):
    """What an examination is about."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line, in prose."""

    def predict(self, rules: RuleSet) -> tuple[Answer, ...]:
        """Predict every answer; pure, called before any broker starts."""

    def conduct(self, room: Room) -> Iterator[Answer]:
        """Examine real brokers and yield each answer as soon as it is measured.

        A missing answer deviates; an exception is a failure of the tester, unless it is a ``NotSeenError``.
        """


@dataclass(frozen=True, slots=True)
class Examination:
    """A catalogue entry that asks brokers and compares their answers.

    Attributes:
        name: requirement id with its variant: what people select by.
        id: area and sentence, such as ``controller-requests/stale-epoch-is-refused``.
        requirement: what brokers must do, in one sentence that can be disputed.
        sources: requirement ids it proves, its own first; documents, KIPs and issues.
        explanation: what a reader should look for in the report.
        basis: where its predicted answers come from.
        where: the releases that have what is examined.
        variant: ``safe`` or ``unsafe`` for a pair that differs in its settings only, else None.
        profiles: ``quick`` and/or ``full``.
    """

    name: str
    id: str
    requirement: str
    sources: tuple[str, ...]
    explanation: str
    subject: Subject
    basis: Basis = Basis.PREDICTED
    where: Where = EVERYWHERE
    variant: str | None = None
    profiles: tuple[str, ...] = FULL

    def requirements(self) -> tuple[str, ...]:
        """Return the requirement ids among the sources."""
        return requirements_among(self.sources)


Entry: TypeAlias = Scenario | Examination
"""What the catalogue consists of."""


BASIS_WORDS = {
    Basis.PREDICTED: "predicted by the model",
    Basis.COMPUTED: "computed by a rule outside the model",
    Basis.DOCUMENTED: "documented, not modelled",
}
"""Where predictions come from, in words."""


def basis_of(entry: Entry) -> Basis:
    """Return where an entry's predictions come from: every schedule's from the model."""
    return entry.basis if isinstance(entry, Examination) else Basis.PREDICTED
