"""Where is an examination conducted?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
        seed: the run's seed.
        progress: tells people what is being done.
    """

    laboratory: Laboratory
    spark: SparkRoom
    run: RunDirectory
    directory: Path
    seed: int
    progress: Callable[[str], None]

    @property
    def release(self) -> Release:
        """The release whose brokers are examined."""
        return self.laboratory.line.release

    @property
    def metadata(self) -> MetadataMode:
        """Who keeps the brokers' metadata."""
        return self.laboratory.line.metadata

    @property
    def rules(self) -> RuleSet:
        """The rules of that release in that mode."""
        return self.laboratory.line.rules

    @property
    def jars(self) -> JarSet:
        """The brokers' jars."""
        return self.laboratory.jars

    @property
    def backend(self) -> Backend:
        """What brokers are started with."""
        return self.laboratory.backend
